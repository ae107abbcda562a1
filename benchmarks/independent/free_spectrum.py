"""What one linear model reaches: load, bias and tolerances as unknowns with priors, and noise of a free spectrum.

y = A phi + bias + C deviations + noise, with C the derivatives by what is off within the tolerances, and noise that is
stationary in each channel. The cosine transform makes such noise independent from bin to bin, with a variance that is
its spectrum. The bins are divided into bands of half an octave, of which only Gram matrices are kept. Unknowns and
spectrum are estimated together by restricted likelihood (expectation and maximisation); the logarithm of the spectrum
has a second difference of normal distribution, whose width the evidence chooses (Laplace's approximation): white and
1/f noise are straight lines. Nothing is widened, tested or left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.fft import dct
from scipy.spatial.transform import Rotation

from independent.cases import Case
from independent.references import Reference, stated_motion
from independent.rig import TOLERANCES
from independent.rigid_body import flange_motion, load_rows

WIDE = np.repeat([100.0, 100.0, 100.0, 1e3, 1e2], [1, 3, 6, 3, 3]) ** -2.0
"""Precision of load and bias before any data [kg, kg m, kg m^2, N, N m]: for directions that these do not show."""

BLOCK = 0.06
"""Time that means are taken over first [s]: arms move loads at less than 8 Hz. Beyond it the regressors hold nothing
but errors of the angles, which a fit would escape with a lighter load."""

LEAST_BINS = 4
"""In a band."""

ROUGHNESS = (0.1, 0.5, 2.0)
"""Of the spectrum: standard deviations of the second difference of the logarithm of power, half an octave apart."""

GROUPS = (slice(0, 3), slice(3, 6))
"""Channels whose spectra have one shape, and a level each."""


def free_spectrum(case: Case) -> Reference:
    """From the recording and the tolerances that are stated; nothing of the truth."""
    q, wrench = case.recorded
    motion, gravity = stated_motion(case, case.stamps, q), np.array(case.rig.arm.gravity)
    A = load_rows(flange_motion(case.rig.arm, *motion), gravity)
    known = np.concatenate([A, np.broadcast_to(np.eye(6), (len(A), 6, 6))], axis=2)
    solution, covariance = fitted(case.stamps, known, wrench, WIDE)
    for _ in range(2):
        columns = list(deviations(case, motion, A, solution[:10]))
        if not columns:
            break
        design = np.concatenate([known, np.stack([each for each, _ in columns], axis=2)], axis=2)
        precision = np.concatenate([WIDE, [sd**-2.0 for _, sd in columns]])
        solution, covariance = fitted(case.stamps, design, wrench, precision)
    return Reference.of(solution[:10], covariance[:10, :10])


def deviations(
    case: Case, motion: tuple[np.ndarray, ...], A: np.ndarray, phi: np.ndarray
) -> Iterator[tuple[np.ndarray, float]]:
    """What each of the rig's deviations adds to the wrench (T, 6) of a load, and its standard deviation."""
    sizes, arm, load = TOLERANCES[case.preset], case.rig.arm, A @ phi
    gravity, step = np.array(arm.gravity), 1e-5
    if not any(sizes.values()):
        return
    for axis in np.eye(3):
        yield np.concatenate([np.zeros((len(A), 3)), np.cross(load[:, :3], axis)], axis=1), sizes["place"]
        turned = [np.cross(load[:, part], axis) for part in GROUPS]
        yield np.concatenate(turned, axis=1), sizes["turn"]
    yield load, sizes["gain"]
    for channel in np.eye(6):
        yield load * channel, sizes["channel gain"]
    for axis in np.eye(3)[:2]:
        tilted = Rotation.from_rotvec(step * axis).as_matrix() @ gravity
        yield (load_rows(flange_motion(arm, *motion), tilted) @ phi - load) / step, sizes["base"]
    q, dq, ddq = motion
    for joint in np.eye(q.shape[1]):
        off = load_rows(flange_motion(arm, q + step * joint, dq, ddq), gravity) @ phi
        yield (off - load) / step, sizes["zero"]
    yield np.gradient(load, case.stamps, axis=0), sizes["delay"]


