"""Starting a node: what it is given to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from iparam.bridges.ros2.start import NODES, run_node
from iparam.errors import InputError


@pytest.mark.parametrize("name", NODES)
def test_a_parameter_file_that_ros_would_read_for_minutes_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    with pytest.raises(InputError, match=r"600001 bytes, more than the 262144 .* in a file of their own"):
        run_node(name, ["--ros-args", "--params-file", str(path)])


def test_a_device_is_no_parameter_file() -> None:
    with pytest.raises(InputError, match="--params-file /dev/zero is not a file"):
        run_node("identify", ["--ros-args", "--params-file", "/dev/zero"])
