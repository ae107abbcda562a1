"""Which arms a description holds, and where each ends: the tool flange before the gripper, where that can be told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from iparam.errors import RobotModelError
from iparam.robot.description.tree import DescriptionTree, TreeJoint

LEAST_ARM = 4
"""Moving joints that make an arm; fewer are a leg, a head, a finger or a wheel."""

LONGEST_FINGER = 5
"""Moving joints that a finger may have."""

_FINGERS = re.compile(r"finger|thumb|jaw|knuckle|claw|hand.*_(index|middle|ring|little|pinky)", re.IGNORECASE)
_GRIPPER = re.compile(r"gripper", re.IGNORECASE)
_HAND = re.compile(r"hand|grip|palm|finger", re.IGNORECASE)
_OTHER_LIMBS = re.compile(r"head|neck|leg|hip|knee|ankle|foot|thigh|calf|wheel|caster", re.IGNORECASE)
_FLANGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"(^|[_/:\s-])tool_?0$", r"flange", r"attach", r"(^|[_/:\s-])mounting_(plate|frame)")
)
_TOOLS = re.compile(r"(^|[_/:\s-])(eef?|tcp|tool|end[_\s]?effector)([_/:\s-]|\d|$)", re.IGNORECASE)
_MOST_NAMED = 12


@dataclass(frozen=True)
class ArmCandidate:
    """An arm that a description holds.

    Attributes:
        base, tip: the links that it is cut out between.
        joints: names of those that move it, from the base.
        sure: the tip can be told from its name, or nothing else can be it.
        remark: why the tip is there, for a note; "" if there was no choice.
    """

    base: str
    tip: str
    joints: tuple[str, ...]
    sure: bool = True
    remark: str = ""


@dataclass(eq=False)
class _Body:
    """What one joint moves: a link and all that is rigidly connected to it."""

    link: str
    links: list[str]
    branches: list[tuple[TreeJoint, _Body]] = field(default_factory=list)
    height: int = 0  # moving joints, those that mimic others left out, to the farthest end


def default_arm(tree: DescriptionTree, base: str | None) -> ArmCandidate:
    """The one arm below ``base``, or else an error that offers those that there are.

    Args:
        tree: the description.
        base: link to begin at; None for the root, or for what floats in it if nothing else moves.
    """
    starts = _starts(tree) if base is None else [base]
    found = arms_of(tree, base)
    if len(found) == 1 and found[0].sure:
        return found[0]
    if len(found) > 1:
        shown = [f"base {arm.base!r} and tip {arm.tip!r} ({len(arm.joints)} joints)" for arm in found[:_MOST_NAMED]]
        more = f", and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise RobotModelError(
            f"{tree.file}: the tree of links branches into {len(found)} chains that may be the arm; say which: "
            f"{'; '.join(shown)}{more}"
        )
    ends = [end for start in starts for end in _ends(tree, start)]
    if not ends:
        for joint in tree.joints_below(tree.root if base is None else base):
            if joint.refusal:
                joint.read()
        raise RobotModelError(f"{tree.file}: no joint below {starts[0]!r} moves: this is no arm")
    listed = ", ".join(map(repr, ends[:_MOST_NAMED])) + (", ..." if len(ends) > _MOST_NAMED else "")
    raise RobotModelError(
        f"{tree.file}: the tree of links branches, so say which link is the tool. Most likely first, the ends are "
        f"{listed}; any other link may be given too",
        argument="tip",
    )


def arms_of(tree: DescriptionTree, base: str | None) -> list[ArmCandidate]:
    """The arms below ``base``, most likely first; none if no end is an arm's more than the others."""
    starts = _starts(tree) if base is None else [base]
    found = [arm for start in starts for arm in _walk(tree, start, _bodies(tree, start))]
    found.sort(key=lambda arm: any(_OTHER_LIMBS.search(name) for name in (arm.tip, *arm.joints)))
    return found


