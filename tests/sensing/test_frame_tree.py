"""Where a sensor's frame is, by transforms that others publish."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.sensing.frame_tree import MOST, OFTEN, FrameTree
from iparam.spatial import transform_from

STRAIGHT = (0.0, 0.0, 0.0, 1.0)
QUARTER = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))
TOOL = {"tool0": np.eye(4), "flange": transform_from(np.eye(3), [0.0, 0.0, -0.1])}
MOVING = ("wrist_3_link", "base_link")


def test_a_chain_of_static_transforms_is_followed_up_and_down() -> None:
    tree = FrameTree()
    tree.add("flange", "adapter", (0.0, 0.0, 0.02), QUARTER, static=True)
    tree.add("/adapter", "/ft", (0.01, 0.0, 0.0), STRAIGHT, static=True)
    found = tree.locate("/ft", TOOL, MOVING)
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(found, transform_from(turned, [0.0, 0.01, -0.08]), atol=1e-12)
    above = FrameTree()
    above.add("ft", "tool0", (0.0, 0.0, 0.03), STRAIGHT, static=True)  # the sensor carries the tool's frame
    np.testing.assert_allclose(above.locate("ft", TOOL, MOVING), transform_from(np.eye(3), [0.0, 0.0, -0.03]))


def test_a_sensor_behind_a_joint_is_not_found_even_while_the_arm_stands_still() -> None:
    tree = FrameTree()
    tree.add("wrist_3_link", "ft", (0.0, 0.0, 0.1), STRAIGHT, static=True)
    for _ in range(3 * OFTEN):
        tree.add("wrist_3_link", "tool0", (0.0, 0.0, 0.1), STRAIGHT, static=False)
    assert tree.locate("ft", TOOL, MOVING) is None
    assert tree.locate("nowhere", TOOL, MOVING) is None


def test_a_transform_that_could_change_counts_when_it_does_not() -> None:
    tree = FrameTree()
    for _ in range(OFTEN - 1):
        tree.add("tool0", "ft", (0.0, 0.0, 0.1), STRAIGHT, static=False)
    assert tree.locate("ft", TOOL, MOVING) is None
    tree.add("tool0", "ft", (0.0, 0.0, 0.1), STRAIGHT, static=False)
    assert tree.locate("ft", TOOL, MOVING) is not None
    tree.add("tool0", "ft", (0.0, 0.0, 0.2), STRAIGHT, static=False)
    assert tree.locate("ft", TOOL, MOVING) is None


@pytest.mark.parametrize(
    ("place", "turn"), [((np.nan, 0.0, 0.0), STRAIGHT), ((0.0,) * 3, (0.0,) * 4), ((0.0,) * 3, (1.0, 1.0, 0.0, 0.0))]
)
def test_what_is_no_transform_is_refused(place: tuple[float, ...], turn: tuple[float, ...]) -> None:
    tree = FrameTree()
    with pytest.raises(InputError, match="'tool0' to 'ft' is none"):
        tree.add("tool0", "ft", place, turn, static=True)
    with pytest.raises(InputError, match="is none"):
        tree.add("ft", "ft", (0.0,) * 3, STRAIGHT, static=True)


def test_loops_end_and_names_without_end_are_not_kept() -> None:
    tree = FrameTree()
    for parent, child in (("a", "b"), ("b", "c"), ("c", "a")):
        tree.add(parent, child, (0.0, 0.0, 0.1), STRAIGHT, static=True)
    assert tree.locate("a", TOOL, MOVING) is None
    for k in range(MOST + 10):
        tree.add("a", f"x{k}", (0.0,) * 3, STRAIGHT, static=True) if k % 100 == 0 or k > MOST else None
    assert len(tree.frames) < MOST
