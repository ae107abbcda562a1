"""Calls of every command that work: an attack spoils one of their files or options."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from attack.corpus.bad_files import PIPE, Put, holding
from attack.corpus.mutations import mutated
from attack.corpus.sample_files import LOG_COLUMNS, SAMPLES
from attack.warm_pool import Case

NOBODY = "127.113.7.9"
"""An address of this machine on which nothing listens."""

ELSEWHERE = "192.0.2.1"
"""An address that no machine has, so that nothing can be served on it."""

NOTHING = "nothing"
"""A file that is not there, where what is attacked is read before it."""


@dataclass(frozen=True)
class Slot:
    """A file argument of a `Line`.

    Attributes:
        place: index of its word.
        sample: the sound file that belongs there.
    """

    place: int
    sample: str

    @property
    def kind(self) -> str:
        """What belongs there."""
        return SAMPLES[self.sample]


@dataclass(frozen=True)
class Line:
    """A call of a command that works.

    Attributes:
        command: its name.
        text: its arguments: ``@name`` is a sample, ``>name`` a file that it writes.
        codes: its exit codes.
        quick: it does little more than read its files.
        slow: it takes seconds.
        endless: it runs until it is interrupted.
        also: files that it writes without being asked to.
    """

    command: str
    text: str
    codes: tuple[int, ...] = (0,)
    quick: bool = False
    slow: bool = False
    endless: bool = False
    also: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """Command and arguments as they are written here."""
        return [*self.command.split(), *self.text.split()]

    @property
    def slots(self) -> list[Slot]:
        """The file arguments."""
        parts = [word.partition("@") for word in self.words]
        return [Slot(place, sample) for place, (_, mark, sample) in enumerate(parts) if mark]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The files that it writes."""
        return (*(word[1:] for word in self.words if word.startswith(">")), *self.also)

    def arguments(self, replaced: Mapping[int, str] | None = None) -> tuple[str, ...]:
        """The arguments as a shell would pass them, those at some places replaced."""
        words = []
        for place, word in enumerate(self.words):
            before, mark, sample = word.partition("@")
            name = (replaced or {}).get(place, sample if mark else word.removeprefix(">"))
            words.append(before + name if mark else name)
        return tuple(words)

    def put_samples(self, samples: Path, folder: Path) -> None:
        """Make ``folder`` with all the samples that the call needs."""
        folder.mkdir(parents=True)
        for slot in self.slots:
            source, target = samples / slot.sample, folder / slot.sample
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            elif not target.exists():
                # A link costs less than a copy, and shows better if somebody writes to it.
                os.link(source, target)

    def __str__(self) -> str:
        return f"{self.command} {self.text}"


_BOX = "--payload-mass 2 --payload-size 0.1 0.1 0.1"
_LOGS = f"--columns {LOG_COLUMNS}"
_FRICTION = "--friction viscous,coulomb"  # to choose the terms takes seconds
_VIEW = (0,) if find_spec("viser") else (1,)  # it needs the extra viewer

