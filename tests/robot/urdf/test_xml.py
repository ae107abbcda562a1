"""Files that are no URDF, broken or hostile, are refused at once, without reading what they point at."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from iparam.errors import FileFormatError, IparamError, RobotModelError
from iparam.robot import load_robot
from iparam.robot.urdf.xml import MAX_BYTES

LAUGHS = "".join(f'<!ENTITY lol{i} "{f"&lol{i - 1};" * 10}">' for i in range(1, 12))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def to_file(content: str | bytes) -> Path:
        path = tmp_path / "arm.urdf"
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return to_file


@pytest.mark.parametrize(
    "content",
    [
        f'<!DOCTYPE robot [<!ENTITY lol0 "lol">{LAUGHS}]><robot name="&lol11;"/>',
        f'<!DOCTYPE robot [<!ENTITY a "{"x" * 100_000}">]><robot name="{"&a;" * 10_000}"/>',
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "secret.txt">]><robot name="a"><link name="&x;"/></robot>',
        '<!DOCTYPE robot [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]><robot name="a"/>',
        '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="a"/>',
        '<!DOCTYPE robot><robot name="a"><link name="base"/></robot>',
    ],
    ids=["billion laughs", "quadratic blow-up", "external entity", "parameter entity", "external DTD", "DTD"],
)
def test_definitions_and_entities_are_refused_quickly(content: str, write: Callable[[str], Path]) -> None:
    path = write(content)
    (path.parent / "secret.txt").write_text("TOP-SECRET", encoding="utf-8")
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(FileFormatError, match="refused for safety") as caught:
        load_robot(path)
    elapsed, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "TOP-SECRET" not in str(caught.value)
    assert elapsed < 2.0
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (b"hello", "not well-formed"),
        (b"<robot name='a'>", "not well-formed"),
        (b"<robot name='a'><link></robot>", "not well-formed"),
        (b"<robot name='a' name='b'/>", "not well-formed"),
        (b"\x00\x01\x02\xff", "not well-formed"),
        (b"\xff\xfe\x00", "not well-formed"),
        (b"<?xml version='1.0' encoding='klingon'?><robot name='a'/>", "not well-formed"),
        (b"<?xml version='1.0' encoding='utf-8'?><robot name='\xe4'/>", "not well-formed"),
        (b"<robot name='a'>&undefined;</robot>", "not well-formed"),
        (b"<sdf version='1.9'/>", "Gazebo's SDF"),
        (b"<html/>", "root element is <html>, expected <robot>"),
        (b"<robot/>", "has no <link>"),
        (b"<robot name='a'/>", "has no <link>"),
        (b"<robot name='a' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:arm/></robot>", "run xacro first"),
        (b"<robot name='a' xmlns:xacro='http://wiki.ros.org/xacro'><xacro:arm/></robot>", "run xacro first"),
        (b"<robot name='a'><xacro:include filename='b'/></robot>", "declare xmlns:xacro"),
        (b"solid mesh\nfacet normal 0 0 1\n", "not well-formed"),
    ],
)
def test_what_is_no_urdf_is_said_to_be_what_it_is(content: bytes, message: str, write: Callable[[bytes], Path]) -> None:
    with pytest.raises((FileFormatError, RobotModelError), match=message) as caught:
        load_robot(write(content))
    assert "arm.urdf" in str(caught.value)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.urdf"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES * 100)
    with pytest.raises(FileFormatError, match="larger than 20 MB"):
        load_robot(path)


def test_utf16_and_a_byte_order_mark_are_read(write: Callable[[bytes], Path]) -> None:
    text = (
        '<robot name="möbius"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    for encoding in ("utf-8-sig", "utf-16"):
        assert load_robot(write(text.encode(encoding))).name == "möbius"


def test_deep_nesting_is_no_recursion_error(write: Callable[[str], Path]) -> None:
    with pytest.raises(IparamError, match="no <link>"):
        load_robot(write("<robot name='a'>" + "<x>" * 100_000 + "</x>" * 100_000 + "</robot>"))


@pytest.mark.thorough
def test_long_chains_and_wide_trees_take_linear_time(write: Callable[[str], Path]) -> None:
    count = 5_000
    links = "".join(f'<link name="l{i}"/><link name="s{i}"/>' for i in range(count))
    joints = "".join(
        f'<joint name="j{i}" type="{"continuous" if i == 1 else "fixed"}">'
        f'<parent link="l{i - 1}"/><child link="l{i}"/></joint>'
        f'<joint name="k{i}" type="fixed"><parent link="l{i}"/><child link="s{i}"/></joint>'
        for i in range(1, count)
    )
    first = '<joint name="k0" type="fixed"><parent link="l0"/><child link="s0"/></joint>'
    path = write(f'<robot name="comb">{links}{first}{joints}</robot>')
    start = time.process_time()
    with pytest.raises(RobotModelError, match="branches"):
        load_robot(path)
    robot = load_robot(path, tip=f"l{count - 1}")
    assert time.process_time() - start < 20.0
    assert len(robot.frames) == 2 * count
