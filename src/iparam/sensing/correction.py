"""`Correction`: what is known to be wrong with a recording, and the recording without it.

A mistake in how a run was recorded (a sensor that is turned, a joint that is counted from another zero, a clock that is
fast) is put right where the run is read, with the user's consent, so that everything behind it sees one consistent
recording. What only the regression can deal with (channels that are not used, a bias that jumps, a low-pass of the
sensor, a delay) stays in the value and is read by `identify_payload`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError, UnknownNameError
from iparam.remarks import Plain, fix_text, plain
from iparam.spatial.transforms import rotation_from_rpy, rpy_from_rotation

if TYPE_CHECKING:
    from iparam.recording.recording import Recording
    from iparam.robot.model import Robot
    from iparam.sensing.wrench_source import SensorWrench

ESTIMATE: Literal["estimate"] = "estimate"
"""In place of a value: estimate it along with the load, and count it in the intervals."""

Estimated = Literal["estimate"]
WRENCH_CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")
"""The channels of a wrench, in the order of its columns."""

MOST_CLOCK = 1e6
"""By which a clock runs fast or slow: seconds taken for microseconds."""

AXES = tuple(f"{sign}{axis}" for sign in ("", "-") for axis in "xyz")

WrenchFrame = Literal["tool", "base", "forces-base", "torques-base", "tcp"]
"""In whose axes a wrench is: all of it, or forces or torques alone, in those of the base; "tcp" is a controller's in
base axes, as UR's actual_TCP_force, out of which it took a weight and an offset."""

Orientation = Literal["inverted", "w-last", "w-first", "inverted-w-last", "inverted-w-first"]
"""What the columns of an orientation hold in place of the sensor's in the world, w x y z: that of the world in the
sensor, x y z w, or what was taken for x y z w and is w x y z."""

ESTIMABLE = (
    "sensor_rotation",
    "sensor_offset",
    "wrench_scale",
    "gravity",
    "delay",
    "low_pass",
    "clock",
    "joint_offset",
    "external_force",
)
"""What `identify_payload` can estimate along with the load."""

UNITS = {
    "sensor_rotation": "deg",
    "sensor_offset": "m",
    "gravity": "m/s^2",
    "delay": "s",
    "low_pass": "Hz",
    "joint_offset": "deg",
    "external_force": "N, m",
    "high_pass": "Hz",
    "delays": "s",
    "exclude": "s",
    "rezeroed": "s",
}
"""Units of what has one."""

_LAGS = {0: 1.3915574, 1: 1.0, 2: math.sqrt(2.0)}
"""Mean delay of a low-pass of each order, times its corner in rad/s; sin(x) / x is the root of a half at that x."""

_SPREAD = "wrench_scale_covariance"  # of what was corrected, and no correction itself
_NUMBERS = {"sensor_rotation": 3, "sensor_offset": 3, "wrench_scale": 6, "gravity": 3}