LINES = (
    Line("robots", "@arm.urdf --base base --tip tool0", quick=True),
    Line("robots", "@arm.xml --tip flange", quick=True),
    Line("kinematics compute", "--robot @arm.urdf --q 0 0 0 0 0 0"),
    Line("kinematics batch", "--input @motion.json --robot @arm.urdf --output >states_out.csv", quick=True),
    Line("kinematics batch", "--input @states.csv --robot ur5e --output >states_out.json", quick=True),
    Line("kinematics batch", "--input @states.csv --robot ur5e --output >states_out.parquet", quick=True),
    Line("kinematics batch", "--input @states.parquet --robot ur5e --output >states_out.csv", quick=True),
    Line("dynamics compute", "--robot @arm.urdf --q 0 0 0 0 0 0 --json"),
    Line(
        "excite optimize",
        "--robot @arm.urdf --cell @cell.json --starts 1 --workers 1 --duration 4 --output >plan.json",
        slow=True,
    ),
    Line("excite random", f"--robot @arm.urdf --cell @cell.json {_BOX} --duration 4 --output >plan.json"),
    Line("excite check", "@motion.json --robot ur5e --cell @cell.json", codes=(1,), quick=True),  # it is too fast
    Line("excite check", f"@calm.json --robot @arm.urdf --cell @cell.json {_BOX}"),
    Line("excite predict", f"@motion.json --robot @arm.urdf --cell @cell.json {_BOX}"),
    Line("excite poses", "--robot @arm.urdf --cell @cell.json --count 4 --output >poses.json"),
    Line("identify payload", "@run.parquet --static", codes=(1,), quick=True),  # it has no rests
    Line("identify payload", "@run.csv --robot ur5e --static", codes=(1,), quick=True),
    Line("identify payload", "@run.npz --robot ur5e --static --rows 0:50", codes=(1,), quick=True),
    Line("identify payload", "@run.mat --robot ur5e --static --time-unit s", codes=(1,), quick=True),
    Line("identify payload", f"{NOTHING} --method logchol --prior @truth.json", codes=(1,), quick=True),
    Line("identify payload", "@run.csv --orientation @run.npz", codes=(2,), quick=True),  # it has joint angles
    Line("identify payload", "@run.parquet --robot @arm.urdf --tip tool0 --output >found.json"),
    Line("identify payload", "@run.csv --robot ur5e --method logchol --prior @truth.json --output >found.json"),
    Line(
        "identify torque-payload",
        f"--bare @bare.txt --loaded {NOTHING} --robot ur10e {_LOGS}",
        codes=(1,),
        quick=True,
    ),
    Line(
        "identify torque-payload",
        f"--bare @bare.txt --loaded @loaded.txt --robot ur10e {_LOGS} --output >found.json",
    ),
    Line("identify torque-payload", f"--bare @bare.txt --loaded @loaded.txt --robot @arm.urdf {_LOGS} {_FRICTION}"),
    Line(
        "identify torque-payload",
        f"--bare @bare.txt --loaded @loaded.txt --robot ur10e {_LOGS} --known-load @truth.json "
        f"--known-load-run @loaded.txt {_FRICTION}",
    ),
    Line("identify payload", "@run.parquet --shape @part.stl --shape-pose 0 0 0.1 0 0 0 --output >found.json"),
    Line(
        "identify payload", "@run.parquet --shape @part.glb --shape-pose 0 0 0.1 0 0 0 --output >found.json", quick=True
    ),
    Line(
        "identify payload", "@run.parquet --gripper @other_result.json --output >found.json", codes=(1,)
    ),  # nothing is left
    Line("identify fuse", "@result.json @other_result.json --output >fused.json", quick=True),
    Line(
        "identify robot",
        f"@bare.txt --robot ur10e {_LOGS} --validate @loaded.txt --output >arm.json --urdf >found.urdf",
    ),
    Line(
        "identify robot",
        f"@bare.txt --robot ur10e {_LOGS} --known-load @truth.json --known-load-run @loaded.txt "
        f"{_FRICTION} --coupled none --leave-out 6",
    ),
    Line("combine", "@result.json @truth.json --output >sum.json", quick=True),
    Line("combine", "@result.json @other_result.json --pose 0 0 0.1 0 0 90 --output >sum.json", quick=True),
    Line(
        "identify payload",
        "@run.csv --robot ur5e --sensor @sensor.json --sensor-rotation 1 2 3 --exclude 0.5 0.6 --output >found.json",
        codes=(0, 1),
    ),
    Line("doctor", "@run.parquet --robot @arm.urdf", codes=(0, 1)),
    Line("doctor", "@run.csv --setup @setup.toml", codes=(0, 1)),
    Line("setup", "--robot @arm.urdf --sensor @sensor.json --gripper @result.json --output >made.toml", quick=True),
    Line("doctor", "@run.csv --robot ur5e --sensor @sensor.json --json", codes=(0, 1)),
    Line("calibrate sensor", "@run.parquet --known-load @truth.json --robot @arm.urdf --output >sensor.json"),
    Line(
        "calibrate sensor",
        "@run.parquet --known-load @truth.json --robot @arm.urdf --sensor @sensor.json --output >s2.json",
        codes=(2,),
    ),
    Line("compensate", "@run.parquet --result @result.json --robot @arm.urdf --output >clean.parquet"),
    Line("compensate", "@run.csv --result @other_result.json --robot ur5e --sensor @sensor.json --output >clean.csv"),
    Line(
        "simulate",
        f"--trajectory {NOTHING} --payload-mesh @part.obj --density 1000 --output >sim.csv",
        codes=(1,),
        quick=True,
    ),
    Line(
        "simulate",
        "--trajectory @calm.json --robot @arm.urdf --cell @cell.json --output >sim.parquet --truth >sim_truth.json",
    ),
    Line(
        "simulate",
        "--trajectory @motion.json --payload-mesh @part.obj --density 1000 --output >sim.csv",
    ),
    Line("report", "@result.json --truth @truth.json --robot @arm.urdf --output >page.html"),
    Line("report", "@result.json --trajectory @motion.json --robot @arm.urdf --output >page.html", slow=True),
    Line("report", "@result.json --recording @run.parquet --sensor @sensor.json --output >page.html", slow=True),
    Line("view", "@result.json @truth.json --output >view.html", codes=_VIEW),
    Line("view", f"@result.json --host {ELSEWHERE}", codes=(1, 2)),
    Line("view", "@calm.json @cell.json --robot @arm.urdf --output >view.html", codes=_VIEW, slow=True),
    Line("view", "@run.csv @result.json --robot ur5e --output >view.html", codes=_VIEW, slow=True),
    Line(
        "verify",
        "@result.json @run.parquet --robot @arm.urdf --threshold 100 --accept-same-motion --sensor @sensor.json",
    ),
    Line("export", "@result.json --format urscript", quick=True),
    Line("export", "@static.json --format urscript", quick=True),
    Line("export", "@result.json --known-load @other_result.json --format urscript", codes=(1,), quick=True),
    Line("export", "@result.json --format csv --samples 5 --output >draws.csv"),
    Line("export", "@result.json --stage @stage.usda --own-mass add --output >loaded.usda", quick=True),
    Line("export", "@result.json --urdf @arm.urdf --link tool0 --as-link payload --output >loaded.urdf"),
    Line("bag info", "@bag_mcap", quick=True),
    Line("bag info", "@log.db3.zstd --json", quick=True),
    Line("bag info", "@ros1.bag", quick=True),
    Line("bag import", "@bag_sqlite --robot @arm.urdf --output >imported.parquet"),
    Line("bag import", "@log.mcap --robot ur5e --output >imported.csv"),
    Line("bag import", "@log.db3 --robot ur5e --output >imported.csv"),
    Line("bag import", "@chunked.mcap --robot ur5e --output >imported.csv"),
    Line("bag export", "@run.parquet --robot @arm.urdf --output >bag_out"),
    Line("bag export", "@run.csv --robot ur5e --storage sqlite3 --output >bag_out"),
    Line("fleet", "@run.csv --robot @arm.urdf --base base --tip tool0 --output >fleet_out", slow=True),
    Line(
        "fleet",
        f"@run.csv --sensor @sensor.json --scheduler tls://{NOBODY}:1 --output >fleet_out",
        codes=(1, 2),
        slow=True,
    ),
    Line("ros2 kinematics", "--setup @setup.toml -p robot:=@arm.urdf", endless=True),
    Line("ros2 identify", "--setup @setup.toml --params-file @params.yaml -p robot:=@arm.urdf", endless=True),
    Line(
        "ros2 play",
        "--setup @setup.toml -p trajectory:=@calm.json -p robot:=@arm.urdf -p cell:=@cell.json",
        endless=True,
    ),
    Line("ros2 set-payload", "@result.json --driver ur --yes", codes=(1,)),  # its types are not installed
    Line(
        "ros2 simulate",
        "--trajectory @calm.json --robot @arm.urdf --cell @cell.json --payload-mesh @part.stl --density 1000 "
        "--truth >ros_truth.json --params-file @params.yaml",
        endless=True,
    ),
    Line("ros2 compensate", "--setup @setup.toml -p result:=@result.json -p robot:=@arm.urdf", endless=True),
    Line("ur record", f"--host {NOBODY} --robot @arm.urdf --output >recorded.parquet", codes=(1,)),
    Line(
        "ur run",
        f"@calm.json --host {NOBODY} --robot @arm.urdf --cell @cell.json --yes --output >recorded.parquet",
        codes=(1,),
    ),
    Line("ur set-payload", f"@result.json --host {NOBODY} --robot ur5e", codes=(1, 2)),  # asks, or finds nobody
    Line("demo", "--time-budget 0.5 --no-report --output-dir >demo", slow=True),
)
"""Every command at least once, and each of their file arguments."""


