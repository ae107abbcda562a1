"""Chooses the friction terms of each joint, and coupled drives, by how well they predict blocks that were held out.

Terms are added one at a time, each where it improves the prediction by more than the scatter of that improvement from
block to block allows (the rule of one standard error, Breiman et al. 1984). A term that would have to drive its joint
to fit is none. All is done on the normal equations of the blocks, so that a candidate costs a few small solutions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.torque.consistent_robot import PRIOR_DEVIATION, link_units
from iparam.estimation.torque.friction import DISSIPATIVE, FrictionModel, kind
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
)
"""What may be added, each as a whole."""

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

ERRORS = 1.0
"""Standard errors that an improvement must exceed."""

LEAST_GAIN = 0.003
"""Share of the squares of all joints that a term must save."""

MOST_TERMS = 4
"""Groups of terms that a joint may be given."""


@dataclass(frozen=True, eq=False)
class _Block:
    """The normal equations of one block: of each joint the gram (n, p, p), right (n, p), squares (n,); and its rows."""

    grams: FloatArray
    rights: FloatArray
    squares: FloatArray
    rows: int


def with_chosen_terms(
    model: TorqueModel,
    sources: Sequence[JointDataSource],
    scale: FloatArray,
    *,
    terms_given: bool = False,
    couplings_given: bool = False,
) -> TorqueModel:
    """The model with the terms and couplings that predict best.

    Args:
        model: with any friction; its runs, loads, gravity and the joints that it leaves out are kept.
        sources: the runs.
        scale: (n,) that turns efforts into torques.
        terms_given: keeps the model's friction terms and chooses couplings only.
        couplings_given: keeps the model's couplings and chooses friction terms only.
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
    friction = model.friction if terms_given else _with_direction(plain, sources, scale, first)
    if terms_given:
        terms = friction.terms
    wide = dataclasses.replace(plain, friction=dataclasses.replace(friction, terms=terms), couplings=pairs)
    search = _Search(wide, sources, scale, first, range(len(pairs)) if couplings_given else ())
    chosen, couplings = search.run(not terms_given, not couplings_given)
    used = tuple(term for term in terms if any(term in own for own in chosen))
    return dataclasses.replace(
        model,
        friction=dataclasses.replace(friction, terms=used),
        joint_terms=tuple(tuple(term for term in used if term in own) for own in chosen),
        couplings=tuple(wide.couplings[index] for index in couplings),
    )


def _with_direction(
    model: TorqueModel, sources: Sequence[JointDataSource], scale: FloatArray, terms: Sequence[Sequence[str]]
) -> FrictionModel:
    """The friction that every joint has, with the direction of motion that predicts best."""

    def score(friction: FrictionModel) -> float:
        return _Search(dataclasses.replace(model, friction=friction), sources, scale, terms, ()).score

    usual = dataclasses.replace(model.friction, terms=ALWAYS, direction="presliding")
    smooth = [dataclasses.replace(usual, direction="smooth", smoothing_speed=speed) for speed in SMOOTH_SPEEDS]
    scores = [score(one) for one in smooth]
    best = int(np.argmin(scores))
    return smooth[best] if scores[best] < score(usual) - CLEARLY else usual