@dataclass(frozen=True)
class Correction:
    """What is to be corrected in a recording; None and () for nothing.

    The wrench as recorded is scaled, its axes are renamed, its sign is set, it is turned from base into tool axes, and
    then from the sensor's axes and origin into the tool's. Angles are put in order, then their signs and zeros are set.
    Times (``exclude``, ``rezeroed``) are those of the recording as it is, before ``clock``.

    Attributes:
        sensor_rotation: (3,) roll, pitch, yaw of the sensor in the tool frame, about fixed x, y, z [deg]: f_tool = R f.
        sensor_offset: (3,) origin of the sensor in the tool frame [m]: t_tool = R t + p x R f.
        wrench_axes: (3,) which axis of the sensor each axis of the tool is, e.g. ("y", "x", "z") or ("-x", "y", "z");
            or (6,), the first three of the forces, the others of the torques.
        wrench_scale: (6,) factors of fx, fy, fz, tx, ty, tz; or (6, 6) rows of a matrix that also undoes crosstalk.
        wrench_scale_covariance: (36, 36) of the inverse of such a matrix, row by row, as a calibration found it; no
            option, but counted in the intervals of a load.
        wrench_frame: "base" for a wrench at the tool's origin in base axes, "forces-base" or "torques-base" for one of
            which a part is; "tcp" for one in base axes out of which a controller took a weight and an offset: only what
            moving the load takes counts; "tool" or None for tool axes.
        measures: "reaction" for a sensor that reports what the load exerts on it.
        gravity: (3,) in base axes [m/s^2], whatever the recording states.
        delay: of the wrench behind the joint angles [s].
        low_pass: corner of a filter that the wrench went through [Hz].
        low_pass_order: of that filter: 1, also if not given, 2 for Butterworth's, 0 for the mean over the time before.
        high_pass: corner of a filter of first order that took the slow parts of the wrench for drift [Hz].
        delays: pairs (time, delay) of a wrench that is late by a time that changes [s], straight in between: of two
            clocks, or after a loss of rows. ``delay`` counts besides.
        orientation_columns: what the columns of the sensor's orientation hold, see `Orientation`.
        clock: true seconds in a second of the time stamps.
        joint_offset: (n,) added to the joint angles [deg].
        joint_order: (n,) which column of the recording each joint of the arm is, from 0.
        joint_sign: (n,) 1 or -1, of each joint of the arm.
        exclude: intervals (from, to) of time in which the wrench is not used [s].
        without: components of the wrench that are not used, such as "fx".
        rezeroed: times at which the sensor was zeroed again, so that its bias jumps [s].
        external_force: (6,) constant force on the load, in base axes [N], and the point of the tool frame [m] that it
            acts at; (3,) for the force at the tool's origin. A weight that the controller takes out is one, too.
    """

    sensor_rotation: tuple[float, ...] | Estimated | None = None
    sensor_offset: tuple[float, ...] | Estimated | None = None
    wrench_axes: tuple[str, ...] | None = None
    wrench_scale: tuple[float, ...] | tuple[tuple[float, ...], ...] | Estimated | None = None
    wrench_scale_covariance: tuple[tuple[float, ...], ...] | None = None
    wrench_frame: WrenchFrame | None = None
    measures: Literal["action", "reaction"] | None = None
    gravity: tuple[float, ...] | Estimated | None = None
    delay: float | Estimated | None = None
    low_pass: float | Estimated | None = None
    low_pass_order: int | None = None
    high_pass: float | None = None
    delays: tuple[tuple[float, float], ...] = ()
    orientation_columns: Orientation | None = None
    clock: float | Estimated | None = None
    joint_offset: tuple[float, ...] | Estimated | None = None
    joint_order: tuple[int, ...] | None = None
    joint_sign: tuple[int, ...] | None = None
    exclude: tuple[tuple[float, float], ...] = ()
    without: tuple[str, ...] = ()
    rezeroed: tuple[float, ...] = ()
    external_force: tuple[float, ...] | Estimated | None = None

    def __post_init__(self) -> None:
        for name in (*_NUMBERS, "joint_offset"):
            self._set(name, _vector(getattr(self, name), name, _NUMBERS.get(name)))
        self._set("external_force", _pull(self.external_force))
        for name in ("delay", "low_pass", "clock", "high_pass"):
            self._set(name, _scalar(getattr(self, name), name))
        for name in ("low_pass", "clock", "high_pass"):
            value = getattr(self, name)
            if isinstance(value, float) and value <= 0.0:
                raise InputError(argument=name, problem=f"must be above 0, got {value:g}")
        if isinstance(self.clock, float) and not 1.0 / MOST_CLOCK <= self.clock <= MOST_CLOCK:
            raise InputError(
                argument="clock", problem=f"must be from {1.0 / MOST_CLOCK:g} to {MOST_CLOCK:g}, got {self.clock:g}"
            )
        if self.low_pass_order not in (None, *_LAGS):
            raise InputError(argument="low_pass_order", problem=f"must be 0, 1 or 2, got {self.low_pass_order}")
        if self.low_pass_order is not None and self.low_pass is None:
            raise InputError(argument="low_pass_order", problem="is that of a filter: give its corner, low_pass, too")
        self._set("wrench_axes", _axes(self.wrench_axes))
        if self.wrench_scale_covariance is not None:
            covariance = as_float_array(self.wrench_scale_covariance, "wrench_scale_covariance", (36, 36))
            self._set("wrench_scale_covariance", tuple(tuple(row) for row in covariance.tolist()))
        for name, what, known in (
            ("wrench_frame", "frame of the wrench", get_args(WrenchFrame)),
            ("measures", "kind of wrench", ("action", "reaction")),
            ("orientation_columns", "reading of an orientation", get_args(Orientation)),
        ):
            if getattr(self, name) not in (None, *known):
                raise UnknownNameError(what, str(getattr(self, name)), known, argument=name)
        self._set("joint_order", _order(self.joint_order))
        self._set("joint_sign", _signs(self.joint_sign))
        self._set("exclude", _intervals(self.exclude))
        self._set("delays", _delays(self.delays))
        for channel in self.without:
            if channel not in WRENCH_CHANNELS:
                raise UnknownNameError("component of the wrench", channel, WRENCH_CHANNELS, argument="without")
        self._set("without", tuple(name for name in WRENCH_CHANNELS if name in self.without))
        self._set("rezeroed", tuple(sorted(_vector(self.rezeroed, "rezeroed", None) or ())))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __bool__(self) -> bool:
        return self != Correction()

    @property
    def estimated(self) -> tuple[str, ...]:
        """What is to be estimated along with the load, by name."""
        return tuple(name for name in ESTIMABLE if getattr(self, name) == ESTIMATE)

    @property
    def has_gains(self) -> bool:
        """Whether channels have factors of their own, which are more than signs and units of forces and of torques."""
        given = np.abs(np.asarray(() if self.wrench_scale in (None, ESTIMATE) else self.wrench_scale))
        return given.shape == (6,) and len({float(f"{factor:.9g}") for factor in given}) > 2

    @property
    def fix(self) -> dict[str, Plain]:
        """What is corrected, as the ``fix`` of a remark or a cause."""
        return {name: plain(_plain(value)) for name, value in self._given() if name != _SPREAD}

    @property
    def text(self) -> str:
        """The same for people."""
        return fix_text(self.fix)

    @staticmethod
    def unit(name: str) -> str:
        """The unit of a correction; "" if it has none."""
        return UNITS.get(name, "")

    def text_of(self, name: str) -> str:
        """The part of `text` that is about one correction."""
        return fix_text({name: plain(_plain(getattr(self, name)))})

    def to_document(self) -> dict[str, Any]:
        """What is corrected, as plain values by name; nothing of what is not."""
        return {name: _plain(value) for name, value in self._given() if name != _SPREAD}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Correction:
        """What `to_document` gave, from a file."""
        names = [spec.name for spec in dataclasses.fields(cls)]
        for name in document:
            if name not in names:
                raise UnknownNameError("correction", str(name), names)
        try:
            return cls(**{name: _tuples(value) for name, value in document.items()})
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"not the values of a correction: {error}") from None

    def _given(self) -> list[tuple[str, Any]]:
        values = [(spec.name, getattr(self, spec.name)) for spec in dataclasses.fields(self)]
        return [(name, value) for name, value in values if value not in (None, ())]

    def merged(self, other: Correction) -> Correction:
        """Both; what both give is the other's."""
        return dataclasses.replace(self, **dict(other._given()))

    def followed_by(self, further: Correction) -> Correction | None:
        """What to give in place of this for the same as this and then ``further``, as far as that changes it; None
        where no correction says both.

        Corrections are found from a recording to which this one was applied, and are typed in its place.
        """
        both = dict(further._given())
        if self.orientation_columns and further.orientation_columns:
            return None
        if self.delays and further.delays:
            pairs = [np.transpose(each.delays) for each in (self, further)]
            times = np.union1d(*(pair[0] for pair in pairs))
            late = np.sum([np.interp(times, *pair) for pair in pairs], axis=0)
            both["delays"] = tuple((float(time), round(float(each), 6)) for time, each in zip(times, late, strict=True))
        placed = self.sensor_rotation is not None or self.sensor_offset is not None
        if {"sensor_rotation", "sensor_offset"} & both.keys() and placed and not further.estimated:
            (turn, shift), (own_turn, own_shift) = further._place(), self._place()
            angles = np.degrees(rpy_from_rotation(turn @ own_turn))
            both["sensor_rotation"] = tuple(float(f"{angle:.6g}") + 0.0 for angle in angles)
            if self.sensor_offset is not None or further.sensor_offset is not None:
                both["sensor_offset"] = tuple((turn @ own_shift + shift).tolist())
        if {"wrench_axes", "wrench_scale"} & both.keys() and not further.estimated:
            own, more = self.wrench_matrix(), further.wrench_matrix()
            elsewhere = placed or self.wrench_frame not in (None, "tool")
            if self.wrench_axes is None and self.wrench_scale is None:
                if elsewhere:
                    return None
            elif elsewhere or not _same_kind(self, further):
                return None
            elif further.wrench_axes is not None:
                turn = more @ own * (-1.0 if self.measures == "reaction" else 1.0)
                names = *_axis_names(turn[:3, :3]), *_axis_names(turn[3:, 3:])
                both["wrench_axes"] = names[:3] if names[:3] == names[3:] else names
            else:
                factors = np.diag(more @ own) * (-1.0 if self.measures == "reaction" else 1.0)
                both["wrench_scale"] = tuple(float(f"{factor:.6g}") for factor in factors)
        if isinstance(self.joint_offset, tuple) and isinstance(further.joint_offset, tuple):
            sums = zip(self.joint_offset, further.joint_offset, strict=True)
            both["joint_offset"] = tuple(round(one + other, 6) for one, other in sums)
        return Correction(**both)

    def _place(self) -> tuple[FloatArray, FloatArray]:
        """(3, 3) and (3,) of the sensor in the tool frame."""
        angles, offset = (
            np.zeros(3) if value in (None, ESTIMATE) else np.asarray(value, dtype=np.float64)
            for value in (self.sensor_rotation, self.sensor_offset)
        )
        return rotation_from_rpy(np.radians(angles)), offset

    def without_field(self, name: str) -> Correction:
        """The same without one of its corrections that are None by default."""
        changes: dict[str, Any] = {name: None}
        return dataclasses.replace(self, **changes)

    def for_another_run(self) -> Correction:
        """What holds for other runs of the same arm and sensor as well: all but times, and a delay that may differ."""
        return dataclasses.replace(self, exclude=(), rezeroed=(), delays=(), delay=None)

    def applied(self, recording: Recording, robot: Robot | None) -> Recording:
        """The recording put right, as far as its signals go; what is to be estimated, and what only a regression can
        deal with (``delay``, ``low_pass``, ``without``, ``rezeroed``), is left.

        Args:
            recording: as it was made. A frame of the wrench that it states counts first.
            robot: its arm; None where the sensor's own orientation is recorded instead.
        """
        from iparam.sensing.corrected_recording import corrected_recording  # kinematics: a result is read without it

        return corrected_recording(self, recording, robot) if self else recording

    def bias_starts(self) -> tuple[float, ...]:
        """When the bias jumps, by the corrected clock [s]."""
        factor = 1.0 if self.clock in (None, ESTIMATE) else float(self.clock or 1.0)
        return tuple(factor * time for time in self.rezeroed)

    def remaining(self) -> Correction:
        """What is left to do once it was applied to a recording."""
        return Correction(
            delay=self.delay,
            low_pass=self.low_pass,
            low_pass_order=self.low_pass_order,
            wrench_frame="tcp" if self.wrench_frame == "tcp" else None,
            without=self.without,
            rezeroed=self.bias_starts(),
        )

    @property
    def lag(self) -> float:
        """Mean delay of the low-pass [s]; 0 where there is none, or where it is to be estimated."""
        if not isinstance(self.low_pass, float):
            return 0.0
        return lag_of(self.low_pass, self.filter_order)

    @property
    def filter_order(self) -> int:
        """That of the low-pass, 1 if not given."""
        return 1 if self.low_pass_order is None else self.low_pass_order

    def wrench_matrix(self) -> FloatArray:
        """(6, 6) that scales the recorded wrench, renames its axes and sets its sign."""
        scale = np.eye(6)
        if self.wrench_scale not in (None, ESTIMATE):
            given = np.asarray(self.wrench_scale, dtype=np.float64)
            scale = np.diag(given) if given.ndim == 1 else given
        turn = np.eye(6)
        if self.wrench_axes is not None:
            rows = np.array([_unit(axis) for axis in self.wrench_axes])
            turn[:3, :3], turn[3:, 3:] = rows[:3], rows[-3:]
        sign = -1.0 if self.measures == "reaction" else 1.0
        return np.asarray(sign * turn @ scale)

    def frame_matrix(self) -> FloatArray:
        """(6, 6) from a wrench in the sensor's axes about its origin to one in the tool's about the tool's."""
        angles = (0.0, 0.0, 0.0) if self.sensor_rotation in (None, ESTIMATE) else self.sensor_rotation
        place = (0.0, 0.0, 0.0) if self.sensor_offset in (None, ESTIMATE) else self.sensor_offset
        return wrench_transform(np.asarray(angles, dtype=np.float64), np.asarray(place, dtype=np.float64))

    @property
    def wrench_source(self) -> SensorWrench | None:
        """How the corrected recording's wrench is to be read; None where nobody said whose wrench it is."""
        from iparam.sensing.wrench_source import SensorWrench

        return None if self.measures is None else SensorWrench()


