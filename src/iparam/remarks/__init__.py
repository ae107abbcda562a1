"""Remarks: what a stage has to say about data, a plan or a result. Each code has one severity and one message.

Nothing in the program decides by a message: it looks at the code, the severity and the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iparam.errors import FileFormatError, UnknownNameError
from iparam.fixes import Plain, fix_text, fix_words, plain
from iparam.remarks.of_loads import OF_LOADS
from iparam.remarks.of_motions import OF_MOTIONS
from iparam.remarks.of_nodes import OF_NODES
from iparam.remarks.of_recordings import OF_RECORDINGS
from iparam.remarks.of_runs import OF_RUNS
from iparam.remarks.remark import Kind, Remark, Severity, messages

__all__ = [
    "CODES",
    "Kind",
    "Plain",
    "Remark",
    "Severity",
    "fix_text",
    "fix_words",
    "messages",
    "plain",
    "read_remark",
    "remark",
]

CODES: dict[str, Kind] = {**OF_RECORDINGS, **OF_MOTIONS, **OF_LOADS, **OF_RUNS, **OF_NODES}
"""The severity and the message of every code."""


def remark(
    code: str, severity: Severity | None = None, /, *, fix: Mapping[str, Any] | None = None, **values: Any
) -> Remark:
    """The remark of a code with its values.

    Args:
        code: from `CODES`.
        severity: that it has here, where that is not the usual one.
        fix: see `Remark`.
        values: all that the message names.
    """
    if code not in CODES:
        raise UnknownNameError("remark", code, CODES)
    kind = CODES[code]
    held = {name: plain(value) for name, value in values.items()}
    changes = None if fix is None else {name: plain(value) for name, value in fix.items()}
    return Remark(code, severity or kind.severity, kind.template.format(**held), held, changes)


def read_remark(document: object, source: str) -> Remark:
    """What `Remark.to_document` gave, from a file.

    A code that this version does not know may mean anything: it is at least a doubt.

    Args:
        document: of one remark.
        source: the file, for messages.
    """
    entry: Any = document
    try:
        code, severity, message = str(entry["code"]), Severity(entry["severity"]), str(entry["message"])
        values, fix = {str(name): plain(value) for name, value in dict(entry["values"]).items()}, entry["fix"]
        changes = None if fix is None else {str(name): plain(value) for name, value in dict(fix).items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise FileFormatError(
            f"{source}: each of remarks must have code, severity ({', '.join(Severity)}), message, values and fix"
        ) from None
    if code not in CODES and severity in (Severity.INFO, Severity.CORRECTED):
        severity = Severity.DOUBT
    return Remark(code, severity, message, values, changes)