def _walk(tree: DescriptionTree, start: str, root: _Body) -> Iterator[ArmCandidate]:
    """The arms below a body: along the one long branch wherever there is one, until it ends or a hand begins."""
    waiting: list[tuple[str, _Body, list[str], bool]] = [(start, root, [], False)]
    while waiting:
        base, body, stem, chosen = waiting.pop(0)
        while True:
            branches = _continuing(tree, body) if len(stem) >= LEAST_ARM else body.branches
            next_one = [branch for branch in branches if branch[1].link == _next_name(body.link)]
            heights = [1 + child.height for _, child in branches]
            if not branches or (len(stem) >= LEAST_ARM and not next_one and _is_hand(heights)):
                grasping = [joint for joint, _ in body.branches]
                if stem:
                    yield _candidate(tree, base, body, stem, grasping, chosen)
                break
            long = [branch for branch in branches if 1 + branch[1].height >= LEAST_ARM]
            if len(branches) == 1:
                following = branches
            elif len(long) == 1:
                following = long
            elif len(stem) >= LEAST_ARM:
                following = next_one or [one for one in branches if 1 + one[1].height == max(heights)]
            else:
                following = long
            if len(following) != 1:
                waiting += [(joint.parent, child, [joint.name], True) for joint, child in following]
                break
            chosen = chosen or len(body.branches) > 1
            stem.append(following[0][0].name)
            body = following[0][1]


def _candidate(
    tree: DescriptionTree, base: str, body: _Body, stem: list[str], grasping: list[TreeJoint], chosen: bool
) -> ArmCandidate:
    """The arm that ends with ``body``, whose branches are ``grasping``; ``chosen`` among the branches before it."""
    tip = _tip(tree, body, len(stem), grasping)
    if tip is None:
        return ArmCandidate(base, body.link, tuple(stem), sure=False)
    remark = ""
    marks = [repr(link) for link in body.links if link in tree.frames and link != tip]
    if grasping:
        names = ", ".join(joint.name for joint in grasping[:4]) + (", ..." if len(grasping) > 4 else "")
        remark = f"the arm ends before what looks like a gripper ({names}), at {tip!r}; another link may be the tip"
    elif chosen or marks or tip in tree.frames or (len(_leaves(tree, body)) > 1 and not _FLANGES[0].search(tip)):
        remark = f"{tip!r} was taken for the tool; another link may be the tip"
    if marks:
        remark += f", or a frame on it: {', '.join(marks[:_MOST_NAMED])}"
    return ArmCandidate(base, tip, tuple(stem), remark=remark)


def _bodies(tree: DescriptionTree, start: str) -> _Body:
    """The bodies below ``start`` as a tree of moving joints; what cannot be held still is left out."""
    root = _Body(start, [start])
    of_link = {start: root}
    moving: list[tuple[TreeJoint, _Body]] = []
    for joint in tree.joints_below(start):
        parent = of_link.get(joint.parent)
        if parent is None or joint.refusal:
            continue
        if joint.is_fixed:
            parent.links.append(joint.child)
            of_link[joint.child] = parent
            continue
        body = _Body(joint.child, [joint.child])
        of_link[joint.child] = body
        parent.branches.append((joint, body))
        moving.append((joint, parent))
    for joint, parent in reversed(moving):  # children before parents
        if not _follows_finger(tree, joint):
            parent.height = max(parent.height, 1 + of_link[joint.child].height)
    return root


def _is_finger(tree: DescriptionTree, joint: TreeJoint) -> bool:
    return _follows_finger(tree, joint) or _named_finger(joint)


def _named_finger(joint: TreeJoint) -> bool:
    # The link that a wrist turns may be called gripper; a joint of that name opens it.
    return any(_FINGERS.search(name) for name in (joint.name, joint.child)) or bool(_GRIPPER.search(joint.name))


def _follows_finger(tree: DescriptionTree, joint: TreeJoint) -> bool:
    """Whether a joint follows another as fingers do; the wrist of a palletiser follows joints of the arm before it."""
    if not joint.mimics:
        return False
    mimic, before = joint.read_mimic(), {one.name: one for one in tree.path(tree.root, joint.parent)}
    return mimic is None or mimic.leader not in before or _named_finger(before[mimic.leader])


def _continuing(tree: DescriptionTree, body: _Body) -> list[tuple[TreeJoint, _Body]]:
    """The branches of an arm's body that are no fingers, neither by name nor as short beside them."""
    fingers = {joint.name for joint, _ in body.branches if _is_finger(tree, joint)}
    longest = max((1 + child.height for joint, child in body.branches if joint.name in fingers), default=0)
    return [
        (joint, child) for joint, child in body.branches if joint.name not in fingers and 1 + child.height > longest
    ]


