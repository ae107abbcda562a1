"""Chooses the friction terms of each joint, and coupled drives, by how well they predict blocks that were held out.

Terms are added one at a time, each where it improves the prediction by more than the scatter of that improvement from
block to block allows (the rule of one standard error, Breiman et al. 1984). A term that would have to drive its joint
to fit is none. All is done on the normal equations of the blocks, one factorisation of which serves all candidates.

What is predicted with is what is chosen for. A term may mend what is wrong with parameters that no body has, and be of
no use, or harmful, beside bodies. So where the arm is to be consistent, its parameters vary only as the bodies can that
all data together ask for: the pseudo-inertia of those that are at the limit keeps its rank.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.torque.consistent_robot import (
    PRIOR_DEVIATION,
    ConsistentProblem,
    changes_within_limits,
    consistent_parameters,
    link_units,
)
from iparam.estimation.torque.friction import DISSIPATIVE, WAVES, FrictionModel, kind
from iparam.estimation.torque.joint_data import JointDataSource
from iparam.estimation.torque.torque_fit import reduced_run
from iparam.estimation.torque.torque_model import Coupling, TorqueModel

ALWAYS = ("viscous", "coulomb", "offset")
"""Terms that every joint has."""

CANDIDATES: tuple[tuple[str, ...], ...] = (
    ("stribeck:0.02",),
    ("stribeck:0.1",),
    ("stribeck:0.5",),
    ("saturating:0.1",),
    ("saturating:0.5",),
    ("saturating:2",),
    ("forward",),
    ("backward",),
    ("load",),
    ("spring",),
    ("sine", "cosine"),
    ("sine2", "cosine2"),
    ("sine3", "cosine3"),
    ("sine4", "cosine4"),
    ("sine6", "cosine6"),
)
"""What may be added, each as a whole."""

FEW_WAVES = 2
"""Waves a turn up to which a joint may have them whatever it moves over: a balancer, an eccentric gear. More of them
over less than their period are a polynomial, which says nothing beyond where it was fitted."""

SMOOTH_SPEEDS = (0.01, 0.02, 0.05)
"""At which the direction of motion may change smoothly [rad/s]."""

CLEARLY = 0.1
"""Share by which a smooth direction must predict better than presliding: every gear that was measured has the latter,
and a motion that never rests tells little of it."""

BLOCKS = 10
"""Blocks of time that are held out in turn."""

MOST_ROWS = 6000
"""Means of samples that candidates are compared on."""

MEAN_OVER = 0.01
"""Time that a mean is taken over [s]: hardly any motion, and much noise of a drive."""

COUPLING_GAIN = 0.15
"""Share of the squares of all joints that a coupling must save: it is rare, and plain to see where it is."""

RIDGE = 1e-9
"""Share of a column's squares that is added to it."""

SMALLEST = 1e-12
"""Share of the largest eigenvalue, of columns scaled to length one, below which a direction is not seen."""

AT_ZERO = 1e-4
"""What a coefficient that cannot be negative adds to the torque, in units of its noise, below which it counts as 0."""

ERRORS = 1.0
"""Standard errors that an improvement must exceed."""

LEAST_GAIN = 0.003
"""Share of the squares of all joints that a term must save."""

