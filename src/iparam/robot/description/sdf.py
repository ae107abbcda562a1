"""`read_sdf`: the links and joints of an SDFormat file (Gazebo), with its frames, nested and included models.

A file with one model is that model. In a world of several, each model's names begin with its own, as ``arm::link1``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import FileFormatError, InputError
from iparam.robot.description.sdf_geometry import sdf_geometry
from iparam.robot.description.sdf_include import MODEL_FRAME, included_model, modernise
from iparam.robot.description.sdf_values import bound_of, number_of, numbers_of, pose_of, text_of
from iparam.robot.description.tree import DescriptionTree, JointBounds, Mimic, TreeJoint
from iparam.robot.model import Joint, JointKind, Link
from iparam.robot.urdf.xml import Place, attribute, child
from iparam.spatial.parameters import InertialParameters, inertia_entries
from iparam.spatial.transforms import inverse_transform, transform_from

_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
}
_UNSUPPORTED = ("ball", "universal", "revolute2", "screw", "gearbox")
_WORLD = "world"
_DEEPEST = 20  # nested models
_MOST_INCLUDED = 200  # models that a file may bring in, and they in turn


def read_sdf(source: str | os.PathLike[str], root: Element) -> DescriptionTree:
    """The tree of an SDF file: its one model, or the world that several stand in.

    Args:
        source: its path, for messages and as where includes are looked for.
        root: its <sdf> element.
    """
    path = Path(source)
    whole = Place(str(path), "<sdf>")
    modernise(root, path)
    worlds = [one for one in (root, *root.findall("world")) if one.find("model") is not None or _includes(one)]
    if len(worlds) != 1:
        found = f"{len(worlds)} worlds: keep one" if worlds else "no <model>"
        raise FileFormatError(f"{path} holds {found}")
    scene = _Scene(whole)
    models = scene.models_of(worlds[0], whole, lenient=True)
    if len(models) == 1:
        name = attribute(models[0][0], "name", whole.elsewhere("a <model>"))
        scene.gather(models[0][0], "", models[0][1].elsewhere(f"model {name!r}"), 0)
        return scene.tree(name)
    if not models:
        raise FileFormatError(f"{path} holds no <model> that can be read: {'; '.join(whole.deviations.sentences)}")
    scene.gather_world(worlds[0], models)
    return scene.tree(worlds[0].get("name") or path.stem)


def _includes(element: Element) -> bool:
    return element.find("include") is not None


@dataclass
class _Pose:
    """A pose that is still relative to something: a named frame, or what its element is in."""

    local: FloatArray
    relative_to: str
    place: Place


@dataclass
class _Scene:
    """All links, joints and frames of a model and the models in it, by names such as ``arm::link1``."""

    whole: Place
    poses: dict[str, _Pose] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)  # what each frame moves with: a link, or another frame
    links: dict[str, tuple[Element, Place]] = field(default_factory=dict)
    joints: dict[str, tuple[Element, Place, str]] = field(default_factory=dict)  # with the scope that names are in
    resolved: dict[str, FloatArray] = field(default_factory=dict)
    models: dict[str, bool] = field(default_factory=dict)  # names that stand for models, and whether they are static
    included: int = 0
    stands_in_world: bool = False

    def models_of(self, element: Element, place: Place, lenient: bool = False) -> list[tuple[Element, Place]]:
        """The models in a model or world, the included ones too, each with where it is written.

        Args:
            element: the model or world.
            place: of it.
            lenient: leave out, with a note, what is included and not found; a world's ground or sun often is not.
        """
        models = [(one, place) for one in element.findall("model")]
        for include in element.findall("include"):
            self.included += 1
            if self.included > _MOST_INCLUDED:
                raise place.error(f"includes more than {_MOST_INCLUDED} models")
            try:
                models.append(included_model(include, place))
            except FileFormatError as error:
                if not lenient:
                    raise
                reason = str(error).removeprefix(f"{place.file}: ")
                place.note(f"{reason}; it was left out, and is in nobody's way")
        return models

    def gather_world(self, world: Element, models: list[tuple[Element, Place]]) -> None:
        """The models that stand in a world, its joints and its frames."""
        self.stands_in_world = True
        self._add(MODEL_FRAME, _Pose(np.eye(4), "", self.whole))
        self.attached[MODEL_FRAME] = _WORLD
        self._gather_joints(world, "", self.whole)
        self._gather_frames(world, "", MODEL_FRAME, self.whole)
        for element, place in models:
            self._gather_nested(element, "", place, 0)

    def gather(self, model: Element, scope: str, place: Place, depth: int) -> None:
        """The elements of a model whose names begin with ``scope``."""
        if depth > _DEEPEST:
            raise place.error(f"models are nested more than {_DEEPEST} deep")
        own = f"{scope}{MODEL_FRAME}"
        # The pose of the outermost model says where it stands in the world, which is no part of the arm.
        outer = scope.rpartition("::")[0].rpartition("::")[0]
        before = f"{outer}::{MODEL_FRAME}" if outer else MODEL_FRAME
        if depth == 0:
            self._add(own, _Pose(np.eye(4), "", place))
        else:
            if model.get("placement_frame") or text_of(model, "placement_frame", place):
                raise place.error("its placement_frame is not supported: give the pose of the model itself")
            self._add(own, self._pose(model, outer + "::" if outer else "", before, place))
        links = model.findall("link")
        if chosen := model.get("canonical_link", ""):
            self.attached[own] = scope + chosen
        elif links:
            self.attached[own] = scope + attribute(links[0], "name", place.elsewhere("a <link>"))
        for element in links:
            name = scope + attribute(element, "name", place.elsewhere("a <link>"))
            where = place.elsewhere(f"link {name!r}")
            self._add(name, self._pose(element, scope, own, where))
            self.links[name] = (element, where)
        self._gather_joints(model, scope, place)
        self._gather_frames(model, scope, own, place)
        for element, where in self.models_of(model, place):
            name = self._gather_nested(element, scope, where, depth)
            self.attached.setdefault(own, name)

    def _gather_nested(self, model: Element, scope: str, place: Place, depth: int) -> str:
        """A model in another or in a world; its name stands for its frame."""
        name = scope + attribute(model, "name", place.elsewhere("a <model>"))
        where = place.elsewhere(f"model {name!r}")
        self.models[name] = text_of(model, "static", where) in ("true", "1")
        self._add(name, _Pose(np.eye(4), f"{name}::{MODEL_FRAME}", where))
        self.attached[name] = f"{name}::{MODEL_FRAME}"
        self.gather(model, f"{name}::", where, depth + 1)
        return name

    def _gather_joints(self, model: Element, scope: str, place: Place) -> None:
        for element in model.findall("joint"):
            name = scope + attribute(element, "name", place.elsewhere("a <joint>"))
            where = place.elsewhere(f"joint {name!r}")
            carried = self._end(element, "child", scope, where)
            self._add(name, self._pose(element, scope, carried, where))
            self.attached[name] = carried
            self.joints[name] = (element, where, scope)

    def _gather_frames(self, model: Element, scope: str, own: str, place: Place) -> None:
        for element in model.findall("frame"):
            name = scope + attribute(element, "name", place.elsewhere("a <frame>"))
            where = place.elsewhere(f"frame {name!r}")
            on = scope + element.get("attached_to", "") if element.get("attached_to") else own
            self._add(name, self._pose(element, scope, on, where))
            self.attached[name] = _WORLD if on == scope + _WORLD else on

    def tree(self, name: str) -> DescriptionTree:
        """The links, hung on each other by the joints."""
        links: list[tuple[str, Callable[[], Link]]] = [
            (link, partial(self._link, link, element, place)) for link, (element, place) in self.links.items()
        ]
        joints: list[TreeJoint] = []
        parents = {
            joint: self._end(element, "parent", scope, where) for joint, (element, where, scope) in self.joints.items()
        }
        if (self.stands_in_world or _WORLD in parents.values()) and _WORLD not in self.links:
            links.insert(0, (_WORLD, partial(Link, _WORLD)))
        for joint, (element, where, scope) in self.joints.items():
            joints += self._joint(joint, element, where, scope, self._body(parents[joint], where), links)
        if self.stands_in_world:
            joints += self._standing(joints)
        frames = []
        for frame in self.attached:
            if frame in self.joints or frame in self.models or frame.endswith(MODEL_FRAME):
                continue
            on, place = self._body(frame, self.whole), self.whole.elsewhere(f"frame {frame!r}")
            links.append((frame, partial(Link, frame)))
            frames.append(frame)
            pose = inverse_transform(self._in_model(on)) @ self._in_model(frame)
            joints.append(TreeJoint.known(Joint(f"{frame}_frame", JointKind.FIXED, on, frame, pose), place))
        return DescriptionTree.build(self.whole, name, links, joints, frames)

    def _standing(self, joints: list[TreeJoint]) -> list[TreeJoint]:
        """What holds the links of a world that hang on no joint: nothing, unless their model is static."""
        carried, standing = {joint.child for joint in joints}, []
        for link, (_, place) in self.links.items():
            if link in carried:
                continue
            parts = link.split("::")
            if any(self.models.get("::".join(parts[:count]), False) for count in range(1, len(parts))):
                fixed = Joint(f"{link}::standing", JointKind.FIXED, _WORLD, link, self._in_model(link))
                standing.append(TreeJoint.known(fixed, place))
            else:
                free = "a model that stands free in the world is not supported"
                standing.append(TreeJoint.refused(f"{link}::free", _WORLD, link, place, free))
        return standing

    def _add(self, name: str, pose: _Pose) -> None:
        if name in self.poses:
            raise pose.place.error(f"the name {name!r} is defined more than once")
        self.poses[name] = pose

    def _pose(self, element: Element, scope: str, default: str, place: Place) -> _Pose:
        given = child(element, "pose", place)
        local = pose_of(given, place)
        relative_to = "" if given is None else given.get("relative_to", "").strip()
        if relative_to == _WORLD and scope + _WORLD not in self.poses:
            return _Pose(local, _WORLD, place)
        return _Pose(local, scope + relative_to if relative_to else default, place)

    def _end(self, element: Element, tag: str, scope: str, place: Place) -> str:
        """The name of a joint's <parent> or <child>."""
        text = text_of(element, tag, place)
        if not text:
            raise place.error(f"has no <{tag}>")
        return _WORLD if text == _WORLD else scope + text

    def _body(self, name: str, place: Place) -> str:
        """The link that a frame moves with."""
        for _ in range(len(self.poses) + 1):
            if name in self.links or name == _WORLD:
                return name
            if name not in self.attached:
                raise place.error(f"refers to {name!r}, which is not defined")
            name = self.attached[name]
        raise place.error("frames are attached to each other in a circle")

    def _in_model(self, name: str) -> FloatArray:
        """(4, 4) pose of a link, joint or frame in the outermost model."""
        if name == _WORLD:  # the model stands at the world's origin
            return np.eye(4)
        way: list[str] = []
        while name not in self.resolved:
            if name not in self.poses:
                where = self.poses[way[-1]].place if way else self.whole
                raise where.error(f"refers to {name!r}, which is not defined")
            if name in way:
                raise self.poses[name].place.error("poses are relative to each other in a circle")
            way.append(name)
            if not self.poses[name].relative_to:
                self.resolved[name] = self.poses[name].local
                way.pop()
                break
            name = self.poses[name].relative_to
            if name == _WORLD:
                self.resolved[_WORLD] = np.eye(4)
        for later in reversed(way):
            self.resolved[later] = self.resolved[self.poses[later].relative_to] @ self.poses[later].local
            name = later
        return self.resolved[name]

    def _link(self, name: str, element: Element, place: Place) -> Link:
        inertial = child(element, "inertial", place)
        shape = sdf_geometry(element, partial(self._on_link, name), place)
        if inertial is None:
            place.note("has no <inertial>, and has SDF's default: 1 kg and 1 kg m^2 about each axis")
            return Link(name, InertialParameters(1.0, np.zeros(3), np.eye(3)), shape)
        if inertial.get("auto", "false").strip() in ("true", "1"):
            raise place.error("its inertia follows from its shapes (auto), which is not supported: state it")
        place = place.inside("inertial")
        mass = number_of(inertial, "mass", place, 1.0)
        pose, tensor = pose_of(child(inertial, "pose", place), place), child(inertial, "inertia", place)
        moments = {
            key: 1.0 if tensor is None and key[1] == key[2] else 0.0
            for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        }
        if tensor is not None:
            inside = place.inside("inertia")
            moments = {key: number_of(tensor, key, inside, float(key[1] == key[2])) for key in moments}
        inertia = np.array(
            [
                [moments["ixx"], moments["ixy"], moments["ixz"]],
                [moments["ixy"], moments["iyy"], moments["iyz"]],
                [moments["ixz"], moments["iyz"], moments["izz"]],
            ]
        )
        try:
            if mass == 0.0:  # as in a URDF: the centre of a massless body means nothing, an inertia given to it counts
                turned = pose[:3, :3] @ inertia @ pose[:3, :3].T
                return Link(name, InertialParameters.from_phi([0.0, 0.0, 0.0, 0.0, *inertia_entries(turned)]), shape)
            return Link(name, InertialParameters(mass, np.zeros(3), inertia).transformed(pose), shape)
        except InputError as error:
            raise place.error(str(error)) from None

    def _on_link(self, link: str, element: Element, place: Place) -> FloatArray:
        """(4, 4) pose in a link's frame of an element of it that has a <pose>."""
        scope = link.rpartition("::")[0]
        given = self._pose(element, f"{scope}::" if scope else "", link, place)
        return inverse_transform(self._in_model(link)) @ self._in_model(given.relative_to) @ given.local

    def _joint(
        self,
        name: str,
        element: Element,
        place: Place,
        scope: str,
        parent: str,
        links: list[tuple[str, Callable[[], Link]]],
    ) -> list[TreeJoint]:
        """A joint; if it does not stand at its child's origin, with a link at the joint between them."""
        kind, carried = attribute(element, "type", place), self._end(element, "child", scope, place)
        link = self._body(carried, place)
        if kind in _UNSUPPORTED:
            return [TreeJoint.refused(name, parent, link, place, f"type {kind!r} is not supported")]
        if kind not in _KINDS:
            raise place.error(f"unknown type {kind!r}; known: {', '.join((*_KINDS, *_UNSUPPORTED))}")
        T_parent, T_link = self._in_model(parent), self._in_model(link)
        origin = inverse_transform(T_parent) @ T_link
        if kind == "fixed":
            return [TreeJoint.known(Joint(name, JointKind.FIXED, parent, link, origin), place)]
        axis_element = child(element, "axis", place)
        axis, bounds = self._axis(axis_element, name, kind, scope, place)
        in_link = T_link[:3, :3].T @ axis
        at = (inverse_transform(T_link) @ self._in_model(name))[:3, 3]
        if _KINDS[kind] is JointKind.PRISMATIC or np.linalg.norm(np.cross(at, in_link)) < 1e-12:
            # A sliding joint, or an axis through the link's origin: where along it the joint stands is of no account.
            slide = Joint(name, _KINDS[kind], parent, link, origin, in_link)
            return [TreeJoint.known(slide, place, bounds, mimic=_mimic(axis_element, scope, place))]
        between = f"{name}::joint"
        links.append((between, partial(Link, between)))
        offset = transform_from(np.eye(3), at)
        moving = Joint(name, _KINDS[kind], parent, between, origin @ offset, in_link)
        rigid = Joint(f"{name}::offset", JointKind.FIXED, between, link, inverse_transform(offset))
        followed = _mimic(axis_element, scope, place)
        return [TreeJoint.known(moving, place, bounds, mimic=followed), TreeJoint.known(rigid, place)]

    def _axis(
        self, element: Element | None, joint: str, kind: str, scope: str, place: Place
    ) -> tuple[FloatArray, JointBounds]:
        """A joint's axis in the outermost model's frame (3,), and its limits."""
        place = place.inside("axis")
        direction, frame = np.array([0.0, 0.0, 1.0]), joint
        if element is None:
            place.note("is missing, and was read as SDF's default, z")
            return self._in_model(frame)[:3, :3] @ direction, JointBounds()
        xyz = child(element, "xyz", place)
        if xyz is not None:
            direction = numbers_of(xyz, 3, place.inside("xyz"))
            expressed_in = xyz.get("expressed_in", "").strip()
            frame = scope + expressed_in if expressed_in else joint
        if not np.linalg.norm(direction) > 1e-9:
            raise place.error("<xyz> must not be zero")
        limit = child(element, "limit", place)
        if limit is None:
            return self._in_model(frame)[:3, :3] @ direction, JointBounds()
        inside = place.inside("limit")
        lower, upper = (
            number_of(limit, key, inside, default, infinite=True)
            for key, default in (("lower", -math.inf), ("upper", math.inf))
        )
        if kind == "continuous":
            lower, upper = -math.inf, math.inf
        if lower > upper:
            inside.note("has lower above upper, and was read the other way round")
            lower, upper = upper, lower
        bounds = JointBounds(
            lower if lower > -LARGEST else -math.inf,
            upper if upper < LARGEST else math.inf,
            velocity=bound_of(limit, "velocity", inside),
            torque=bound_of(limit, "effort", inside),
        )
        return self._in_model(frame)[:3, :3] @ direction, bounds


def _mimic(axis: Element | None, scope: str, place: Place) -> Mimic | None:
    """What a joint follows, by the <mimic> of its <axis>: multiplier * (leader - reference) + offset."""
    element = None if axis is None else child(axis, "mimic", place.inside("axis"))
    if element is None:
        return None
    inside = place.inside("mimic")
    ratio = number_of(element, "multiplier", inside, 1.0)
    offset, reference = (number_of(element, key, inside, 0.0) for key in ("offset", "reference"))
    return Mimic(scope + attribute(element, "joint", inside), ratio, offset - ratio * reference)