def _is_hand(heights: list[int]) -> bool:
    """Whether branches of so many joints each look like fingers: several, short and of a kind."""
    alike = max(heights) <= 2 or len(heights) > 2 or max(heights) - min(heights) <= 1
    return len(heights) > 1 and max(heights) <= LONGEST_FINGER and alike


def _tip(tree: DescriptionTree, body: _Body, num_joints: int, grasping: list[TreeJoint]) -> str | None:
    """The link of a body that is the flange, by its name, or because nothing else can be; None if it is unclear."""
    real, leaves = [link for link in body.links if link not in tree.frames], _leaves(tree, body)
    alone = leaves[0] if len(leaves) == 1 and not grasping else None
    for pattern in _FLANGES:
        for link in body.links:
            if pattern.search(link) and (alone is None or link in tree.frames or link == alone):
                return link
    if alone is not None:
        marks = [link for link in body.links if link in tree.frames and _TOOLS.search(link)]
        return marks[0] if marks else alone
    numbered = re.compile(rf"link_?{num_joints + 1}$")
    for link in real if grasping else leaves:
        if link == _next_name(body.link) or numbered.search(link):
            return link
    if grasping and (before := _before_hand(tree, body, grasping[0].parent)) is not None:
        return before
    if tools := [link for link in body.links if _TOOLS.search(link)]:
        return tools[0]
    return body.link if grasping else None


def _leaves(tree: DescriptionTree, body: _Body) -> list[str]:
    """The links of a body that carry no other of its links."""
    real = {link for link in body.links if link not in tree.frames}
    return [
        link for link in body.links if link in real and not any(one.child in real for one in tree.below.get(link, []))
    ]


def _before_hand(tree: DescriptionTree, body: _Body, carrier: str) -> str | None:
    """The last link on the way to the one that carries the fingers, before a link that is named as a hand."""
    way = [body.link, *(joint.child for joint in tree.path(body.link, carrier))]
    for before, link in pairwise(way):
        if _HAND.search(link):
            return before
    return None


def _next_name(link: str) -> str:
    """What comes behind a numbered link, be it the next one or the flange: panda_link8 behind panda_link7."""
    found = re.fullmatch(r"(.*?)(\d+)", link)
    return f"{found[1]}{int(found[2]) + 1}" if found else ""


def _ends(tree: DescriptionTree, start: str) -> list[str]:
    """The leaf links that move, those behind most joints first, fingers and wheels last."""
    depth, slight = {start: 0}, {start: False}
    for joint in tree.joints_below(start):
        if joint.parent in depth and not joint.refusal:
            depth[joint.child] = depth[joint.parent] + (not joint.is_fixed)
            small = not joint.is_fixed and (_is_finger(tree, joint) or bool(_OTHER_LIMBS.search(joint.name)))
            slight[joint.child] = slight[joint.parent] or small
    ends = [link for link in depth if depth[link] and link not in tree.frames and not _has_links_below(tree, link)]
    return sorted(ends, key=lambda link: (slight[link], -depth[link]))


def _has_links_below(tree: DescriptionTree, link: str) -> bool:
    return any(joint.child not in tree.frames for joint in tree.below.get(link, []))


def _starts(tree: DescriptionTree) -> list[str]:
    """The root; or, if nothing else below it moves, what floats in it and has joints: robots, but no loose cubes."""
    starts = [tree.root]
    while len(starts) == 1:
        start = starts[0]
        fixed = {start}
        floating: list[TreeJoint] = []
        for joint in tree.joints_below(start):
            if joint.parent not in fixed:
                continue
            if joint.is_fixed:
                fixed.add(joint.child)
            elif joint.refusal:
                floating.append(joint)
            else:
                return starts
        moving = [joint.child for joint in floating if _has_moving(tree, joint.child)]
        if not moving:
            return starts
        starts = moving
    return starts


def _has_moving(tree: DescriptionTree, link: str) -> bool:
    return any(not joint.is_fixed and not joint.refusal for joint in tree.joints_below(link))