QUICK_SHARE = 0.8
"""Of the random changes that go to calls that do little more than read."""


def spoiled(line: Line, slot: Slot, samples: Path, folder: Path, name: str, put: Put) -> Case:
    """The call with something bad in the place of one of its files, in a new ``folder``."""
    line.put_samples(samples, folder)
    argument = put(folder / f"bad{Path(slot.sample).suffix}", samples / slot.sample)
    return Case(
        f"{line} with {slot.sample}: {name}",
        line.arguments({slot.place: argument}),
        folder,
        line.outputs,
        # To wait until somebody writes to a pipe is what programs do, as long as Ctrl-C ends it.
        interrupt_after=4.0 if line.endless else 0.3 if name == PIPE else None,
    )


def mutated_case(sample: str, seed: str, samples: Path, folder: Path, *, slow: bool = False) -> Case:
    """A call that reads a kind of file, with a random change of a ``sample`` of that kind.

    Args:
        sample: its name.
        seed: of the choices.
        samples: folder of the sound files.
        folder: to run in; made.
        slow: whether to choose also from the calls that take seconds.
    """
    draw = random.Random(seed)
    readers = [(line, slot) for line in LINES for slot in line.slots if slot.kind == SAMPLES[sample]]
    quick = [(line, slot) for line, slot in readers if line.quick]
    others = [(line, slot) for line, slot in readers if not line.endless and (slow or not line.slow)]
    line, slot = draw.choice(quick if quick and not slow and draw.random() < QUICK_SHARE else others)
    source = samples / sample
    if source.is_dir():
        inner = draw.choice(sorted(source.iterdir()))
        put = holding(mutated(inner.suffix, inner.read_bytes(), seed), inner.name)
    else:
        put = holding(mutated(source.suffix, source.read_bytes(), seed))
    return spoiled(line, Slot(slot.place, sample), samples, folder, f"seed {seed}", put)
