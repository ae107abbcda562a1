"""Whether data contradict a shape, what of them does, and what would explain it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation.shape.posterior.box_model import MARGIN
from iparam.estimation.shape.posterior.placement import SURELY
from iparam.estimation.shape.posterior.prior import SURFACES
from iparam.estimation.shape.posterior.rows import DataRows
from iparam.estimation.shape.posterior.shape_posterior import (
    WRONG,
    ShapePosterior,
    best_densities,
    log_evidence,
)
from iparam.estimation.shape.posterior.summary import MOST_LEFT
from iparam.estimation.shape.shape import LEAST_DENSITY, LEAST_EXTENT, MOST_DENSITY, MOST_EXTENT, Shape, part_phi
from iparam.rounding import NORMAL_95
from iparam.spatial.derived import derived_covariance, mass_com_inertia
from iparam.spatial.transforms import exp_so3, rpy_from_rotation

LIKELIER = 10.0
"""Logarithm of the ratio of probabilities, twenty thousand to one, from which another shape, or uneven parts, are held
to be the truth: some fourteen shapes and thirty spreads are compared, and a right shape must not be suspected."""

AS_LIKELY = 3.0
"""The same, twenty to one, up to which another explanation is as good as the best, and is named beside it."""

DOUBTED = 0.0
"""The same, from which on a stated density is left open: as soon as the data are more likely without it. A right one
makes them some twenty to a thousand times more likely, because it leaves so much less open."""

SCALES = (2.0 / 3.0, 5.0 / 6.0, 1.2, 1.5)
"""Wrong scales that are tried."""

FAR_SCALES = (0.1, 0.5, 2.0, 10.0)
"""Further ones, for what is known to be wrong."""

USUAL_DENSITY = 2700.0
"""Of aluminium [kg/m^3]."""

SAME = 0.05
"""Share by which a density is off that nobody would correct."""

EXACTLY = 100.0
"""How much more closely a mass is met than other parameters."""

MATERIALS = "If it is of several materials, each needs a body of its own in the file."

CAVITY = "A hollow part has its cavity in the file, as a surface that faces inward."

ELSEWHERE = 0.02
"""Standard deviation of how far the middle of a shape is from its centre of mass [m]."""

SEEN = 0.99
"""Share of a parameter in the directions that data show from which on they tell it by themselves."""

NOTABLE = 0.01
"""Difference that a reader cares about: of the mass, of a length of 100 mm, and of the inertia that both make."""

UNEVEN = (
    "Hollow or uneven parts would explain that, or surfaces that are off by more than the tolerance: the intervals "
    "hold both. Another shape would, too, which they need not hold: is it the right file, in the right place and unit?"
)

RIGHT_FILE = "Is it the right file, in the right place (--shape-pose) and unit (--shape-scale)?"

_NAMES = (
    "a mass",
    *(f"a centre of mass along {axis}" for axis in "xyz"),
    *(f"an inertia {entry}" for entry in ("xx", "xy", "xz", "yy", "yz", "zz")),
)
_UNITS = ((1.0, "kg"), *[(1e3, "mm")] * 3, *[(1.0, "kg m^2")] * 6)
_SCALE = np.array([1.0, *[0.1] * 3, *[0.01] * 6])  # of a load of 1 kg, so that units do not decide


def believed_densities(shape: Shape, data: DataRows, mass: float) -> tuple[Shape, str]:
    """The shape without stated densities that the data speak against, and a sentence that says so; "" if they do not.

    Args:
        shape: that was given.
        data: to be explained.
        mass: about what the load has [kg].
    """
    if not any(part.density is not None for part in shape.parts):
        return shape, ""
    own, likelier, found, words = log_evidence(shape, data, mass), DOUBTED, shape, ""
    for told, other in _other_densities(shape, data, mass):
        if (gain := log_evidence(other, data, mass) - own) > likelier:
            likelier, found, words = gain, other, told
    if not words:
        return shape, ""
    return found, f"The data contradict a stated density: the shape explains them better {words}. It was left open."


def contradiction(shape: Shape, data: DataRows, mass: float, found: ShapePosterior, *, telling: bool) -> str:
    """What the data say against the shape, and what would explain it, in a few sentences; "" if they do not.

    They do if no load of the shape explains them; if they are more likely with surfaces that are off by far more than
    the tolerance; or, where they tell the inertia, if they are far more likely with the shape mirrored or scaled.
    Hollow and uneven parts are no contradiction.

    Args:
        shape: that was given, see `believed_densities`.
        data: to be explained.
        mass: about what the load has [kg].
        found: what both say together.
        telling: whether the data tell much of the inertia by themselves.
    """
    if against := _impossible_density(shape, mass, found):
        return against
    if shape.vague:
        return _against_box(shape, data, found)
    wrong = found.wrong > WRONG or found.left > MOST_LEFT
    if not (wrong or telling):
        return ""
    own = log_evidence(shape, data, mass)
    likelier = _gains(list(_deformed(shape)), data, mass, own)
    if not (wrong or likelier):
        return ""
    if not shape.movable:  # another place can look like uneven parts, so it is no reason by itself
        likelier |= _gains([_elsewhere(shape, data), *_turned(shape), *_far_scaled(shape)], data, mass, own)
    hint = f"It would explain them far better {', or '.join(_best(likelier))}; or it is another file."
    said = f"{_shape_difference(shape, data)} {hint if likelier else RIGHT_FILE}"
    further = [CAVITY] if "hollow" in said else []
    return " ".join([said, *further, *([MATERIALS] if len(shape.parts) == 1 else [])])


def unevenness(shape: Shape, data: DataRows, found: ShapePosterior) -> str:
    """A sentence if the data are far less likely with solid parts in their places than with uneven ones; else ""."""
    if found.unlikely <= LIKELIER:
        return ""
    return " ".join([_shape_difference(shape, data), UNEVEN, *([MATERIALS] if len(shape.parts) == 1 else [])])


def _shape_difference(shape: Shape, data: DataRows) -> str:
    shown = _shown_by(data)
    load = "the shape, of solid parts with the densities that fit best,"
    return _difference(shown, _solid_parts(shape, shown), "shape", load)


@dataclass(frozen=True, eq=False)
class _Shown:
    """What data tell of phi by themselves: (10,) which of it, its values, and (10, 10) their covariance."""

    seen: NDArray[np.bool_]
    phi: FloatArray
    covariance: FloatArray


def _shown_by(data: DataRows) -> _Shown:
    _, values, right = np.linalg.svd(data.rows * _SCALE, full_matrices=False)
    seen = np.sum(right[values > 1e-9 * values[0]] ** 2, axis=0) > SEEN
    inverse = _SCALE[:, None] * np.linalg.pinv(data.rows * _SCALE, rcond=1e-9)
    covariance = np.where(np.outer(seen, seen), inverse @ inverse.T, 0.0)
    unknown = np.diag(np.where(seen, 0.0, 1e6 * _SCALE**2))
    return _Shown(seen, inverse @ data.values, covariance + unknown)


def _solid_parts(shape: Shape, shown: _Shown) -> FloatArray:
    """(10,) phi of parts of one density each, within what is given of it, that comes nearest to what is shown."""
    columns = np.column_stack([part_phi(part) for part in shape.parts])
    size = columns[0]  # of a part's volume, so that all unknowns are masses
    bounds = np.array([(0.0, np.inf) if part.density is None else part.density for part in shape.parts]).T * size
    bounds[1] = np.maximum(bounds[1], bounds[0] * (1.0 + 1e-9))
    weight = shown.seen / np.sqrt(np.diag(shown.covariance) + (NOTABLE * shown.phi[0] * _SCALE) ** 2)
    weight[0] *= EXACTLY  # densities that nobody gave can have any mass
    masses = lsq_linear(weight[:, None] * columns / size, weight * np.where(shown.seen, shown.phi, 0.0), bounds).x
    return np.asarray((columns / size) @ masses)


def _difference(shown: _Shown, nearest: FloatArray, what: str, load: str) -> str:
    """What the data show that is farthest from phi (10,) of what comes nearest in a shape or box."""
    own = np.where(shown.seen, shown.phi, nearest * (shown.phi[0] / nearest[0]))
    values, possible = mass_com_inertia(own), mass_com_inertia(nearest)
    unit = _SCALE * np.array([shown.phi[0], 1.0, 1.0, 1.0, *[shown.phi[0]] * 6])
    variance = np.maximum(np.diag(derived_covariance(own, shown.covariance)), 0.0) + (NOTABLE * unit) ** 2
    share = np.abs(values - possible) / np.sqrt(variance)
    if what == "box":
        share[0] = 0.0  # which can hold any mass
    index = int(np.argmax(share))
    factor, name = _UNITS[index]
    here, there = (factor * (0.0 if abs(one) < 1e-9 * unit[index] else one) for one in (values[index], possible[index]))
    return (
        f"The data contradict the {what}: they show {_NAMES[index]} of {here:.4g} {name}, and {load} has {there:.4g} "
        f"{name}."
    )


def _impossible_density(shape: Shape, mass: float, found: ShapePosterior) -> str:
    """A sentence if no material is as dense as the load would have to be, or as light; else ""."""
    mean = mass / shape.volume
    if shape.vague:
        if mean <= MOST_DENSITY:
            return ""
        return (
            f"The data contradict the box: with their mass it would have {mean:.3g} kg/m^3 all over, and no material "
            f"has more than {MOST_DENSITY:g}. Its edges are in metres."
        )
    if not shape.metric:
        return ""
    densest = found.densities[:, 0] - NORMAL_95 * found.densities[:, 1]
    part = int(np.argmax(densest))
    if LEAST_DENSITY <= mean <= MOST_DENSITY and densest[part] <= MOST_DENSITY:
        return ""
    density, of = (mean, "it") if not LEAST_DENSITY <= mean <= MOST_DENSITY else (densest[part], shape.parts[part].name)
    factor = (density / USUAL_DENSITY) ** (1.0 / 3.0)
    return (
        f"The data contradict the shape: with their mass, {mass:.4g} kg, {of} would have {density:.3g} kg/m^3, and "
        f"materials have {LEAST_DENSITY:g} to {MOST_DENSITY:g}. It would be as dense as aluminium if it were "
        f"{factor:.2g} times as long: is its unit another one (--shape-scale)? Or it is another file, or an outline of "
        "something that is mostly empty."
    )


def _against_box(shape: Shape, data: DataRows, found: ShapePosterior) -> str:
    if found.left <= MOST_LEFT:
        return ""
    edges, middle = shape.bounds
    sides = zip(1e3 * (middle - edges / 2), 1e3 * (middle + edges / 2), strict=True)
    there = ", ".join(f"{low:.0f} to {high:.0f}" for low, high in sides)
    against, margin = (
        _difference(_shown_by(data), found.best, "box", "what comes nearest in it"),
        MARGIN * shape.tolerance,
    )
    return (
        f"{against} Does it hold all of the load? In the tool frame it reaches from {there} mm (x, y, z), give or take "
        f"{1e3 * margin:.2g}."
    )


def _gains(others: list[tuple[str, Shape]], data: DataRows, mass: float, own: float) -> dict[str, float]:
    """By how much other shapes explain the data better, logarithms, by their words: those that do so by far."""
    found = {}
    for words, other in others:
        try:
            gain = log_evidence(other, data, mass) - own
        except IparamError:
            continue
        if gain > LIKELIER:
            found[words] = gain
    return found


def _best(gains: dict[str, float]) -> list[str]:
    """The words of the best explanations, two at most, of those that are as likely as any."""
    least = max(gains.values(), default=0.0) - AS_LIKELY
    likeliest = [words for words, gain in sorted(gains.items(), key=lambda one: -one[1]) if gain > least]
    # Of several scales or turns the likeliest is enough: what is wrong is the scale, or the turn.
    kinds = {words.split(" by ")[0]: words for words in reversed(likeliest)}
    return [words for words in likeliest if kinds[words.split(" by ")[0]] == words][:2]


def _other_densities(shape: Shape, data: DataRows, mass: float) -> Iterator[tuple[str, Shape]]:
    """The shape with a density left open that was given, each by itself and all of them, and the words for it."""
    given = [part for part in shape.parts if part.density is not None]
    for names in [{part.name} for part in given] + ([{part.name for part in given}] if len(given) > 1 else []):
        opened = [dataclasses.replace(part, density=None) if part.name in names else part for part in shape.parts]
        other = dataclasses.replace(shape, parts=tuple(opened))
        densities = best_densities(other, data, mass)
        off = [
            f"{part.name} ({_number(density)} kg/m^3, not {_range(part.density)})"
            for part, density in zip(shape.parts, densities, strict=True)
            if part.name in names and part.density is not None and not _within(density, part.density)
        ]
        if off:
            yield f"with another mean density (--density; less where it is hollow) of {', '.join(off)}", other
        else:
            yield f"with a density that varies within {', '.join(sorted(names))}, as where it is hollow", other


def _within(density: float, given: tuple[float, float]) -> bool:
    return given[0] / (1.0 + SAME) <= density <= given[1] * (1.0 + SAME)


def _range(density: tuple[float, float]) -> str:
    least, most = map(_number, density)
    return least if least == most else f"{least} to {most}"


def _number(density: float) -> str:
    return f"{density:.0f}" if density >= 100.0 else f"{density:.3g}"


def _deformed(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Shapes that people take for one another, and the words for each."""
    if shape.movable:  # mirrors and scales look like turns that were not tried
        if shape.turn_deviation <= SURELY:
            words = "with surfaces that are off by far more than the tolerance (is it the right file?)"
            yield words, dataclasses.replace(shape, tolerance=SURFACES[-1][0] * shape.tolerance)
        return
    middle = shape.bounds[1]
    for axis in range(3):
        turn = np.ones(3)
        turn[axis] = -1.0
        for about, where in ((middle, "in its place"), (np.zeros(3), "about the frame's origin")):
            yield f"mirrored along {'xyz'[axis]} {where}", shape.deformed(_map(np.diag(turn), about))
    for scale in _possible(shape, SCALES):
        for about, where in ((np.zeros(3), "about its origin"), (middle, "in its place")):
            yield _scaled(shape, scale, about, where)


