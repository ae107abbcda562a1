"""`spectral_fit`: least squares with noise that is stationary, of a free and smooth spectrum in each channel.

y = A phi + b + noise. Means over short times are taken first. The cosine transform of a stretch of them makes
stationary noise independent from bin to bin, with a variance that is its spectrum. The bins are divided into bands of
half an octave, of which only Gram matrices are kept. Unknowns and spectrum are estimated together by restricted
likelihood (expectation and maximisation). The logarithm of the spectrum has second differences of normal distribution,
whose width the evidence weighs (Laplace's approximation): white and 1/f noise are straight lines, and whatever else
lasts in the residuals is a spectrum, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from iparam.arrays import FloatArray

MEAN = 0.06
"""Time that means are taken over [s]: arms move loads at less than 8 Hz. Beyond it the regressors hold nothing but
errors of the angles, which a fit would escape with a lighter load."""

LONGEST_STRETCH = 8192
"""Means that are transformed at once: bounds the memory, and 8 minutes hold all that a spectrum tells."""

GAP = 3.0
"""Sampling intervals that end a stretch of samples, if they last longer than `MEAN`, too."""

FEWEST_MEANS = 24
"""Means below which noise has no spectrum to be seen."""

ENOUGH_MEANS = 100
"""Means that tell the spectrum well enough for intervals that hold."""

LEAST_BINS = 4
"""In a band."""

ROUGHNESS = (0.1, 0.5, 2.0)
"""Of the spectrum: standard deviations of the second difference of the logarithm of power, half an octave apart."""

GROUPS = (slice(0, 3), slice(3, 6))
"""Channels of one spectrum, once the correlations and sizes of all six are taken out: those of force, and those of
torque. A sensor that is turned, or elsewhere, has the same."""

ROUNDS, SETTLED = 40, 1e-3
"""Of expectation and maximisation at most, and change of the logarithms of power that ends it."""

REGULAR = 1e-14
"""Information before any data, as a share of the data's: a direction that they do not show stays finite."""