class _Search:
    """From the terms of each joint and the numbers of couplings that it starts with."""

    def __init__(
        self,
        model: TorqueModel,
        sources: Sequence[JointDataSource],
        scale: FloatArray,
        terms: Sequence[Sequence[str]],
        couplings: Sequence[int],
    ) -> None:
        self._model = model
        self._chosen: list[set[str]] = [set(own) for own in terms]
        self._couplings: list[int] = list(couplings)
        self._prior = np.zeros(model.size)
        self._target = np.zeros(model.size)
        bodies = model.robot.body_parameters
        links = 10 * model.num_joints
        self._prior[:links] = (PRIOR_DEVIATION * link_units(np.asarray(bodies)).ravel()) ** -2
        self._target[:links] = np.asarray(bodies).ravel()
        self._level = np.ones(model.num_joints)
        self._blocks = list(self._normal_equations(sources, scale, None))
        self._settle()
        if "load" in model.friction.terms:  # what passes the gears is known only now
            found = self._solve(self._used())
            self._blocks = list(self._normal_equations(sources, scale, found))
            self._settle()

    @property
    def score(self) -> float:
        """Mean logarithm of the joints' errors of prediction."""
        return float(np.mean(np.log(self._level)))

    def run(self, choose_terms: bool, choose_couplings: bool) -> tuple[list[set[str]], list[int]]:
        """The terms of each joint, and the numbers of the couplings, one or both of them chosen."""
        for _ in range(MOST_TERMS):
            before = self._errors()
            kept = []
            changes = [*(self._joint_changes() if choose_terms else ())]
            if choose_couplings:
                changes.append(self._coupling_changes())
            for options in changes:
                # One a joint in each round: what another joint is given hardly changes which is its best.
                scores = [(self._gain(change, before), change) for change in options]
                gain, best = max(scores, key=lambda score: score[0], default=(0.0, None))
                if best is not None and gain > 0.0:
                    kept.append(best)
            for change in kept:
                change.keep()
            if not kept:
                break
            self._settle()
        return self._chosen, self._couplings

    def _gain(self, change: _Change, before: FloatArray) -> float:
        """What a change saves, in units of all squares; 0 for one that is not clear, or that drives a joint."""
        with change:
            gain = before - self._errors()
            total = float(gain.sum() / before.sum())
            clear = gain.mean() > ERRORS * gain.std(ddof=1) / np.sqrt(gain.size)
            least = COUPLING_GAIN if change.of_couplings else LEAST_GAIN
            return total if clear and total > least and self._dissipative(change) else 0.0

    def _joint_changes(self) -> list[list[_Change]]:
        return [
            [
                _Change(self._chosen[joint], group, joint)
                for group in CANDIDATES
                if not set(group) & self._chosen[joint] and not _one_sided(set(group) | self._chosen[joint])
            ]
            for joint in self._model.measured
        ]

    def _coupling_changes(self) -> list[_Change]:
        pairs = self._model.couplings
        taken = {joint for index in self._couplings for joint in pairs[index].joints}
        return [_Change(self._couplings, (index,)) for index, pair in enumerate(pairs) if not set(pair.joints) & taken]

    def _used(self) -> NDArray[np.int64]:
        """The columns in use: all bodies and rotors, what was chosen, and the load."""
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

    def _normal_equations(
        self, sources: Sequence[JointDataSource], scale: FloatArray, parameters: FloatArray | None
    ) -> Iterator[_Block]:
        model = self._model
        total = sum(source.num_samples for source in sources)
        means = sum(source.num_samples // _window(source) for source in sources)
        step = max(1, means // MOST_ROWS)
        for run, source in enumerate(sources):
            data, directions = reduced_run(model, source, step, _window(source))
            load = None if parameters is None else model.gear_torques(data, run, parameters)
            rows = model.rows(data, run, directions, load)
            blocks = max(2, round(BLOCKS * source.num_samples / total))
            for part in np.array_split(np.arange(len(data.time)), blocks):
                grams, rights, squares = [], [], np.zeros(model.num_joints)
                for joint, joint_rows in enumerate(rows):
                    gram, right = np.zeros((model.size, model.size)), np.zeros(model.size)
                    if joint in model.measured:
                        own, torque = joint_rows[part], data.effort[part, joint] * scale[joint]
                        columns = model.joint_columns(joint, run)
                        gram[np.ix_(columns, columns)] = own.T @ own
                        right[columns] = own.T @ torque
                        squares[joint] = float(torque @ torque)
                    grams.append(gram)
                    rights.append(right)
                yield _Block(np.array(grams), np.array(rights), squares, part.size)

    def _settle(self) -> None:
        """Noise levels of the joints from their errors of prediction, and the blocks weighed by them."""
        used, rows = self._used(), sum(block.rows for block in self._blocks)
        self._weigh()
        for _ in range(3):
            squares = np.zeros(self._level.size)
            for block, found in zip(self._blocks, self._predictors(used), strict=True):
                quadratic = np.einsum("jpq,p,q->j", block.grams, found, found) - 2.0 * block.rights @ found
                squares += np.maximum(block.squares + quadratic, 0.0)
            self._level = np.maximum(np.sqrt(squares / rows), 1e-9)
            self._weigh()

    def _weigh(self) -> None:
        weights = self._level**-2
        self._grams = [np.tensordot(weights, block.grams, axes=1) for block in self._blocks]
        self._rights = [weights @ block.rights for block in self._blocks]

    def _errors(self) -> FloatArray:
        """(B,) squares of the errors of prediction of each block, in units of the noise of each joint, per row."""
        errors, used = [], self._used()
        where = np.ix_(used, used)
        for b, (block, found) in enumerate(zip(self._blocks, self._predictors(used), strict=True)):
            own = found[used]
            squares = own @ self._grams[b][where] @ own - 2.0 * self._rights[b][used] @ own
            errors.append((squares + block.squares @ self._level**-2) / block.rows)
        return np.array(errors)

    def _predictors(self, used: NDArray[np.int64]) -> Iterator[FloatArray]:
        """For each block the parameters (p,) that the others give."""
        where = np.ix_(used, used)
        grams, rights = [gram[where] for gram in self._grams], [right[used] for right in self._rights]
        gram, right = np.sum(grams, axis=0), np.sum(rights, axis=0)
        for own_gram, own_right in zip(grams, rights, strict=True):
            yield self._solution(gram - own_gram, right - own_right, used)

    def _solve(self, used: NDArray[np.int64]) -> FloatArray:
        gram, right = np.sum(self._grams, axis=0), np.sum(self._rights, axis=0)
        return self._solution(gram[np.ix_(used, used)], right[used], used)

    def _solution(self, gram: FloatArray, right: FloatArray, used: NDArray[np.int64]) -> FloatArray:
        from scipy.linalg import cho_factor, cho_solve

        own = gram + np.diag(self._prior[used])
        unit = 1.0 / np.sqrt(np.maximum(np.diag(own), 1e-300))
        own *= np.outer(unit, unit)
        own[np.diag_indices_from(own)] = 1.0 + RIDGE
        found = np.zeros(self._model.size)
        wanted = unit * (right + self._prior[used] * self._target[used])
        try:
            found[used] = unit * cho_solve(cho_factor(own, check_finite=False), wanted, check_finite=False)
        except np.linalg.LinAlgError:  # columns that the other blocks cannot tell apart: the shortest solution
            found[used] = unit * np.linalg.lstsq(own, wanted, rcond=RIDGE)[0]
        return found

    def _dissipative(self, change: _Change) -> bool:
        """Whether what a change adds would not drive a joint, as far as the fit to all blocks says."""
        model, found = self._model, self._solve(self._used())
        if change.of_couplings:
            return all(self._power(found, int(index)) > 0.0 for index in change.more)
        return all(
            found[model.friction_columns(str(term))][change.joint] >= 0.0
            for term in change.more
            if kind(str(term)) in DISSIPATIVE
        )

    def _power(self, found: FloatArray, index: int) -> float:
        """What the friction of a coupled drive takes out of the motion, but for a factor."""
        pair = self._model.couplings[index]
        _, viscous, coulomb = range(*self._model.coupling_columns(index).indices(self._model.size))
        joint = next(joint for joint in pair.joints if joint in self._model.measured)
        own = sum(block.grams[joint] for block in self._blocks)
        return float(found[viscous] * own[viscous, viscous] + found[coulomb] * own[viscous, coulomb])


def _window(source: JointDataSource) -> int:
    """Samples that a mean is taken of: the choice then does not depend on the rate of the log."""
    return max(1, int(MEAN_OVER * source.rate + 0.01))


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

    def __enter__(self) -> None:
        self.keep()

    def __exit__(self, *_: object) -> None:
        for one in self.more:
            self._chosen.remove(one)  # type: ignore[arg-type]

    def keep(self) -> None:
        if isinstance(self._chosen, set):
            self._chosen.update(self.more)  # type: ignore[arg-type]
        else:
            self._chosen.extend(self.more)  # type: ignore[arg-type]