def _scaled(shape: Shape, scale: float, about: FloatArray, where: str) -> tuple[str, Shape]:
    words = f"scaled by {scale:.3g} {where} (--shape-scale)"
    if where == "in its place":  # which second moments do not tell from another filling
        words += ", or hollow" if scale > 1.0 else ", or with a heavy core, a part of its own in the file"
    return words, shape.deformed(_map(scale * np.eye(3), about))


def _far_scaled(shape: Shape) -> Iterator[tuple[str, Shape]]:
    for scale in _possible(shape, FAR_SCALES):
        yield _scaled(shape, scale, np.zeros(3), "about its origin")


def _possible(shape: Shape, scales: Iterable[float]) -> list[float]:
    """Those by which it is still something that an arm carries."""
    longest = float(shape.bounds[0].max())
    return [scale for scale in scales if LEAST_EXTENT <= scale * longest <= MOST_EXTENT]


def _turned(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """The shape turned in its place, and the words for it."""
    middle = shape.bounds[1]
    for axis, angle in product(range(3), (90.0, 180.0, 270.0)):
        turn = _map(exp_so3(np.radians(angle) * np.eye(3)[axis]), middle)
        words = f"turned by {angle:.0f} deg about {'xyz'[axis]} in its place ({_typed(turn @ shape.pose)})"
        yield words, shape.deformed(turn)


def _typed(pose: FloatArray) -> str:
    """A pose (4, 4) as it is typed, to 0.1 mm and 0.1 deg."""
    numbers = [*np.round(pose[:3, 3], 4), *np.round(np.degrees(rpy_from_rotation(pose[:3, :3])), 1)]
    return f"--shape-pose {' '.join(f'{number + 0.0:g}' for number in numbers)}"  # + 0.0: no negative zero


def _elsewhere(shape: Shape, data: DataRows) -> tuple[str, Shape]:
    """The shape with its middle where the data have the centre of mass, or near there, and the words for it."""
    phi = _shown_by(data).phi
    points = np.concatenate([part.points for part in shape.parts])
    weight = np.concatenate([part.volumes for part in shape.parts])
    shift = phi[1:4] / phi[0] - np.average(points, axis=0, weights=weight)
    there = np.eye(4)
    there[:3, 3] = shift
    moved = dataclasses.replace(shape.deformed(there), place_deviation=ELSEWHERE)
    # Which place, nobody can say: with other densities another one has the same centre of mass.
    return "in another place (is its file in the tool frame? --shape-pose, or --shape-pose estimate)", moved


def _map(matrix: FloatArray, about: FloatArray) -> FloatArray:
    """(4, 4) the linear map about a point."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = matrix, about - matrix @ about
    return found
