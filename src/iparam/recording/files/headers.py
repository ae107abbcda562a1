"""What the headers of a table say: the name of each column, in whatever case, and the unit that stands behind it, as in
``q0 [deg]``, ``Time (ms)`` or ``fx_N``; names of other programs too, see `usual_columns`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from iparam.errors import ContradictionError
from iparam.recording.channels import CHANNELS, signal_of_column
from iparam.recording.files.usual_names import usual_columns
from iparam.recording.units import QUANTITIES, UNITS, plain_unit
from iparam.remarks import Remark, remark

_OPENING = {"]": "[", ")": "("}
_SLIDING = {
    "angle": {"m": 1.0, "mm": 1e-3},
    "angular velocity": {"m/s": 1.0, "mm/s": 1e-3},
    "angular acceleration": {"m/s2": 1.0, "mm/s2": 1e-3},
    "torque": {"N": 1.0},
}
"""What columns of joints are in if a joint slides."""

_NO_SUFFIX = ("g", "mg", "min")
"""Units that a name may end in for another reason: ax_g, with gravity; time_min, the least."""

_SUFFIXED = [sizes for quantity, sizes in UNITS.items() if quantity != "ratio"]


@dataclass(frozen=True)
class Headers:
    """The columns of a table.

    Attributes:
        names: that a recording has for them; what says nothing is as it was.
        units: by name, of those that state one; every one is known.
        usual: by name, the headers of those that were understood though they are named as other programs do.
    """

    names: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    usual: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def notes(self) -> tuple[Remark, ...]:
        """A remark on what was understood by a usual name."""
        groups: dict[str, list[str]] = {}
        for column in sorted(self.usual, key=lambda name: signal_of_column(name) or ("", 0)):
            own = signal_of_column(column)
            groups.setdefault(column if own is None else own[0], []).append(self.usual[column])
        parts = [f"{name} = {own[0]}" + (f" to {own[-1]}" if len(own) > 1 else "") for name, own in groups.items()]
        return (remark("usual-names", columns=", ".join(parts)),) if parts else ()


def bare_header(header: str) -> tuple[str, str]:
    """A header without the unit that it has in brackets, and that unit; "" for none. A number in them is an index."""
    text = header.strip()
    opening = text.rfind(_OPENING[text[-1]]) if text[-1:] in _OPENING else -1
    unit = text[opening + 1 : -1].strip()
    return (text, "") if opening < 1 or unit.isdigit() else (text[:opening].rstrip(), unit)


def read_headers(headers: Sequence[str], source: str) -> Headers:
    """The names and units that headers state on their own.

    Args:
        headers: of the file.
        source: it, for messages.
    """
    found = [_parted(header, source) for header in headers]
    # Upper case means the same only where lower case does not stand beside it, as tx does beside Tx.
    counts = Counter(name for name, _ in found)
    names = [
        header.strip() if counts[name] > 1 and name != header.strip() and header.strip().lower() == name else name
        for header, (name, _) in zip(headers, found, strict=True)
    ]
    if "time" not in names and names.count("t") == 1:
        names[names.index("t")] = "time"
    return Headers(tuple(names), {name: unit for name, (_, unit) in zip(names, found, strict=True) if unit})


def with_usual_names(own: Headers, headers: Sequence[str], source: str) -> Headers:
    """What headers say by the names that other programs use, beside what they say otherwise.

    Args:
        own: what else they say.
        headers: of the file.
        source: it, for messages.
    """
    pairs = list(zip(own.names, headers, strict=True))
    usual = usual_columns([_bare(name) if name == header.strip() else name for name, header in pairs])
    names, units = list(own.names), dict(own.units)
    for place in usual:
        units.pop(names[place], None)
    for place, column in usual.items():
        names[place] = column
        if unit := unit_of_header(column, headers[place], source):
            units[column] = unit
    told = {column: headers[place].strip() for place, column in usual.items() if column != "time"}
    return Headers(tuple(names), units, told)


def _bare(header: str) -> str:
    """A header without its unit, in brackets or as the last of its words."""
    text, unit = bare_header(header)
    before, _, last = text.rpartition("_")
    stands = not unit and plain_unit(last) not in _NO_SUFFIX
    return before if before and stands and any(plain_unit(last) in sizes for sizes in _SUFFIXED) else text


def unit_of_header(name: str, header: str, source: str) -> str:
    """The unit that a header states for a column of a recording, as `UNITS` spells it; "" if it states none.

    Args:
        name: of the column: ``time``, ``q0``, ``fx``.
        header: that the file has for it.
        source: the file, for messages.

    Raises:
        ContradictionError: that unit is not known.
    """
    sizes = _sizes(name)
    unit = bare_header(header)[1]
    if not sizes:
        return ""
    if plain_unit(unit):
        if plain_unit(unit) not in sizes:
            raise ContradictionError(
                f"{source}: the column {header!r} is in {unit!r}, which is not known for {name}; units that can be "
                f"converted: {', '.join(sizes)}. Convert its values, and rename it"
            )
        return plain_unit(unit)
    suffix = plain_unit(header.strip().rpartition("_")[2])
    return suffix if suffix in sizes and suffix not in _NO_SUFFIX else ""


def column_size(name: str, unit: str) -> float:
    """What the numbers of a column are multiplied with to be SI, by a unit that `unit_of_header` gave."""
    return _sizes(name)[unit]


def _parted(header: str, source: str) -> tuple[str, str]:
    text = header.strip()
    if _sizes(text):
        return text, ""
    if (name := _column(bare_header(text)[0])) is not None:
        return name, unit_of_header(name, text, source)
    if (name := _column(text.rpartition("_")[0])) is not None and (unit := unit_of_header(name, text, source)):
        return name, unit
    return text, ""


def _column(text: str) -> str | None:
    """The column of a recording that a text names, in any case."""
    return next((name for name in (text, text.lower()) if _sizes(name)), None)


def _sizes(name: str) -> Mapping[str, float]:
    """The units that a column may be in, and their sizes in SI; none if it has no fixed meaning."""
    if name in ("time", "t"):
        return UNITS["time"]
    place = signal_of_column(name)
    if place is None or place[0] not in CHANNELS:
        return {}
    channel, quantities = CHANNELS[place[0]], QUANTITIES[place[0]]
    part = place[1] * len(quantities) // len(channel.columns) if len(quantities) > 1 else 0
    return {**UNITS[quantities[part]], **(_SLIDING.get(quantities[0], {}) if channel.frame == "joint" else {})}
