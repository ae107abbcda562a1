"""The one reader and the one writer of JSON documents; what they refuse is tested with the formats too."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import iparam
from iparam.errors import FileFormatError
from iparam.files.json import MAX_BYTES, json_line, parse_json, read_json, write_json

SOURCES = Path(iparam.__file__).parent

# Line protocols between our own processes, and single values in texts for people, for terminals and in YAML.
OTHER_USERS = {
    "bridges/ur/run/command_client.py",
    "bridges/ur/run/command_process.py",
    "cli/console/printing.py",
    "export/ros2.py",
    "fleet/identify.py",
    "report/sections/provenance.py",
}


def test_a_document_is_written_as_the_json_module_would_and_read_back(tmp_path: Path) -> None:
    document = {
        "format": "x/1",
        "name": "Gerät",
        "values": [0.1, 1e-300, -0.0],
        "none": None,
        "inner": {"a": [[1], []]},
    }
    path = tmp_path / "document.json"
    write_json(path, document)
    assert path.read_text(encoding="ascii") == json.dumps(document, indent=1) + "\n"
    assert read_json(path).content == document
    assert parse_json(json_line(document), "it") == document
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"value": float("nan")})
    assert read_json(path).content == document


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "a": 2}', "^it is not JSON that can be read: the key 'a' is there more than once"),
        (b'[{"a": [NaN]}]', "^it is not JSON that can be read: it holds NaN, which is no number"),
        (b'{"a": 1e999}', "the number 1e999 is too large"),
        (b"\xff{}", "^it is not UTF-8 text, so it is no JSON"),
        (b"[" * 100_000, "^it is nested too deeply"),
        ("{", "^it is not JSON that can be read: "),
    ],
)
def test_refusals(data: bytes | str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        parse_json(data, "it")


def test_a_file_is_read_up_to_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(FileFormatError, match=r"long\.json is larger than 50 MB, the most that is read$"):
        read_json(path)
    with pytest.raises(FileFormatError, match=r"larger than 1 MB, the most that is read$"):
        read_json(path, 1_000_000)


def test_nobody_else_reads_or_writes_json_documents() -> None:
    users = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if "json" in names or (isinstance(node, ast.ImportFrom) and node.module == "json"):
                users.add(path.relative_to(SOURCES).as_posix())
    assert users == OTHER_USERS | {"files/json.py"}
