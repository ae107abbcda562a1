"""`Workbench`: an arm with a load and a motion, its recordings in MuJoCo, and the sensors' noise on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

import iparam
from iparam.arrays import FloatArray
from iparam.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.noise import noise_preset
from iparam.simulation import Payload
from iparam.spatial import InertialParameters
from mistakes.rig import Scene

DATA = Path(__file__).resolve().parents[1] / "data"
ARMS = ("ur5e", "panda")
PAYLOADS = ("compact", "slender", "extreme")
DRAWN = "drawn"
"""A payload that is another one for each seed."""

_MOTIONS = {"ur5e": "optimized_ur5e.json", "panda": "optimized_panda.json"}
_EXTREME = {
    # Nearly all that the one arm may carry; next to nothing on the other.
    "ur5e": Payload.box(size=(0.10, 0.12, 0.15), mass=4.6, offset=(0.01, -0.02, 0.08), rotation_rpy=(0.1, 0.2, 0.3)),
    "panda": Payload.box(size=(0.04, 0.05, 0.06), mass=0.3, offset=(0.005, 0.01, 0.04)),
}
_HEAVIEST = {"ur5e": 4.5, "panda": 2.8}
"""Of the loads that are drawn [kg]."""


@dataclass(frozen=True)
class Workbench:
    """One arm that carries one load.

    Attributes:
        arm: its name, one of ARMS.
        payload: one of PAYLOADS: compact; slender, far off the axis; extreme, heavy or light; or DRAWN.
        seed: of the sensors' noise, and of a load that is drawn.
        noise: preset of the noise.
    """

    arm: str
    payload: str
    seed: int = 1
    noise: str = "ur5e"

    @cached_property
    def robot(self) -> Robot:
        """The arm as it is."""
        return _robot(self.arm)

    @property
    def name(self) -> str:
        """Of the arm and the load."""
        return f"{self.arm}-{self.payload}"

    @cached_property
    def load(self) -> InertialParameters:
        """What it carries, in the tool frame."""
        if self.payload == "compact":
            return Payload.box(size=(0.06, 0.08, 0.10), mass=1.6, offset=(0.02, -0.01, 0.07)).parameters
        if self.payload == "slender":
            lying = {"offset": (0.06, 0.09, 0.05), "rotation_rpy": (1.45, 0.0, 0.3)}
            return Payload.cylinder(radius=0.015, length=0.40, mass=0.9, **lying).parameters
        if self.payload == DRAWN:
            return _drawn(self.seed, _HEAVIEST[self.arm]).parameters
        return _EXTREME[self.arm].parameters

    def scene(self, **changes: Any) -> Scene:
        """The scene as it should be, but for ``changes``, see `Scene`."""
        settings = {"load": self.load, "trajectory": _trajectory(self.arm), **changes}
        return Scene(self.robot, **settings)

    def measured(self, **changes: Any) -> Recording:
        """The recording of a scene, with noise."""
        return self.with_noise(self.scene(**changes).run()) if changes else self.sound

    @property
    def sound(self) -> Recording:
        """The recording without a mistake."""
        return self.with_noise(self.exact)

    @property
    def exact(self) -> Recording:
        """The same without noise."""
        return self.scene().run() if self.payload == DRAWN else _undisturbed(self.arm, self.payload)

    def with_noise(self, exact: Recording) -> Recording:
        """What the sensors make of it; the file does not say which."""
        noisy = noise_preset(self.noise).apply(exact, self.seed)
        return Recording(signals=noisy.signals)

    @property
    def random(self) -> np.random.Generator:
        """For what is drawn at random in a mistake."""
        return np.random.default_rng([self.seed, 17])

    def tool_axes(self, recording: Recording) -> FloatArray:
        """(T, 3, 3) axes of the tool in the base at the samples of the wrench, of the angles in a recording."""
        angles, wrench = recording.signal("q"), recording.signal("wrench")
        q = np.column_stack([np.interp(wrench.time, angles.time, column) for column in angles.values.T])
        return iparam.forward_kinematics(self.robot, q)[..., :3, :3]


def _drawn(seed: int, heaviest: float) -> Payload:
    """A box of 0.3 kg to the heaviest, with edges of 3 to 25 cm, anywhere in front of the flange."""
    random = np.random.default_rng([seed, 29])
    mass, *size = np.exp(random.uniform(np.log([0.3, 0.03, 0.03, 0.03]), np.log([heaviest, 0.25, 0.25, 0.25]))).tolist()
    place = random.uniform([-0.06, -0.06, 0.02], [0.06, 0.06, 0.12])
    return Payload.box(
        size=tuple(size), mass=mass, offset=tuple(place), rotation_rpy=tuple(random.uniform(-1.0, 1.0, 3))
    )


@cache
def _robot(name: str) -> Robot:
    return iparam.load_robot(name)


@cache
def _trajectory(arm: str) -> Any:
    return iparam.load_trajectory(DATA / _MOTIONS[arm]).trajectory


@cache
def _undisturbed(arm: str, payload: str) -> Recording:
    return Workbench(arm, payload).scene().run()