def lag_of(corner: float, order: int) -> float:
    """Mean delay [s] of a low-pass with a corner at so many Hz; or the corner [Hz] of one with that mean delay [s]."""
    return _LAGS[order] / (2.0 * math.pi * corner)


def wrench_transform(rotation: FloatArray, offset: FloatArray) -> FloatArray:
    """(6, 6) of a wrench from the sensor to the tool.

    Args:
        rotation: (3,) roll, pitch, yaw of the sensor in the tool frame [deg].
        offset: (3,) origin of the sensor in the tool frame [m].
    """
    R, (x, y, z) = rotation_from_rpy(np.radians(rotation)), offset
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = R
    matrix[3:, :3] = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ R
    return matrix


def _vector(value: Any, name: str, count: int | None) -> Any:
    """Numbers as a tuple, or a matrix (6, 6) of ``wrench_scale`` as one of rows."""
    if value is None or (isinstance(value, str) and value == ESTIMATE and name in ESTIMABLE):
        return value
    if isinstance(value, str):
        raise InputError(argument=name, value=value, expected=f"numbers{_or_estimate(name)}")
    array = as_float_array(value, name)
    if name == "wrench_scale" and array.shape == (6, 6):
        if abs(float(np.linalg.det(array))) < 1e-12:
            raise InputError(
                argument="wrench_scale", problem="is a singular matrix: some component of the wrench would be lost"
            )
        return tuple(tuple(row) for row in array.tolist())
    if array.ndim != 1 or (count is not None and array.size != count):
        raise InputError(
            argument=name, problem=f"must be {count or 'some'} numbers{_or_estimate(name)}, got shape {array.shape}"
        )
    if name == "wrench_scale" and not array.all():
        raise InputError(argument="wrench_scale", problem="has a factor of 0: leave a dead channel out (without)")
    return tuple(array.tolist())


