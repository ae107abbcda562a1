"""JSON with every digit that people can read too: a list of numbers on one line, a list of sentences line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_text(document: Mapping[str, Any]) -> str:
    """``document`` as JSON, with a newline at its end."""
    return _text(document, "") + "\n"


def _text(value: Any, indent: str) -> str:
    inner = f"{indent} "
    if isinstance(value, Mapping):
        return _lines("{}", [f"{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items()], indent)
    if isinstance(value, list) and any(isinstance(item, str | list) for item in value):
        return _lines("[]", [_text(item, inner) for item in value], indent)
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _lines(brackets: str, items: list[str], indent: str) -> str:
    inside = ",\n".join(f"{indent} {item}" for item in items)
    return f"{brackets[0]}\n{inside}\n{indent}{brackets[1]}"
