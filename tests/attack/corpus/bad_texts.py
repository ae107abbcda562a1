"""What can be wrong inside a text: JSON, tables, URDF, a bag's metadata, OBJ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from attack.corpus.hostile import HOSTILE


# --------------------------------------------------------------------------------------------------------- JSON
def each_leaf(node: Any, change: Callable[[Any], Any]) -> Any:
    """A JSON document with every number, text, truth value and null changed."""
    if isinstance(node, dict):
        return {key: each_leaf(value, change) for key, value in node.items()}
    if isinstance(node, list):
        return [each_leaf(value, change) for value in node]
    return change(node)


def _each_list(node: Any, change: Callable[[list[Any]], Any]) -> Any:
    if isinstance(node, dict):
        return {key: _each_list(value, change) for key, value in node.items()}
    return change([_each_list(value, change) for value in node]) if isinstance(node, list) else node


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def bad_json(contents: bytes) -> Iterator[tuple[str, bytes]]:
    document = json.loads(contents)
    for value in (0, -1, 1e308, -1e308, 5e-324, 2**63, True, None, "1", [1.0], {"a": 1}, HOSTILE):
        changed = each_leaf(document, lambda leaf, value=value: value if _is_number(leaf) else leaf)
        yield f"every number {value!r}", json.dumps(changed).encode()
    for text in ("NaN", "Infinity", "-Infinity", "1e400", "9" * 5000, "-0", "00", "1.", "0x10"):
        marked = each_leaf(document, lambda leaf: "\0number" if _is_number(leaf) else leaf)
        yield f"every number {text[:10]}", json.dumps(marked).replace('"\\u0000number"', text).encode()
    for value in ("", HOSTILE, "a\0b.urdf", "\ud800", "../../dev/zero", "x" * 100_000, 1, None, [], {}):
        changed = each_leaf(document, lambda leaf, value=value: value if isinstance(leaf, str) else leaf)
        yield f"every text {str(value)[:10]!r}", json.dumps(changed).encode()
        keyed = {key: value if isinstance(old, str) and key != "format" else old for key, old in document.items()}
        yield f"every text but the format {str(value)[:10]!r}", json.dumps(keyed).encode()
    for name, change in (
        ("empty", lambda items: []),
        ("cut", lambda items: items[:-1]),
        ("doubled", lambda items: items + items),
        ("deeper", lambda items: [items]),
        ("null", lambda items: None),
        ("large", lambda items: items * 20),
    ):
        yield f"every list {name}", json.dumps(_each_list(document, change)).encode()
    for key in document:
        yield f"without {key}", json.dumps({name: value for name, value in document.items() if name != key}).encode()
        alone = each_leaf(document[key], lambda leaf: -2.0 * leaf if _is_number(leaf) else leaf)
        yield f"{key} alone changed", json.dumps({**document, key: alone}).encode()
        yield f"{key} twice", json.dumps(document).encode()[:-1] + b"," + json.dumps({key: 1}).encode()[1:]
    yield "keys of an enemy", json.dumps({key + HOSTILE: value for key, value in document.items()}).encode()
    yield "more keys of an enemy", json.dumps({**document, HOSTILE: HOSTILE}).encode()
    yield "a later version", json.dumps({**document, "format": f"{document.get('format', '')}0"}).encode()
    yield "a list", json.dumps([document]).encode()
    yield "a number", b"1"


# ------------------------------------------------------------------------------------------------ tables of text
def bad_table(contents: bytes) -> Iterator[tuple[str, bytes]]:
    first, *rows = [line.split(b",") for line in contents.splitlines()]
    header = [] if b"." in first[0] else [first]
    rows = rows if header else [first, *rows]

    def table(rows: list[list[bytes]], header: list[list[bytes]] = header) -> bytes:
        return b"\n".join(b",".join(row) for row in [*header, *rows]) + b"\n"

    for value in (
        "nan",
        "inf",
        "-inf",
        "1e308",
        "1e309",
        "0",
        "-1",
        "",
        "x",
        "1,5",
        HOSTILE,
        "9" * 400,
        "１",
        "1_0",
        "0x1",
    ):
        text = value.encode("utf-8", "surrogateescape")
        yield f"a column of {value[:10]!r}", table([[*row[:3], text, *row[4:]] for row in rows])
        yield f"times of {value[:10]!r}", table([[text, *row[1:]] for row in rows])
        yield f"nothing but {value[:10]!r}", table([[text] * len(row) for row in rows])
    yield "backwards in time", table(rows[::-1])
    yield "every row twice", table([row for row in rows for _ in range(2)])
    yield "one row", table(rows[:1])
    yield "two rows", table(rows[:2])
    yield "no rows", table([])
    yield "rows of different lengths", table([row[: 1 + place % len(row)] for place, row in enumerate(rows)])
    yield "ten thousand columns", table([[*row, *[b"0"] * 10_000] for row in rows[:3]])
    yield "quotes", table([[b'"' + value + b'"' for value in row] for row in rows])
    yield "a quote that does not end", table([[b'"' + rows[0][0], *rows[0][1:]], *rows[1:]])
    yield "semicolons", table(rows).replace(b",", b";")
    yield "times of a year", table([[repr(float(row[0]) * 1e10).encode(), *row[1:]] for row in rows])
    yield "times of an age", table([[repr(float(row[0]) * 1e300).encode(), *row[1:]] for row in rows])
    if not header:
        return
    names = header[0]
    for place, name in (
        (1, names[2]),
        (1, b"q-1"),
        (1, b"q7"),
        (1, b"q999999999"),
        (1, b"q" + b"9" * 400),
        (1, HOSTILE.encode()),
        (1, b"\xff\xfe"),
        (1, b""),
        (1, "q٣".encode()),
        (0, b"Time"),
        (0, b"q0"),
        (0, HOSTILE.encode()),
    ):
        yield f"column {place} called {name[:12]!r}", table(rows, [[*names[:place], name, *names[place + 1 :]]])
    yield (
        "columns of an enemy beside the others",
        table([[*row, b"0"] for row in rows], [[*names, HOSTILE.encode().replace(b"\r", b"")]]),
    )
    yield "names only", table(rows, [[name + HOSTILE.encode().replace(b"\r", b"") for name in names]])
    yield "no names", table(rows, [])


# --------------------------------------------------------------------------------------------------------- URDF
def bad_mjcf(contents: bytes) -> Iterator[tuple[str, bytes]]:
    """What can be wrong in an MJCF: what is wrong in a URDF, and small numbers that stand for much."""
    yield from bad_urdf(contents)
    text = contents.decode()

    def with_world(elements: str) -> bytes:
        return text.replace("<worldbody>", f"<worldbody>{elements}").encode()

    def with_asset(elements: str) -> bytes:
        return text.replace("<worldbody>", f"<asset>{elements}</asset><worldbody>").encode()

    field = '<hfield name="h" nrow="{0}" ncol="{0}" size="1 1 1 1"/>'
    yield "a large height field", with_asset(field.format(12_000))
    yield "a huge height field", with_asset(field.format(2**31 - 1))
    grid = '<body><flexcomp name="f" type="grid" dim="3" count="{0} {0} {0}" spacing="0.1 0.1 0.1"/></body>'
    yield "a large grid", with_world(grid.format(300))
    copies = '<geom size="1"/>'
    for _ in range(8):
        copies = f'<replicate count="100" offset="1 0 0">{copies}</replicate>'
    yield "copies of copies", with_world(copies)
    yield "a huge number of copies", with_world('<replicate count="2147483647"><geom size="1"/></replicate>')
    yield "a large texture", with_asset('<texture name="t" type="2d" builtin="flat" width="20000" height="20000"/>')
    for file in ("/dev/zero", "/dev/stdin", "/proc/self/mem", "../arm.xml", "arm.xml", ".", "/"):
        yield f"an include of {file}", with_world(f'<include file="{file}"/>')
        yield f"a mesh from {file}", with_asset(f'<mesh name="m" file="{file}" content_type="model/stl"/>')
        yield f"a height field from {file}", with_asset(f'<hfield name="h" file="{file}" size="1 1 1 1"/>')


def bad_urdf(contents: bytes) -> Iterator[tuple[str, bytes]]:
    """What can be wrong in a URDF; most of it in any description in XML."""
    text = contents.decode()
    body = text.partition("?>")[2]
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    for name, doctype, entity in (
        ("a billion laughs", f'<!DOCTYPE robot [<!ENTITY l0 "lol">{laughs}]>', "&l9;"),
        ("an entity from a file", '<!DOCTYPE robot [<!ENTITY f SYSTEM "file:///etc/passwd">]>', "&f;"),
        ("an entity from a device", '<!DOCTYPE robot [<!ENTITY f SYSTEM "file:///dev/zero">]>', "&f;"),
        ("a definition from the network", '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd">', ""),
        ("a long entity many times", f'<!DOCTYPE robot [<!ENTITY l "{"x" * 100_000}">]>', "&l;" * 10_000),
    ):
        start, _, end = body.strip().rpartition("</")
        yield name, f"{doctype}{start}{entity}</{end}".encode()
    for encoding in ("utf-16", "no-such-encoding", "utf-7", "idna", "hex"):
        yield f"encoding {encoding}", f'<?xml version="1.0" encoding="{encoding}"?>{body}'.encode()
    for value in ("nan", "inf", "-1", "0", "1e308", "-1e308", "1e-320", "1e400", "", "1 2 3 4", "${x}", "١", "0x1"):
        yield f"every number {value!r}", _with_attributes(text, value)
    for name in ("mass", "ixx", "xyz", "rpy", "lower", "upper", "velocity", "effort"):
        for value in ("1e308", "-1e308", "1e150", "0", "1e-300"):
            numbers = " ".join([value] * 3) if name in ("xyz", "rpy") else value
            yield f"{name} {value}", re.sub(rf'{name}( value)?="[^"]*"', rf'{name}\1="{numbers}"', text).encode()
    turned = "\x9b31m\u202e\x7f"  # XML has no escape
    yield "names of an enemy", re.sub(r'(name|link)="', rf'\1="{turned}', text).encode()
    yield "one name for all", re.sub(r'name="[^"]*"', 'name="a"', text).encode()
    yield "no names", re.sub(r'name="[^"]*"', 'name=""', text).encode()
    yield "every link its own child", re.sub(r'<(parent|child) link="[^"]*"', r'<\1 link="base"', text).encode()
    yield "no axes", re.sub(r'<axis xyz="[^"]*"', '<axis xyz="0 0 0"', text).encode()
    for kind in ("prismatic", "floating", "planar", "fixed", "", "x"):
        yield f"joints {kind!r}", re.sub(r'type="[^"]*"', f'type="{kind}"', text).encode()
    joint = '<link name="l{0}"/><joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/></joint>'
    chain = "".join(joint.format(i, i - 1) for i in range(1, 3000))
    yield "three thousand joints", f'<robot name="long"><link name="l0"/>{chain}</robot>'.encode()
    yield (
        "a star of joints",
        f'<robot name="star"><link name="l0"/>{"".join(joint.format(i, 0) for i in range(1, 1000))}</robot>'.encode(),
    )
    yield (
        "a ring of joints",
        f'<robot name="ring">{"".join(joint.format(i, (i + 1) % 5) for i in range(5))}</robot>'.encode(),
    )
    yield (
        "macros",
        text.replace("<robot", '<robot xmlns:xacro="http://wiki.ros.org/xacro"').replace("link", "xacro:link").encode(),
    )


def _with_attributes(text: str, value: str) -> bytes:
    number = r"-?[\d.]+(?:e-?\d+)?"
    return re.sub(
        rf'="{number}(?: {number})*"', lambda m: '="' + " ".join([value] * len(m[0].split())) + '"', text
    ).encode()


# ------------------------------------------------------------------------------------------- metadata of a bag
def bad_stage(contents: bytes) -> Iterator[tuple[str, bytes]]:
    """What can be wrong in a USD stage."""
    text = contents.decode()
    for value in ("nan", "-1", "0", "1e308", "1e-320", "1e400", "(1, 2)", "@/dev/zero@"):
        for name in ("metersPerUnit", "physics:mass", "physics:centerOfMass", "physics:diagonalInertia"):
            whole = f"({value}, {value}, {value})" if f"{name} = (" in text else value
            yield f"{name} {value}", re.sub(rf"{name} = (\([^)]*\)|\S+)", f"{name} = {whole}", text).encode()
    head, tool, apis = "defaultPrim", 'def Xform "tool0"', "prepend apiSchemas"
    yield "names of an enemy", text.replace('"wrist"', '"wr\x1b[31m\u202eist"').encode()
    yield "no rigid body", text.replace("PhysicsRigidBodyAPI", "PhysicsNothingAPI").encode()
    yield "a stage below itself", text.replace(head, f"subLayers = [@./stage.usda@]\n    {head}").encode()
    yield "a device below it", text.replace(head, f"subLayers = [@/dev/zero@]\n    {head}").encode()
    yield "a reference to nothing", text.replace(tool, f"{tool} (references = @./no.usda@)").encode()
    yield "a prim in itself", text.replace(tool, f"{tool} (references = </arm>)").encode()
    yield "instanceable", text.replace(apis, f"instanceable = true\n        {apis}").encode()
    body = 'def "b{0}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{}}\n'
    yield "many bodies", (text + "".join(body.format(place) for place in range(3000))).encode()


def bad_metadata(contents: bytes) -> Iterator[tuple[str, bytes]]:
    text = contents.decode()
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
    )
    yield "an alias bomb", (bomb + text).encode()
    yield (
        "an alias bomb as file names",
        (bomb + re.sub(r"relative_file_paths:\n(\s+- .*\n)+", "relative_file_paths: *a9\n", text)).encode(),
    )
    yield "an alias of itself", b"rosbag2_bagfile_information: &a\n  relative_file_paths: *a\n  message_count: *a\n"
    yield "keys that are an alias", b"? &a [*a]\n: 1\n"
    for key in ("relative_file_paths", "message_count", "custom_data"):
        for value in (
            "x",
            "",
            "1",
            "-1",
            "1e400",
            "[]",
            "{}",
            "[[1]]",
            "{a: b}",
            "{1: 2}",
            "null",
            "true",
            "9" * 5000,
            "2001-01-01",
            "!!python/object/apply:os.system ['touch owned']",
            "!!binary x",
            "../../../etc/passwd",
            "[../../etc/passwd, /dev/zero]",
            '"\\e]0;owned\\a\\x9b31m"',
            '["\\e]0;owned\\a.db3"]',
            '{"\\e]0;owned": "\\e[31m"}',
        ):
            entry = re.compile(rf"(\s{key}:).*\n((\s+- .*|    .*)\n)*")
            changed, count = entry.subn(lambda found, value=value: f"{found[1]} {value}\n", text)
            yield f"{key}: {value[:30]}", (changed if count else f"{text}  {key}: {value}\n").encode()
    yield "nested lists", b"[" * 5000
    yield "nested lists in lines", b"".join(b" " * i + b"-\n" for i in range(2000))
    yield "two documents", contents + b"---\n" + contents
    yield "a tab", contents.replace(b"  ", b"\t")
    yield "a control character", contents + b"  x: \x1b\n"
    yield "bytes that are no text", contents + b"  x: \xff\n"


# ------------------------------------------------------------------------------------------------------- meshes
def bad_obj(contents: bytes) -> Iterator[tuple[str, bytes]]:
    lines = contents.decode().splitlines()
    for face in (
        "1 2 99",
        "0 0 0",
        "-1 -2 -99",
        "1 2",
        "1",
        "",
        "1/ 2/ 3/",
        "1//1 2//2 3//3",
        "9" * 30 + " 1 2",
        "1.5 2 3",
        "a b c",
        "nan 1 2",
    ):
        yield f"a face {face[:12]!r}", "\n".join([*lines, f"f {face}"]).encode()
        yield (
            f"faces {face[:12]!r}",
            "\n".join(f"f {face}" if line.startswith("f ") else line for line in lines).encode(),
        )
    for vertex in (
        "nan nan nan",
        "inf 0 0",
        "1e308 1e308 -1e308",
        "0 0 0",
        "1 2",
        "",
        "a b c",
        "1e-320 0 0",
        "1 2 3 4 5 6 7",
    ):
        yield (
            f"vertices {vertex!r}",
            "\n".join(f"v {vertex}" if line.startswith("v ") else line for line in lines).encode(),
        )
        yield f"a vertex {vertex!r}", "\n".join([f"v {vertex}", *lines]).encode()
    for word in (
        "mtllib /etc/passwd",
        "mtllib ../../x",
        "usemtl x",
        "g " + HOSTILE,
        "o",
        "l 1 2 3",
        "p 1",
        "vt 0",
        "s off",
        "call x",
    ):
        yield f"with {word[:15]!r}", "\n".join([word, *lines]).encode()
    yield "vertices only", "\n".join(line for line in lines if line.startswith("v")).encode()
    yield "an open box", "\n".join(lines[:-1]).encode()
    yield "one triangle", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    yield "a point many times", b"v 0 0 0\n" * 100 + b"f 1 2 3\n" * 100
