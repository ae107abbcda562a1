"""`read_mjcf`: the bodies and joints of a MuJoCo model, as MuJoCo itself understands the file.

Defaults, classes, includes, orientations, angles in degrees and inertias that follow from shapes are MuJoCo's business:
what is read here is the compiled model.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from iparam.arrays import LARGEST, FloatArray
from iparam.errors import FileFormatError
from iparam.files.limited_process import Outcome, in_limited_process
from iparam.robot.collision.geometry import GeometryKind, LinkGeometry
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.robot.description.tree import DescriptionTree, JointBounds, Mimic, TreeJoint
from iparam.robot.model import Joint, JointKind, Link
from iparam.robot.urdf.references import check_mjcf_files
from iparam.robot.urdf.xml import Place
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import exp_so3, inverse_transform, transform_from

_UNBOUNDED = ("mjGEOM_PLANE", "mjGEOM_HFIELD")
_COMPILED = "compiled.mjb"

USUAL_GRAVITY = (0.0, 0.0, -9.81)

_REFUSED = {"mjJNT_FREE": "a free joint is not supported", "mjJNT_BALL": "a ball joint is not supported"}


def read_mjcf(source: str | os.PathLike[str]) -> DescriptionTree:
    """The tree of an MJCF file: its bodies, the world as the root, and its sites as frames.

    Limits are the joints' ranges. What a joint's motors may exert is the sum over them, each with its gear; MJCF has no
    limits of speed and acceleration. Damping, friction, springs, tendons and contacts are not read. A body with several
    joints becomes as many links; one whose joint does not pass through the body's origin gets a link at the joint.
    """
    mujoco = require_mujoco()
    path = Path(source)
    whole = Place(str(path), "the model")
    size = check_mjcf_files(path)
    notes, arrays = in_limited_process(compile_mjcf, str(path), {"file": str(path)}, size=size)
    for note in notes:
        whole.note(note)
    model = mujoco.MjModel.from_binary_path(_COMPILED, {_COMPILED: arrays["model"].tobytes()})
    name = model.names[: model.names.index(b"\0")].decode("utf-8", "replace").strip()
    reader = _Reader(mujoco, model, whole)
    for body in range(1, model.nbody):
        reader.add_body(body)
    for site in range(model.nsite):
        reader.add_site(site)
    reader.note_what_is_not_read()
    return DescriptionTree.build(
        whole, name if name not in ("", "MuJoCo Model") else path.stem, reader.links, reader.joints, reader.frames
    )


def compile_mjcf(file: str) -> Outcome:
    """What MuJoCo makes of a file, in its binary format, and its warnings."""
    mujoco, path = require_mujoco(), Path(file)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = _spec(mujoco, path).compile()
    except ValueError as error:
        raise FileFormatError(f"{path}: MuJoCo cannot compile it: {_one_line(error)}") from None
    except RuntimeError as error:  # what std::bad_alloc becomes on its way out of MuJoCo
        raise MemoryError from error
    packed = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, packed)
    return [f"MuJoCo says: {_one_line(warning.message)}" for warning in caught], {"model": packed}


def _spec(mujoco: Any, path: Path) -> Any:
    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, OSError) as error:
        raise FileFormatError(f"{path}: MuJoCo cannot read it: {_one_line(error)}") from None
    spec.compiler.fusestatic = False  # a link that does not move has a name and a frame, too
    return spec


def _one_line(error: Exception | str) -> str:
    return " ".join(str(error).split()).removeprefix("Error: ") or type(error).__name__


class _Reader:
    """What is gathered, body by body."""

    def __init__(self, mujoco: Any, model: Any, whole: Place) -> None:
        self.mujoco, self.model, self.whole = mujoco, model, whole
        self.body_names = self._names(model.nbody, mujoco.mjtObj.mjOBJ_BODY, "body")
        self.joint_names = self._names(model.njnt, mujoco.mjtObj.mjOBJ_JOINT, "joint")
        self.taken = set(self.body_names)
        self.torques = _motor_limits(mujoco, model)
        self.followers = {
            int(model.eq_obj1id[index]): self._mimic(index)
            for index in range(model.neq)
            if model.eq_type[index] == mujoco.mjtEq.mjEQ_JOINT and model.eq_obj2id[index] >= 0
        }
        self.links: list[tuple[str, Callable[[], Link]]] = [(self.body_names[0], partial(self._link, 0))]
        self.joints: list[TreeJoint] = []
        self.frames: list[str] = []

    def add_body(self, body: int) -> None:
        """A body, its joints, and links between them where it has several or they stand beside its origin."""
        model = self.model
        name, parent = self.body_names[body], self.body_names[model.body_parentid[body]]
        self.links.append((name, partial(self._link, body)))
        # The pose of the body's frame, in what carries it, as it is before each joint moves.
        pose = transform_from(self._rotation(model.body_quat[body]), model.body_pos[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if not count:
            self._fix(f"{name}_fixed", parent, name, pose)
            return
        for index in range(first, first + count):
            joint = self.joint_names[index]
            place = self.whole.elsewhere(f"joint {joint!r}")
            if refusal := _REFUSED.get(self.mujoco.mjtJoint(int(model.jnt_type[index])).name, ""):
                self.joints.append(TreeJoint.refused(joint, parent, name, place, refusal))
                return
            offset = transform_from(np.eye(3), model.jnt_pos[index])
            through_origin = not model.jnt_pos[index].any()
            last = index == first + count - 1
            child = name if last and through_origin else self._new_name(f"{name}_{joint}")
            if child != name:
                self.links.append((child, partial(Link, child)))
            self.joints.append(self._moving(index, place, parent, child, pose @ offset))
            parent, pose = child, inverse_transform(offset)
        if parent != name:
            self._fix(f"{name}_fixed", parent, name, pose)

    def add_site(self, site: int) -> None:
        """A place on a body, by its name; sites without one are left out."""
        model = self.model
        name = self._name(self.mujoco.mjtObj.mjOBJ_SITE, site)
        if not name:
            return
        body = self.body_names[model.site_bodyid[site]]
        frame = self._new_name(name)
        self.links.append((frame, partial(Link, frame)))
        self.frames.append(frame)
        self._fix(
            f"{frame}_site", body, frame, transform_from(self._rotation(model.site_quat[site]), model.site_pos[site])
        )

    def note_what_is_not_read(self) -> None:
        """Notes on what of the model changes its motion and is no part of an arm's inertia."""
        model = self.model
        if not np.allclose(model.opt.gravity, USUAL_GRAVITY, atol=0.01):
            x, y, z = model.opt.gravity.tolist()
            self.whole.note(f"has gravity {x:g} {y:g} {z:g}, which is not read; state it")
        closing = (int(self.mujoco.mjtEq.mjEQ_CONNECT), int(self.mujoco.mjtEq.mjEQ_WELD))
        loops = sum(int(kind) in closing for kind in model.eq_type)
        if loops:
            self.whole.note(f"closes {loops} kinematic loops by constraints, which are not part of the arm")
        if any(int(kind) == int(self.mujoco.mjtEq.mjEQ_TENDON) for kind in model.eq_type):
            self.whole.note("couples joints by tendons, which is not read: each is planned as if it moved on its own")
        if np.asarray(model.jnt_stiffness).any():
            self.whole.note("has springs in joints, which are not read")

    def _mimic(self, equality: int) -> Mimic | None:
        """What an equality between two joints says, about the positions of the model's own pose; None if not linear."""
        model = self.model
        bent = model.eq_data[equality, 2:5].any()
        follower, leader = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        shift, ratio = (float(value) for value in model.eq_data[equality, :2])
        own, other = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader))
        return None if bent else Mimic(self.joint_names[leader], ratio, own + shift - ratio * other)

    def _moving(self, index: int, place: Place, parent: str, child: str, origin: FloatArray) -> TreeJoint:
        model = self.model
        axis, reference = np.array(model.jnt_axis[index]), float(model.qpos0[model.jnt_qposadr[index]])
        turning = model.jnt_type[index] == self.mujoco.mjtJoint.mjJNT_HINGE
        if reference:  # the file's pose is at that position, not at zero
            back = -reference * axis
            origin = origin @ (
                transform_from(exp_so3(back), np.zeros(3)) if turning else transform_from(np.eye(3), back)
            )
        kind = JointKind.REVOLUTE if turning else JointKind.PRISMATIC
        lower, upper = model.jnt_range[index].tolist() if model.jnt_limited[index] else (-np.inf, np.inf)
        return TreeJoint.known(
            Joint(self.joint_names[index], kind, parent, child, origin, axis),
            place,
            JointBounds(lower, upper, torque=self.torques[index]),
            mimics=index in self.followers,
            mimic=self.followers.get(index),
            armature=float(model.dof_armature[model.jnt_dofadr[index]]),
        )

    def _fix(self, name: str, parent: str, child: str, pose: FloatArray) -> None:
        joint = Joint(self._new_name(name), JointKind.FIXED, parent, child, pose)
        self.joints.append(TreeJoint.known(joint, self.whole.elsewhere(f"body {child!r}")))

    def _link(self, body: int) -> Link:
        model, name = self.model, self.body_names[body]
        shape = _geometry(self.mujoco, model, body)
        if model.body_mass[body] == 0.0 and not model.body_inertia[body].any():
            return Link(name, None, shape)
        turn = self._rotation(model.body_iquat[body])
        inertia = turn @ np.diag(model.body_inertia[body]) @ turn.T
        inertial = InertialParameters(float(model.body_mass[body]), np.array(model.body_ipos[body]), inertia)
        return Link(name, inertial, shape)

    def _rotation(self, quaternion: FloatArray) -> FloatArray:
        """(3, 3), orthogonal to the last digit: a compiled quaternion is of unit length to some 1e-16 only."""
        matrix = np.empty(9)
        unit = np.array(quaternion) / np.linalg.norm(quaternion)
        self.mujoco.mju_quat2Mat(matrix, unit)
        return matrix.reshape(3, 3)

    def _name(self, kind: Any, index: int) -> str:
        return self.mujoco.mj_id2name(self.model, int(kind), index) or ""

    def _names(self, count: int, kind: Any, word: str) -> list[str]:
        """The names of all elements of a kind; those without one are numbered."""
        names = [self._name(kind, index) for index in range(count)]
        known = set(names)
        for index, name in enumerate(names):
            if not name:
                new = f"{word}_{index}"
                while new in known:
                    new += "_"
                known.add(new)
                names[index] = new
        return names

    def _new_name(self, wanted: str) -> str:
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted


def _motor_limits(mujoco: Any, model: Any) -> list[float]:
    """What the motors of each joint can exert together, the same both ways, infinite if one has no limit [N m or N]."""
    limits = [0.0] * model.njnt
    # As integers: an enumeration of MuJoCo does not equal a number of NumPy that stands on its right.
    on_joints = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for motor in range(model.nu):
        if int(model.actuator_trntype[motor]) not in on_joints:
            continue
        joint, gear = int(model.actuator_trnid[motor, 0]), abs(float(model.actuator_gear[motor, 0]))
        force = _force(mujoco, model, motor) * gear
        limits[joint] += force if 0.0 < force <= LARGEST else np.inf
    for joint in range(model.njnt):
        limits[joint] = limits[joint] or np.inf  # no motor: unknown
        if model.jnt_actfrclimited[joint]:
            allowed = float(np.abs(model.jnt_actfrcrange[joint]).min())
            limits[joint] = min(limits[joint], allowed) if allowed > 0.0 else limits[joint]
    return limits


def _force(mujoco: Any, model: Any, motor: int) -> float:
    """The largest force of a motor both ways: its force range, or the control range of one that passes control on."""
    if model.actuator_forcelimited[motor]:
        return float(np.abs(model.actuator_forcerange[motor]).min())
    plain = (
        model.actuator_gaintype[motor] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[motor] == mujoco.mjtBias.mjBIAS_NONE
        and model.actuator_dyntype[motor] == mujoco.mjtDyn.mjDYN_NONE
    )
    if plain and model.actuator_ctrllimited[motor]:
        return float(np.abs(model.actuator_ctrlrange[motor]).min() * abs(model.actuator_gainprm[motor, 0]))
    return np.inf