@dataclass(frozen=True, eq=False)
class Means:
    """Where the means are of samples: stretches of M means over so many samples each.

    Attributes:
        size: samples in a mean.
        stretches: (M,) the first sample of each mean, for each stretch.
        interval: time from one mean to the next [s].
    """

    size: int
    stretches: tuple[NDArray[np.intp], ...]
    interval: float

    @classmethod
    def of(cls, time: FloatArray) -> Means:
        """Of samples at times (N,) [s]."""
        step = float(np.median(np.diff(time)))
        size = max(1, int(MEAN / step + 0.01))
        edges = np.flatnonzero(np.diff(time) > max(GAP * step, MEAN)) + 1
        found = []
        for part in np.split(np.arange(time.size), edges):
            starts = part[: part.size // size * size : size]
            found += [one for one in np.array_split(starts, -(-starts.size // LONGEST_STRETCH) or 1) if one.size > 1]
        return cls(size, tuple(found), size * step)

    @property
    def count(self) -> int:
        """How many means there are."""
        return sum(len(one) for one in self.stretches)

    def each(self, values: FloatArray) -> Iterator[FloatArray]:
        """Means (M, ...) of values (N, ...), a stretch at a time."""
        for starts in self.stretches:
            whole = values[starts[0] : starts[-1] + self.size]
            yield whole.reshape(len(starts), self.size, *values.shape[1:]).mean(axis=1)

    def all(self, values: FloatArray) -> FloatArray:
        """(M, ...) means of values (N, ...), of all stretches."""
        return np.concatenate(list(self.each(values)))


@dataclass(frozen=True, eq=False)
class Bands:
    """What the data say in each band of frequencies.

    Attributes:
        grams: (B, 6, k, k) products of the transformed columns; the last column is the wrench.
        counts: (B,) bins in each band.
        edges: (B,) the lowest frequency of each band, as a share of the highest of all.
    """

    grams: FloatArray
    counts: FloatArray
    edges: FloatArray

    @classmethod
    def of(cls, stretches: list[FloatArray]) -> Bands:
        """Of stretches of rows (M, 6, k) that are means at equal intervals."""
        edges = _edges(np.concatenate([np.arange(len(rows)) / len(rows) for rows in stretches]))
        size = stretches[0].shape[2]
        grams, counts = np.zeros((len(edges), 6, size, size)), np.zeros(len(edges))
        for rows in stretches:
            turned = dct(rows, axis=0, norm="ortho").transpose(1, 0, 2)
            first = np.searchsorted(np.arange(len(rows)) / len(rows), edges)
            for band, (start, stop) in enumerate(zip(first, [*first[1:], len(rows)], strict=True)):
                part = turned[:, start:stop]
                grams[band] += np.swapaxes(part, 1, 2) @ part
                counts[band] += stop - start
        return cls(grams, counts, edges)

    def of_columns(self, chosen: list[int]) -> Bands:
        """The same for some of the columns."""
        return Bands(self.grams[:, :, chosen][:, :, :, chosen], self.counts, self.edges)

    def whitened(self, values: FloatArray, levels: FloatArray) -> FloatArray:
        """(N, 6) transformed values (N, 6) of one stretch, in units of the noise of their bands (B, 6)."""
        band = np.searchsorted(self.edges, np.arange(len(values)) / len(values), "right") - 1
        return np.asarray(dct(values, axis=0, norm="ortho") * np.exp(-0.5 * levels[band]))


def _edges(places: FloatArray) -> FloatArray:
    """Lower edges of bands of half an octave below 1, each with enough of the places (n,) of bins, from 0 to 1."""
    places = np.sort(places)
    lowest, edges = places[places > 0.0].min(initial=1.0), [0.0]
    for edge in 2.0 ** np.arange(0.5 * np.ceil(2.0 * np.log2(lowest)), 0.0, 0.5):
        own = np.searchsorted(places, [edges[-1], edge])
        if own[1] - own[0] >= LEAST_BINS and places.size - own[1] >= LEAST_BINS:
            edges.append(float(edge))
    return np.array(edges)


@dataclass(frozen=True, eq=False)
class SpectralFit:
    """Unknowns, with the noise that was estimated along.

    Attributes:
        solution: (p,) the unknowns.
        information: (p, p) of the data and of what was known before.
        levels: (B, 6) logarithms of the noise's power in a bin of each band.
        in_white_noise: (p,) what the unknowns would be in white noise of as much power.
    """

    solution: FloatArray
    information: FloatArray
    levels: FloatArray
    in_white_noise: FloatArray

    @property
    def covariance(self) -> FloatArray:
        """(p, p) of the unknowns."""
        return _inverse(self.information)


def spectral_fit(bands: Bands, precision: FloatArray, floor: FloatArray) -> SpectralFit:
    """Unknowns and spectrum of the noise.

    Args:
        bands: of the design's columns and the wrench.
        precision: (p,) of the unknowns before any data, about 0.
        floor: (6,) standard deviation of a mean that is as good as none.
    """
    grams, counts = bands.grams, bands.counts
    least = 2.0 * np.log(np.repeat(floor.reshape(2, 3).max(axis=1), 3))
    total = np.maximum(grams[:, :, -1, -1].sum(axis=0) / counts.sum(), floor**2)
    levels = np.broadcast_to(np.log(np.repeat(total.reshape(2, 3).mean(axis=1), 3)), grams.shape[:2])
    shapes, evidences = [], []
    for roughness in ROUGHNESS:
        solution, information = _solved(grams, levels, precision)
        for _ in range(ROUNDS):
            before = levels
            levels, term = _spectrum(_expected_power(grams, solution, _inverse(information)), counts, roughness)
            levels = np.maximum(levels, least)
            solution, information = _solved(grams, levels, precision)
            if np.abs(levels - before).max() < SETTLED:
                break
        ends = np.append(-solution, 1.0)
        squares = np.einsum("i,bcij,j,bc->", ends, grams, ends, np.exp(-levels)) + solution @ (precision * solution)
        volume = np.linalg.slogdet(_inverse(information))[1]
        shapes.append(levels)
        evidences.append(term + 0.5 * (volume - squares - counts @ levels.sum(axis=1)))
    weights = np.exp(np.array(evidences) - max(evidences))
    levels = np.tensordot(weights / weights.sum(), np.array(shapes), 1)
    level = np.log(counts @ np.exp(levels) / counts.sum())
    in_white_noise = _solved(grams, np.broadcast_to(level, levels.shape), precision)[0]
    return SpectralFit(*_solved(grams, levels, precision), levels, in_white_noise)


def _solved(grams: FloatArray, levels: FloatArray, precision: FloatArray) -> tuple[FloatArray, FloatArray]:
    whole = np.einsum("bc,bcij->ij", np.exp(-levels), grams)
    information = whole[:-1, :-1] + np.diag(precision)
    unit = _units(information)
    solution = np.linalg.solve(_regular(information, unit), unit * whole[:-1, -1])
    return np.asarray(unit * solution), np.asarray(information)


def _inverse(information: FloatArray) -> FloatArray:
    unit = _units(information)
    return np.asarray(np.linalg.inv(_regular(information, unit)) * np.outer(unit, unit))


def _units(information: FloatArray) -> FloatArray:
    """(p,) in which the unknowns are of the size that the data show."""
    size = np.diag(information)
    return np.asarray(1.0 / np.sqrt(np.where(size > 0.0, size, 1.0)))


def _regular(information: FloatArray, unit: FloatArray) -> FloatArray:
    """(p, p) information in these units, with what keeps a direction finite that no data show."""
    return np.asarray(information * np.outer(unit, unit) + REGULAR * np.eye(unit.size))


def _expected_power(grams: FloatArray, solution: FloatArray, covariance: FloatArray) -> FloatArray:
    """(B, 6) squares of the noise that are expected: the residuals', and what the fit took for itself."""
    ends = np.append(-solution, 1.0)
    about = np.outer(ends, ends)
    about[:-1, :-1] += covariance
    return np.asarray(np.maximum(np.tensordot(grams, about, 2), 1e-300))


def _spectrum(power: FloatArray, counts: FloatArray, roughness: float) -> tuple[FloatArray, float]:
    """Logarithms (B, 6) of the power of a bin, and what their shapes add to the evidence."""
    bend = np.diff(np.eye(len(counts)), n=2, axis=0) / roughness
    levels, evidence, prior = np.empty_like(power), 0.0, bend.T @ bend
    for group in GROUPS:
        own, number = power[:, group].sum(axis=1), 3.0 * counts
        level = np.full(len(counts), np.log(own.sum() / number.sum()))
        for _ in range(ROUNDS):
            ratio = own * np.exp(-level)
            curvature = 0.5 * np.diag(np.maximum(ratio, number)) + prior
            change = np.linalg.solve(curvature, 0.5 * (number - ratio) + prior @ level)
            level = level - change
            if np.abs(change).max() < 0.1 * SETTLED:
                break
        levels[:, group] = level[:, None]
        determinant = np.linalg.slogdet(0.5 * np.diag(number) + prior)[1]
        evidence -= 0.5 * (level @ prior @ level + determinant) + len(bend) * np.log(roughness)
    return levels, float(evidence)
