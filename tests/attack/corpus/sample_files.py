"""A sound file of every format, made by the commands themselves: what bad files are made from."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from made_results import made_static

if TYPE_CHECKING:
    from rosbags.rosbag2 import CompressionMode, StoragePlugin

DATA = Path(__file__).resolve().parents[2] / "data"

SAMPLES = {
    "motion.json": "trajectory",
    "calm.json": "trajectory",
    "run.parquet": "recording",
    "run.csv": "recording",
    "run.npz": "recording",
    "run.mat": "recording",
    "bare.txt": "log",
    "loaded.txt": "log",
    "result.json": "result",
    "other_result.json": "result",
    "static.json": "result",
    "truth.json": "truth",
    "sensor.json": "sensor",
    "cell.json": "cell",
    "arm.urdf": "urdf",
    "arm.xml": "mjcf",
    "stage.usda": "stage",
    "part.obj": "mesh",
    "part.stl": "mesh",
    "ascii.stl": "mesh",
    "part.glb": "shape",
    "states.csv": "states",
    "states.parquet": "states",
    "bag_mcap": "bag",
    "bag_sqlite": "bag",
    "log.mcap": "bag",
    "chunked.mcap": "bag",
    "log.db3": "bag",
    "log.db3.zstd": "bag",
    "ros1.bag": "bag",
    "params.yaml": "parameters",
    "setup.toml": "setup",
}
"""Name of a sample -> its kind. Those of a kind are read by the same arguments of the same commands."""

_MJCF = """<?xml version="1.0"?>
<mujoco model="arm"><compiler angle="radian"/><default><joint armature="0.1" range="-2 2" axis="0 1 0"/></default>
<worldbody><body name="a" pos="0 0 0.3"><inertial mass="2" pos="0 0 0.1" diaginertia="0.1 0.1 0.05"/><joint name="j1"/>
<body name="b" pos="0 0 0.4"><inertial mass="1" pos="0 0 0.1" diaginertia="0.1 0.1 0.05"/>
<joint name="j2" pos="0 0 0.1"/><site name="flange" pos="0 0 0.2"/></body></body></worldbody>
<actuator><motor joint="j1" ctrlrange="-1 1" gear="50"/></actuator></mujoco>"""

_STAGE = """#usda 1.0
(
    defaultPrim = "arm"
    metersPerUnit = 0.01
)
def Xform "arm"
{
    def Xform "wrist" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        point3f physics:centerOfMass = (0, 0, -2)
        float3 physics:diagonalInertia = (2, 2, 3)
        float physics:mass = 0.4
        double3 xformOp:translate = (10, 20, 30)
        uniform token[] xformOpOrder = ["xformOp:translate"]

        def Xform "tool0"
        {
        }
    }
}
"""

LOG_COLUMNS = "time,q,dq,current"

_BOX = ("--payload", "box", "--mass", "2", "--size", "0.1", "0.15", "0.2")


def make_samples(folder: Path) -> None:
    """Write all of `SAMPLES` into a new folder, and load on the way most of what the commands need."""
    folder.mkdir(parents=True)
    with contextlib.chdir(folder):
        shutil.copy(DATA / "short_ur5e.json", "motion.json")
        shutil.copy(DATA / "calm_ur5e.json", "calm.json")
        noisy = ("--trajectory", "motion.json", "--noise", "ur5e", "--sensor-rate")
        command("simulate", *noisy, "50", *_BOX, "--output", "run.parquet", "--truth", "truth.json")
        command("simulate", *noisy, "50", "--seed", "1", *_BOX, "--output", "run.csv")
        command("identify payload", "run.parquet", "--output", "result.json")
        command("calibrate sensor", "run.parquet", "--known-load", "truth.json", "--output", "sensor.json")
        command("identify payload", "run.csv", "--robot", "ur5e", "--output", "other_result.json")
        _write_arrays()
        _write_logs(noisy)
        _write_static_result()
        _write_cell()
        _write_robot()
        _write_meshes()
        _write_states()
        _write_bags()
        command("setup", "--robot", "ur5e", "--gravity", "9.81", "--sensor-rotation", "0", "0", "0")
        parameters = {"robot": "ur5e", "result": "result.json"}
        Path("params.yaml").write_text(json.dumps({"/**": {"ros__parameters": parameters}}), encoding="utf-8")
    missing = [name for name in SAMPLES if not (folder / name).exists()]
    assert not missing, missing


def command(name: str, *arguments: str) -> None:
    """Run a command in this process; it has to work."""
    from iparam.cli.main import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([*name.split(), *arguments])
    assert code == 0, f"iparam {name} {' '.join(arguments)}: {said.getvalue()}"


def _write_logs(simulated: Sequence[str]) -> None:
    from iparam.recording.recording import Recording

    for name, payload in (("bare", ()), ("loaded", _BOX)):
        command(
            "simulate", *simulated, "125", "--robot", "ur10e", "--motors", "ur10e", *payload, "--output", "log.parquet"
        )
        log = Recording.load("log.parquet")
        Path("log.parquet").unlink()
        columns = [log.signal(signal).values for signal in ("q", "dq", "current")]
        np.savetxt(f"{name}.txt", np.column_stack([log.signal("q").time, *columns]), fmt="%.9f", delimiter=",")


def _write_static_result() -> None:
    from iparam.remarks import remark

    document = made_static(2.0, [0.01, 0.0, 0.1], [remark("rests-hold-more", cause="Something pulls.")])
    Path("static.json").write_text(json.dumps(document), encoding="utf-8")


def _write_cell() -> None:
    document = {
        "format": "iparam-cell/1",
        "ground_height": -0.2,
        "boxes": [{"name": "table", "center": [2.0, 0.0, 0.0], "size": [0.5, 0.5, 0.1], "rpy": [0.0, 0.0, 0.1]}],
        "planes": [{"name": "wall", "point": [0.0, -3.0, 0.0], "normal": [0.0, 1.0, 0.0]}],
    }
    Path("cell.json").write_text(json.dumps(document), encoding="utf-8")


def _write_robot() -> None:
    from iparam.robot.loading import load_robot
    from iparam.robot.urdf.writer import robot_to_urdf

    Path("arm.urdf").write_text(robot_to_urdf(load_robot("ur5e")), encoding="utf-8")
    Path("arm.xml").write_text(_MJCF, encoding="utf-8")
    Path("stage.usda").write_text(_STAGE, encoding="utf-8")


def _write_meshes() -> None:
    import trimesh

    box = trimesh.creation.box(extents=(0.05, 0.06, 0.07))
    for name, kind in (("part.obj", "obj"), ("part.stl", "stl"), ("ascii.stl", "stl_ascii"), ("part.glb", "glb")):
        written = box.export(file_type=kind)
        Path(name).write_bytes(written if isinstance(written, bytes) else written.encode())


def _write_states() -> None:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    from iparam.trajectory import load_trajectory

    motion = load_trajectory("motion.json").trajectory.sample(20.0)
    columns = {"time": motion.time}
    for group, values in (("q", motion.q), ("dq", motion.dq), ("ddq", motion.ddq)):
        columns |= {f"{group}{joint}": values[:, joint] for joint in range(values.shape[1])}
    table = pyarrow.table(columns)
    pyarrow.csv.write_csv(table, "states.csv")
    pyarrow.parquet.write_table(table, "states.parquet")


def _write_bags() -> None:
    from rosbags.rosbag2 import CompressionMode, StoragePlugin

    for folder, storage in (("bag_mcap", "mcap"), ("bag_sqlite", "sqlite3")):
        command("bag export", "run.parquet", "--output", folder, "--storage", storage)
    shutil.copy(next(Path("bag_mcap").glob("*.mcap")), "log.mcap")
    shutil.copy(next(Path("bag_sqlite").glob("*.db3")), "log.db3")
    _compress("log.db3.zstd", StoragePlugin.SQLITE3, CompressionMode.FILE)
    _compress("chunked.mcap", StoragePlugin.MCAP, CompressionMode.STORAGE)
    _write_ros1()


def _write_arrays() -> None:
    """The run as arrays of NumPy and of MATLAB."""
    from scipy.io import savemat

    import iparam

    recording = iparam.Recording.load("run.csv", robot="ur5e")
    arrays = {name: recording.signal(name).values for name in ("q", "wrench")}
    arrays["time"] = recording.signal("q").time
    np.savez_compressed("run.npz", **arrays)
    savemat("run.mat", arrays, do_compression=True)


def _write_ros1() -> None:
    """The messages of a bag as ROS 1 writes them."""
    from rosbags.rosbag1 import Writer
    from rosbags.rosbag2 import Reader
    from rosbags.typesys import Stores, get_typestore

    store, other = get_typestore(Stores.ROS1_NOETIC), get_typestore(Stores.LATEST)
    target = Writer("ros1.bag")
    target.set_compression(Writer.CompressionFormat.LZ4)
    with Reader("bag_sqlite") as source, target:
        topics = {one.id: target.add_connection(one.topic, one.msgtype, typestore=store) for one in source.connections}
        for connection, stamp, data in source.messages():
            target.write(topics[connection.id], stamp, bytes(other.cdr_to_ros1(data, connection.msgtype)))


def _compress(name: str, storage: StoragePlugin, mode: CompressionMode) -> None:
    """The same bag in a single file that is compressed as a whole, or in chunks."""
    from rosbags.rosbag2 import CompressionFormat, Reader, Writer

    packed = Writer("packed", version=8, storage_plugin=storage)
    packed.set_compression(mode, CompressionFormat.ZSTD)
    with Reader("bag_sqlite") as source, packed as target:
        topics = {
            one.id: target.add_connection(one.topic, one.msgtype, msgdef=one.msgdef.data, rihs01=one.digest)
            for one in source.connections
        }
        for connection, stamp, data in source.messages():
            target.write(topics[connection.id], stamp, data)
    shutil.move(next(Path("packed").glob(f"*{Path(name).suffix}")), name)
    shutil.rmtree("packed")