MOST_TERMS = 4
"""Groups of terms that a joint may be given."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """The normal equations of one joint in a stretch of time: gram (k, k) and right (k,) of its columns, squares."""

    columns: NDArray[np.int64]
    gram: FloatArray
    right: FloatArray
    squares: float


@dataclass(frozen=True, eq=False)
class _Block:
    """A stretch of time: what it has of each measured joint, and its samples."""

    joints: dict[int, _Rows]
    samples: int


@dataclass(frozen=True, eq=False)
class _Sums:
    """Normal equations of all joints, weighed: gram (p, p), right (p,), squares; and samples."""

    gram: FloatArray
    right: FloatArray
    squares: float
    samples: int

    def without(self, other: _Sums) -> _Sums:
        return _Sums(
            self.gram - other.gram,
            self.right - other.right,
            self.squares - other.squares,
            self.samples - other.samples,
        )


def with_chosen_terms(
    model: TorqueModel,
    sources: Sequence[JointDataSource],
    scale: FloatArray,
    *,
    terms_given: bool = False,
    couplings_given: bool = False,
    consistent: bool = False,
) -> TorqueModel:
    """The model with the terms and couplings that predict best.

    Args:
        model: with any friction; its runs, loads, gravity and the joints that it leaves out are kept.
        sources: the runs.
        scale: (n,) that turns efforts into torques.
        terms_given: keeps the model's friction terms and chooses couplings only.
        couplings_given: keeps the model's couplings and chooses friction terms only.
        consistent: chooses for an arm of bodies of positive density, not for base parameters by least squares.
    """
    if terms_given and couplings_given:
        return model
    count = model.num_joints
    pairs = tuple(
        Coupling((j, j + 1), (1.0, ratio))
        for j in range(count - 1)
        for ratio in (1.0, -1.0)
        if not {j, j + 1} <= set(model.left_out)
    )
    if couplings_given:
        pairs = model.couplings
    terms = (*ALWAYS, *dict.fromkeys(term for group in CANDIDATES for term in group))
    plain = dataclasses.replace(model, joint_terms=(), couplings=())
    first = model.terms if terms_given else tuple(() if j in model.left_out else ALWAYS for j in range(count))
    friction = model.friction if terms_given else _with_direction(plain, sources, scale, first, consistent)
    if terms_given:
        terms = friction.terms
    wide = dataclasses.replace(plain, friction=dataclasses.replace(friction, terms=terms), couplings=pairs)
    kept = range(len(pairs)) if couplings_given else ()
    search = _Search(wide, sources, scale, first, kept, consistent)
    chosen, couplings = search.run(not terms_given, not couplings_given)
    used = tuple(term for term in terms if any(term in own for own in chosen))
    return dataclasses.replace(
        model,
        friction=dataclasses.replace(friction, terms=used),
        joint_terms=tuple(tuple(term for term in used if term in own) for own in chosen),
        couplings=tuple(wide.couplings[index] for index in couplings),
    )


def _with_direction(
    model: TorqueModel,
    sources: Sequence[JointDataSource],
    scale: FloatArray,
    terms: Sequence[Sequence[str]],
    consistent: bool,
) -> FrictionModel:
    """The friction that every joint has, with the direction of motion that predicts best."""

    def score(friction: FrictionModel) -> float:
        return _Search(dataclasses.replace(model, friction=friction), sources, scale, terms, (), consistent).score

    usual = dataclasses.replace(model.friction, terms=ALWAYS, direction="presliding")
    smooth = [dataclasses.replace(usual, direction="smooth", smoothing_speed=speed) for speed in SMOOTH_SPEEDS]
    scores = [score(one) for one in smooth]
    best = int(np.argmin(scores))
    return smooth[best] if scores[best] < score(usual) - CLEARLY else usual


@dataclass(frozen=True, eq=False)
class _Bodies:
    """How the parameters of the bodies may vary: phi = start + basis @ z, with as many z as there are directions.

    In sums the z stand in the first columns, and those that remain of the 10 n of the bodies are empty.

    Attributes:
        start: (10 n,).
        basis: (10 n, d), in units of what is known before: the z have unit weights.
        target: (d,) the z of what is known before.
        at_zero: columns behind the bodies that are at the least value that they can have, and are kept there.
    """

    start: FloatArray
    basis: FloatArray
    target: FloatArray
    at_zero: frozenset[int] = frozenset()

    def sums(self, plain: _Sums) -> _Sums:
        """Of z, from those of phi."""
        links, count = self.basis.shape
        gram, right = np.zeros_like(plain.gram), plain.right - plain.gram[:, :links] @ self.start
        side = self.basis.T @ plain.gram[:links]
        gram[links:, links:] = plain.gram[links:, links:]
        gram[:count, links:] = side[:, links:]
        gram[links:, :count] = side[:, links:].T
        gram[:count, :count] = side[:, :links] @ self.basis
        squares = plain.squares - self.start @ (plain.right + right)[:links]
        right[:count], right[count:links] = self.basis.T @ right[:links], 0.0
        return _Sums(gram, right, float(squares), plain.samples)

    def parameters(self, found: FloatArray) -> FloatArray:
        """(p,) of the model, from (p,) with z."""
        links, count = self.basis.shape
        return np.concatenate([self.start + self.basis @ found[:count], found[links:]])


class _Search:
    """From the terms of each joint and the numbers of couplings that it starts with."""

    def __init__(
        self,
        model: TorqueModel,
        sources: Sequence[JointDataSource],
        scale: FloatArray,
        terms: Sequence[Sequence[str]],
        couplings: Sequence[int],
        consistent: bool,
    ) -> None:
        self._model = model
        self._consistent = consistent
        self._chosen: list[set[str]] = [set(own) for own in terms]
        self._couplings: list[int] = list(couplings)
        self._makers = np.asarray(model.robot.body_parameters)
        units = PRIOR_DEVIATION * link_units(self._makers).ravel()
        self._bodies = _Bodies(self._makers.ravel(), np.diag(units), np.zeros(units.size))
        self._level = np.ones(model.num_joints)
        self._ranges = np.zeros(model.num_joints)
        self._blocks = list(self._normal_equations(sources, scale, None))
        self._settle()
        if "load" in model.friction.terms:  # what passes the gears is known only now
            found = self._fit(self._whole, self._used())
            self._blocks = list(self._normal_equations(sources, scale, found))
            self._settle()
        self._limit_bodies()

    @property
    def score(self) -> float:
        """Mean logarithm of the joints' errors of prediction."""
        return float(np.mean(np.log(self._level)))

    def run(self, choose_terms: bool, choose_couplings: bool) -> tuple[list[set[str]], list[int]]:
        """The terms of each joint, and the numbers of the couplings, one or both of them chosen."""
        for _ in range(MOST_TERMS):
            options = [*(self._joint_changes() if choose_terms else ())]
            if choose_couplings:
                options.append(self._coupling_changes())
            gains = iter(self._gains([change for own in options for change in own]))
            # One a joint in each round: what another joint is given hardly changes which is its best.
            best = [max(((next(gains), index) for index in range(len(own))), default=(0.0, 0)) for own in options]
            kept = [own[index] for (gain, index), own in zip(best, options, strict=True) if gain > 0.0]
            for change in kept:
                change.keep()
            if not kept:
                break
            self._settle()
            self._limit_bodies()
        return self._chosen, self._couplings

    def _gains(self, changes: Sequence[_Change]) -> FloatArray:
        """What each change saves, in units of all squares; 0 for one that is not clear, or that drives a joint."""
        if not changes:
            return np.zeros(0)
        used, more = self._used(), [self._columns(change) for change in changes]
        prior, target = self._known_before()
        found = [_bordered(self._whole, held, used, more, prior, target) for held in self._sums]
        before, gain = np.array([one.squares for one in found]), np.array([one.saved for one in found])
        share = gain.sum(axis=0) / before.sum()
        clear = gain.mean(axis=0) > ERRORS * gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        least = np.array([COUPLING_GAIN if change.of_couplings else LEAST_GAIN for change in changes])
        everything = _bordered(self._whole, None, used, more, prior, target).coefficients
        brakes = [self._brakes(change, own) for change, own in zip(changes, everything, strict=True)]
        return np.where(clear & (share > least) & brakes, share, 0.0)

    def _joint_changes(self) -> list[list[_Change]]:
        hidden = {term: self._model.hidden_by_gravity(term) for term in WAVES if WAVES[term] == 1}
        return [
            [
                _Change(self._chosen[joint], group, joint)
                for group in CANDIDATES
                if not set(group) & self._chosen[joint]
                and not _one_sided(set(group) | self._chosen[joint])
                and _covered(group, float(self._ranges[joint]))
                and not any(joint in hidden.get(term, ()) for term in group)
            ]
            for joint in self._model.measured
        ]

    def _coupling_changes(self) -> list[_Change]:
        pairs = self._model.couplings
        taken = {joint for index in self._couplings for joint in pairs[index].joints}
        return [_Change(self._couplings, (index,)) for index, pair in enumerate(pairs) if not set(pair.joints) & taken]

    def _columns(self, change: _Change) -> NDArray[np.int64]:
        """What a change adds to those in use."""
        model = self._model
        if change.of_couplings:
            columns = [range(*model.coupling_columns(int(index)).indices(model.size)) for index in change.more]
            return np.concatenate(columns)
        return np.array(
            [
                model.friction_columns(str(term), run).start + change.joint
                for term in change.more
                for run in range(model.runs if term in model.run_terms else 1)
            ],
            dtype=np.int64,
        )

    def _present(self) -> NDArray[np.int64]:
        """The columns of the model that it has now: all bodies and rotors, what was chosen, and the load."""
        model, count = self._model, self._model.num_joints
        columns = [*range(11 * count)]
        for term in model.friction.terms:
            for run in range(model.runs if term in model.run_terms else 1):
                start = model.friction_columns(term, run).start
                columns += [start + joint for joint in range(count) if term in self._chosen[joint]]
        for index in self._couplings:
            columns += range(*model.coupling_columns(index).indices(model.size))
        columns += range(*model.load_columns.indices(model.size))
        return np.array(sorted(columns), dtype=np.int64)

    def _used(self) -> NDArray[np.int64]:
        """The columns of the sums that are solved for."""
        links, count = self._bodies.basis.shape
        others = [column for column in self._present().tolist() if column >= links]
        return np.array([*range(count), *(one for one in others if one not in self._bodies.at_zero)], dtype=np.int64)

    def _known_before(self) -> tuple[FloatArray, FloatArray]:
        """(p,) weight and value in the sums of what is known before."""
        prior, target = np.zeros((2, self._model.size))
        count = self._bodies.target.size
        prior[:count], target[:count] = 1.0, self._bodies.target
        return prior, target

    def _limit_bodies(self) -> None:
        """Let the bodies vary only as consistent ones can that all data together ask for, if they are to be so."""
        if not self._consistent:
            return
        model, used = self._model, self._present()
        whole = _total(self._weighed())
        unit = 1.0 / np.sqrt(np.maximum(np.diag(whole.gram)[used], 1e-300))
        values, vectors = np.linalg.eigh(whole.gram[np.ix_(used, used)] * np.outer(unit, unit))
        seen = values > SMALLEST * values[-1]
        roots, turned = np.sqrt(values[seen])[:, None], vectors[:, seen].T
        right = (turned @ (unit * whole.right[used])) / roots[:, 0]
        positive = [*range(10 * model.num_joints, 11 * model.num_joints)]
        for term in model.friction.terms:
            for run in range(model.runs if kind(term) in DISSIPATIVE else 0):
                positive += range(*model.friction_columns(term, run).indices(model.size))
        limited = np.flatnonzero(np.isin(used, positive)).astype(np.int64)
        problem = ConsistentProblem(roots * turned / unit, right, self._makers, limited)
        found = consistent_parameters(problem)
        links = found[: self._makers.size]
        small = found[limited] < AT_ZERO * np.sqrt(whole.samples) * unit[limited]
        basis = changes_within_limits(links.reshape(-1, 10), self._makers) * PRIOR_DEVIATION
        units = PRIOR_DEVIATION * link_units(self._makers).ravel()
        target = (basis / units[:, None] ** 2).T @ (self._makers.ravel() - links)
        self._bodies = _Bodies(links, basis, target, frozenset(used[limited[small]].tolist()))
        self._settle()

    def _normal_equations(
        self, sources: Sequence[JointDataSource], scale: FloatArray, parameters: FloatArray | None
    ) -> Iterator[_Block]:
        model = self._model
        means = sum(source.num_samples // _window(source) for source in sources)
        step = max(1, means // MOST_ROWS)
        total = sum(source.num_samples for source in sources)
        for run, source in enumerate(sources):
            data, directions = reduced_run(model, source, step, _window(source))
            load = None if parameters is None else model.gear_torques(data, run, parameters)
            rows = model.rows(data, run, directions, load)
            self._ranges = np.maximum(self._ranges, np.ptp(data.q, axis=0))
            blocks = max(2, round(BLOCKS * source.num_samples / total))
            for part in np.array_split(np.arange(len(data.time)), blocks):
                own = slice(int(part[0]), int(part[-1]) + 1)
                joints = {}
                for joint in model.measured:
                    matrix, torque = rows[joint][own], data.effort[own, joint] * scale[joint]
                    columns = model.joint_columns(joint, run)
                    joints[joint] = _Rows(columns, matrix.T @ matrix, matrix.T @ torque, float(torque @ torque))
                yield _Block(joints, part.size)

    def _settle(self) -> None:
        """Noise levels of the joints from their errors of prediction, and the blocks weighed by them."""
        used, samples = self._used(), sum(block.samples for block in self._blocks)
        self._weigh()
        for _ in range(3):
            squares = np.zeros(self._level.size)
            for block, held in zip(self._blocks, self._sums, strict=True):
                found = self._fit(self._whole.without(held), used)
                for joint, rows in block.joints.items():
                    own = found[rows.columns]
                    squares[joint] += max(rows.squares + own @ (rows.gram @ own - 2.0 * rows.right), 0.0)
            self._level = np.maximum(np.sqrt(squares / samples), 1e-9)
            self._weigh()

    def _weigh(self) -> None:
        self._sums = [self._bodies.sums(block) for block in self._weighed()]
        self._whole = _total(self._sums)

    def _weighed(self) -> list[_Sums]:
        """The sums of the blocks, each joint weighed by its noise level."""
        size, weights = self._model.size, self._level**-2
        found = []
        for block in self._blocks:
            gram, right, squares = np.zeros((size, size)), np.zeros(size), 0.0
            for joint, rows in block.joints.items():
                gram[np.ix_(rows.columns, rows.columns)] += weights[joint] * rows.gram
                right[rows.columns] += weights[joint] * rows.right
                squares += weights[joint] * rows.squares
            found.append(_Sums(gram, right, squares, block.samples))
        return found

    def _fit(self, data: _Sums, used: NDArray[np.int64]) -> FloatArray:
        """(p,) the parameters of the model, 0 in columns that are not in use."""
        found = np.zeros(self._model.size)
        own, wanted, unit = _scaled(data, used, *self._known_before())
        found[used] = unit * _solved(own, wanted)
        return self._bodies.parameters(found)

    def _brakes(self, change: _Change, coefficients: FloatArray) -> bool:
        """Whether what a change adds would not drive a joint, as far as the fit to all blocks says."""
        if change.of_couplings:
            return self._power(coefficients, int(change.more[0])) > 0.0
        terms = [term for term in map(str, change.more) for _ in range(len(coefficients) // len(change.more))]
        return all(value >= 0.0 for term, value in zip(terms, coefficients, strict=True) if kind(term) in DISSIPATIVE)

    def _power(self, coefficients: FloatArray, index: int) -> float:
        """What the friction of a coupled drive takes out of the motion, but for a factor."""
        pair = self._model.couplings[index]
        columns = self._model.coupling_columns(index)
        joint = next(joint for joint in pair.joints if joint in self._model.measured)
        rows = [block.joints[joint] for block in self._blocks]
        viscous, coulomb = columns.start + 1, columns.start + 2
        squares = sum(own.gram[own.columns == viscous][:, own.columns == viscous].item() for own in rows)
        products = sum(own.gram[own.columns == viscous][:, own.columns == coulomb].item() for own in rows)
        return float(coefficients[1] * squares + coefficients[2] * products)


@dataclass(frozen=True, eq=False)
class _Bordered:
    """What each of many changes would do, each alone: errors of prediction in held-out data, and coefficients.

    Attributes:
        squares: of the errors without any change, per sample.
        saved: (c,) by each change.
        coefficients: of the columns that each change adds.
    """

    squares: float
    saved: FloatArray
    coefficients: list[FloatArray]


def _bordered(
    whole: _Sums,
    held: _Sums | None,
    used: NDArray[np.int64],
    more: Sequence[NDArray[np.int64]],
    prior: FloatArray,
    target: FloatArray,
) -> _Bordered:
    """One factorisation serves all changes: each borders the matrix of the columns in use with a few of its own.

    Args:
        whole: all data.
        held: what is held out from them and predicted; None for nothing.
        used: (r,) columns in use.
        more: for each change the columns that it adds.
        prior, target: (p,) weight and value of what is known before.
    """
    size, columns = used.size, np.concatenate([used, *more])
    own, wanted, unit = _scaled(whole if held is None else whole.without(held), columns, prior, target)
    cross = own[:size, size:]
    solved = _solved(own[:size, :size], np.column_stack([wanted[:size], cross]))
    found, moved = solved[:, 0], solved[:, 1:]
    schur, rest = own[size:, size:] - cross.T @ moved, wanted[size:] - cross.T @ found
    ends = np.cumsum([len(one) for one in more])
    groups = [slice(end - len(one), end) for end, one in zip(ends.tolist(), more, strict=True)]
    steps = [np.linalg.lstsq(schur[group, group], rest[group], rcond=RIDGE)[0] for group in groups]
    coefficients = [unit[size:][group] * step for group, step in zip(groups, steps, strict=True)]
    if held is None:
        return _Bordered(0.0, np.zeros(len(more)), coefficients)
    gram = held.gram[np.ix_(columns, columns)] * np.outer(unit, unit)
    right = held.right[columns] * unit
    residual = gram[:size, :size] @ found - right[:size]
    squares = float(found @ (residual - right[:size])) + held.squares
    slope = gram[size:, :size] @ found - right[size:] - moved.T @ residual
    turned = gram[size:, :size] @ moved
    curve = moved.T @ gram[:size, :size] @ moved - turned - turned.T + gram[size:, size:]
    added = [
        2.0 * step @ slope[group] + step @ curve[group, group] @ step for group, step in zip(groups, steps, strict=True)
    ]
    return _Bordered(squares / held.samples, -np.array(added) / held.samples, coefficients)


def _scaled(
    data: _Sums, columns: NDArray[np.int64], prior: FloatArray, target: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The matrix of the normal equations with what is known before, its diagonal 1; its right-hand side; the units."""
    own = data.gram[np.ix_(columns, columns)]
    own[np.diag_indices_from(own)] += prior[columns]
    squares = np.diag(own)
    unit = np.where(squares > 1e-300, 1.0 / np.sqrt(np.maximum(squares, 1e-300)), 0.0)
    own = own * np.outer(unit, unit)
    own[np.diag_indices_from(own)] = 1.0 + RIDGE
    return own, unit * (data.right[columns] + prior[columns] * target[columns]), unit


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    from scipy.linalg import cho_factor, cho_solve

    try:
        return np.asarray(cho_solve(cho_factor(matrix, check_finite=False), right, check_finite=False))
    except np.linalg.LinAlgError:  # columns that the other blocks cannot tell apart: the shortest solution
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=RIDGE)[0])


def _total(parts: Sequence[_Sums]) -> _Sums:
    return _Sums(
        np.sum([part.gram for part in parts], axis=0),
        np.sum([part.right for part in parts], axis=0),
        sum(part.squares for part in parts),
        sum(part.samples for part in parts),
    )


def _window(source: JointDataSource) -> int:
    """Samples that a mean is taken of: the choice then does not depend on the rate of the log."""
    return max(1, int(MEAN_OVER * source.rate + 0.01))


def _covered(terms: Sequence[str], moved: float) -> bool:
    """Whether a joint that moves over so much [rad] shows a period of waves."""
    count = WAVES.get(terms[0], 0)
    return count <= FEW_WAVES or count * moved >= 2.0 * np.pi


def _one_sided(terms: set[str]) -> bool:
    """Whether both directions would have viscous friction of their own: beside the common one that is one too many."""
    return {"forward", "backward"} <= terms


class _Change:
    """One more group of terms of a joint, or one more coupling: while the context lasts, or for good."""

    def __init__(
        self, chosen: set[str] | list[int], more: Sequence[str] | Sequence[int], joint: int | None = None
    ) -> None:
        self._chosen, self.more, self.joint = chosen, more, joint

    @property
    def of_couplings(self) -> bool:
        return self.joint is None

    def keep(self) -> None:
        if isinstance(self._chosen, set):
            self._chosen.update(self.more)  # type: ignore[arg-type]
        else:
            self._chosen.extend(self.more)  # type: ignore[arg-type]