def _pull(value: Any) -> Any:
    """A force and the point that it acts at; that of a force alone is the origin."""
    found = _vector(value, "external_force", None)
    if isinstance(found, tuple) and len(found) not in (3, 6):
        raise InputError(
            argument="external_force",
            problem=f"must be 3 numbers, or 6 with the point it acts at, or 'estimate', got {len(found)}",
        )
    return found


def _or_estimate(name: str) -> str:
    return " or 'estimate'" if name in ESTIMABLE else ""


def _scalar(value: Any, name: str) -> float | Estimated | None:
    if value is None or (value == ESTIMATE and name in ESTIMABLE):
        return ESTIMATE if value == ESTIMATE else None
    if isinstance(value, str | bool) or not math.isfinite(value):
        raise InputError(argument=name, value=value, expected=f"a finite number{_or_estimate(name)}")
    return float(value)


def _axes(value: Sequence[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(value)
    for name in names:
        if name not in AXES:
            raise UnknownNameError("axis of the sensor", str(name), AXES, argument="wrench_axes")
    parts = [names[:3], names[3:]] if len(names) == 6 else [names]
    if any(len(part) != 3 or {name[-1] for name in part} != set("xyz") for part in parts):
        raise InputError(
            argument="wrench_axes",
            problem=f"must name x, y and z once each, or once of the forces and once of the torques, got "
            f"{' '.join(names)}",
        )
    return names


def _order(value: Iterable[int] | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    order = tuple(int(index) for index in value)
    if sorted(order) != list(range(len(order))):
        raise InputError(
            argument="joint_order",
            problem=f"must be each of 0 to {len(order) - 1} once, got {' '.join(map(str, order))}",
        )
    return order


def _signs(value: Iterable[float] | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    signs = tuple(value)
    if any(sign not in (1, -1) for sign in signs):
        raise InputError(
            argument="joint_sign", problem=f"must be 1 or -1 for each joint, got {' '.join(map(str, signs))}"
        )
    return tuple(int(sign) for sign in signs)


def _intervals(value: Iterable[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    found = []
    for interval in value:
        start, stop = as_float_array(interval, "exclude", (2,)).tolist()
        if not start < stop:
            raise InputError(
                argument="exclude", problem=f"must be from an earlier time to a later one [s], got {start:g} {stop:g}"
            )
        found.append((start, stop))
    return tuple(sorted(found))


def _delays(value: Iterable[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    found = sorted(tuple(as_float_array(pair, "delays", (2,)).tolist()) for pair in value)
    if len({time for time, _ in found}) < len(found):
        raise InputError(argument="delays", problem="has two for one time")
    return tuple((time, delay) for time, delay in found)


def _same_kind(one: Correction, other: Correction) -> bool:
    """Whether both rename axes and no more, or both have a factor for each channel and no more."""
    axes = [each.wrench_axes is not None for each in (one, other)]
    factors = [np.shape(each.wrench_scale or ()) == (6,) for each in (one, other)]
    scaled = [each.wrench_scale is not None for each in (one, other)]
    return (all(axes) and not any(scaled)) or (all(factors) and not any(axes))


def _axis_names(turn: FloatArray) -> tuple[str, ...]:
    """Which axis of a sensor, with its sign, each row of a (3, 3) turn is."""
    return tuple(AXES[int(np.argmax([*row, *-row]))] for row in turn)


def _unit(axis: str) -> FloatArray:
    return np.asarray((-1.0 if axis[0] == "-" else 1.0) * np.eye(3)["xyz".index(axis[-1])])


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