def fitted(time: np.ndarray, design: np.ndarray, y: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unknowns (p,) and their covariance, from columns (T, 6, p) and wrenches (T, 6), with the priors' precision."""
    grams, counts = band_grams(time, np.concatenate([design, y[:, :, None]], axis=2))
    levels = np.broadcast_to(np.log(grams[:, :, -1, -1].sum(axis=0) / counts.sum()), grams.shape[:2])
    best = (-np.inf, np.zeros(0), np.zeros((0, 0)))
    for roughness in ROUGHNESS:
        for _ in range(40):
            solution, covariance = solved(grams, levels, precision)
            before, (levels, term) = levels, spectrum(expected_power(grams, solution, covariance), counts, roughness)
            if np.abs(levels - before).max() < 1e-3:
                break
        solution, covariance = solved(grams, levels, precision)
        ends = np.append(-solution, 1.0)
        squares = np.einsum("i,bcij,j,bc->", ends, grams, ends, np.exp(-levels)) + solution @ (precision * solution)
        evidence = term + 0.5 * (np.linalg.slogdet(covariance)[1] - squares - counts @ levels.sum(axis=1))
        if evidence > best[0]:
            best = (float(evidence), solution, covariance)
    return best[1], best[2]


def band_grams(time: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(B, 6, k, k) products of the transformed columns (T, 6, k) in each band, and (B,) how many bins it has."""
    size = max(1, int(BLOCK * (len(time) - 1) / (time[-1] - time[0]) + 0.01))
    count = len(rows) // size
    means = rows[: count * size].reshape(count, size, *rows.shape[1:]).mean(axis=1)
    found, edges = dct(means, axis=0, norm="ortho"), [0]
    for edge in count * 2.0 ** np.arange(-0.5 * np.floor(2.0 * np.log2(count)), 0.0, 0.5):
        if edge - edges[-1] >= LEAST_BINS and count - edge >= LEAST_BINS:
            edges.append(int(edge))
    bands = np.split(found.transpose(1, 0, 2), edges[1:], axis=1)
    return np.array([np.swapaxes(each, 1, 2) @ each for each in bands]), np.diff(edges, append=count).astype(float)


def solved(grams: np.ndarray, levels: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    whole = np.einsum("bc,bcij->ij", np.exp(-levels), grams)
    information = whole[:-1, :-1] + np.diag(precision)
    unit = 1.0 / np.sqrt(np.diag(information))
    covariance = np.linalg.inv(information * np.outer(unit, unit)) * np.outer(unit, unit)
    return covariance @ whole[:-1, -1], covariance


def expected_power(grams: np.ndarray, solution: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """(B, 6) squares of the noise that are expected: the residuals', and what the fit took for itself."""
    ends = np.append(-solution, 1.0)
    about = np.outer(ends, ends)
    about[:-1, :-1] += covariance
    return np.maximum(np.einsum("bcij,ij->bc", grams, about), 1e-300)


def spectrum(power: np.ndarray, counts: np.ndarray, roughness: float) -> tuple[np.ndarray, float]:
    """Logarithms (B, 6) of the power of a bin, and what their shapes add to the evidence."""
    bend = np.diff(np.eye(len(counts)), n=2, axis=0) / roughness
    levels, evidence, prior = np.empty_like(power), 0.0, bend.T @ bend
    for group in GROUPS:
        own, shape, channels = power[:, group], np.zeros(len(counts)), 3
        for _ in range(40):
            level = np.log((own * np.exp(-shape)[:, None]).sum(axis=0) / counts.sum())
            ratio = (own * np.exp(-level)).sum(axis=1) * np.exp(-shape)
            curvature = 0.5 * np.diag(np.maximum(ratio, channels * counts)) + prior
            change = np.linalg.solve(curvature, 0.5 * (channels * counts - ratio) + prior @ shape)
            shape = shape - change
            if np.abs(change).max() < 1e-4:
                break
        levels[:, group] = shape[:, None] + np.log((own * np.exp(-shape)[:, None]).sum(axis=0) / counts.sum())
        determinant = np.linalg.slogdet(0.5 * channels * np.diag(counts) + prior)[1]
        evidence -= 0.5 * (shape @ prior @ shape + determinant) + len(bend) * np.log(roughness)
    return levels, float(evidence)