def _geometry(mujoco: Any, model: Any, body: int) -> tuple[LinkGeometry, ...]:
    """The shape of a body: what can collide on it, or what is seen of it if nothing can. Planes are no body's shape."""
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    geoms = list(range(first, first + count))
    collide = [geom for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]]
    found = [_piece(mujoco, model, geom) for geom in collide or geoms]
    return tuple(piece for piece in found if piece is not None)


def _piece(mujoco: Any, model: Any, geom: int) -> LinkGeometry | None:
    matrix = np.empty(9)
    quaternion = np.array(model.geom_quat[geom])
    mujoco.mju_quat2Mat(matrix, quaternion / np.linalg.norm(quaternion))
    pose = transform_from(matrix.reshape(3, 3), np.array(model.geom_pos[geom]))
    kind, size = mujoco.mjtGeom(int(model.geom_type[geom])).name, np.array(model.geom_size[geom])
    if kind in _UNBOUNDED:
        return None
    if kind == "mjGEOM_BOX":
        return LinkGeometry(GeometryKind.BOX, pose, tuple(2.0 * size))
    if kind == "mjGEOM_SPHERE":
        return LinkGeometry(GeometryKind.SPHERE, pose, (size[0],))
    if kind == "mjGEOM_ELLIPSOID":
        return LinkGeometry(GeometryKind.ELLIPSOID, pose, tuple(size))
    if kind in ("mjGEOM_CYLINDER", "mjGEOM_CAPSULE"):
        return LinkGeometry(GeometryKind(kind.removeprefix("mjGEOM_").lower()), pose, (size[0], 2.0 * size[1]))
    mesh = int(model.geom_dataid[geom])
    faces = _faces(model, mesh) if mesh >= 0 else None
    name = mujoco.mj_id2name(model, int(mujoco.mjtObj.mjOBJ_MESH), mesh) if mesh >= 0 else kind
    return LinkGeometry(GeometryKind.MESH, pose, reference=name or "mesh", faces=faces)


def _faces(model: Any, mesh: int) -> FloatArray:
    """(F, 3, 3) corners of a mesh's triangles in the frame that it is compiled in [m]."""
    vertices, faces = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    points = np.array(model.mesh_vert[vertices : vertices + int(model.mesh_vertnum[mesh])], dtype=np.float64)
    return np.asarray(points[np.array(model.mesh_face[faces : faces + int(model.mesh_facenum[mesh])])])
