"""The twin's controller in simulated time, without sockets: what its fields mean, its program, its stops."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from doubles.ur_controller.arm import HOME, TwinArm
from doubles.ur_controller.control_script import ControlScript
from doubles.ur_controller.controller import DRIVE_GAINS, TwinController
from doubles.ur_controller.dashboard import Dashboard
from doubles.ur_controller.load import KnownLoad
from doubles.ur_controller.motion import PERIOD, MoveJ, Program
from doubles.ur_controller.protocol import OUTPUT_TYPES
from doubles.ur_controller.urscript import ScriptReader

import iparam
from iparam.bridges.ur.rtde.fields import Recipe
from iparam.errors import InputError
from iparam.export.controllers import to_urscript
from iparam.export.load import IdentifiedLoad
from iparam.sensing.noise import noise_preset
from iparam.simulation import Payload
from iparam.simulation.motors import motors
from iparam.spatial.transforms import exp_so3

MASS = 1.5
PAYLOAD = Payload.box(size=[0.08, 0.1, 0.12], mass=MASS, offset=[0.02, -0.01, 0.06])
CENTER = PAYLOAD.parameters.center_of_mass
GRAVITY = 9.81


@pytest.fixture
def controller() -> TwinController:
    return make()


def make(noise: str = "ideal", payload: Payload | None = PAYLOAD, q: np.ndarray = HOME) -> TwinController:
    notices: list[str] = []
    made = TwinController(TwinArm(iparam.load_robot("ur5e"), payload, q), noise_preset(noise), 1, notices.append)
    made.log = notices  # type: ignore[attr-defined]
    return made


def away(*steps: float) -> np.ndarray:
    """Joint angles that far from home [rad]."""
    return np.asarray(HOME + np.array(steps))


def log(controller: TwinController) -> list[str]:
    return controller.log  # type: ignore[attr-defined, no-any-return]


def value(controller: TwinController, name: str) -> np.ndarray:
    return np.array(controller.values[name])


class Client:
    """Writes the registers as ur_rtde does, and lets time pass."""

    def __init__(self, controller: TwinController, offset: int = 0) -> None:
        self.controller, self._offset = controller, offset
        controller.start_program(Program("rtde_control", ControlScript(controller, offset, offset).steps()))
        controller.tick()

    def write(self, command: int, numbers: list[float] | np.ndarray = (), integer: int = 0) -> None:  # type: ignore[assignment]
        inputs: dict[str, float] = {
            f"input_double_register_{i + self._offset}": float(number) for i, number in enumerate(numbers)
        }
        inputs[f"input_int_register_{1 + self._offset}"] = integer
        self.controller.write_inputs({**inputs, f"input_int_register_{self._offset}": command})

    @property
    def state(self) -> int:
        return int(self.controller.values[f"output_int_register_{self._offset}"])  # type: ignore[arg-type]

    def call(
        self, command: int, numbers: list[float] | np.ndarray = (), integer: int = 0, seconds: float = 5.0
    ) -> float:  # type: ignore[assignment]
        """Send a command and wait until it is done; the time that it took."""
        assert self.state == 1
        self.write(command, numbers, integer)
        begin = self.controller.time
        while self.state != 2:
            self.controller.tick()
            assert self.controller.time - begin < seconds, log(self.controller)
        took = self.controller.time - begin
        self.write(0)
        self.controller.tick()
        return took

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds / PERIOD)):
            self.controller.tick()


# ------------------------------------------------------------------------------------------------------------- fields
def test_an_unknown_load_at_rest_pulls_down_in_base_axes(controller: TwinController) -> None:
    force = value(controller, "actual_TCP_force")
    np.testing.assert_allclose(force[:3], [0.0, 0.0, -MASS * GRAVITY], atol=2e-3)
    turn = exp_so3(value(controller, "actual_TCP_pose")[3:])
    np.testing.assert_allclose(force[3:], np.cross(turn @ CENTER, [0.0, 0.0, -MASS * GRAVITY]), atol=2e-3)
    raw = value(controller, "ft_raw_wrench")
    np.testing.assert_allclose(turn @ raw[:3], force[:3], atol=1e-9)
    np.testing.assert_allclose(turn @ raw[3:], force[3:], atol=1e-9)
    accelerometer = turn @ value(controller, "actual_tool_accelerometer")
    np.testing.assert_allclose(accelerometer, [0.0, 0.0, GRAVITY], atol=2e-3)


def test_the_pose_and_speed_belong_to_the_joints() -> None:
    controller = make(noise="ur5e")
    client = Client(controller)
    controller.set_tcp(np.array([0.01, -0.02, 0.15, 0.1, 0.2, -0.3]))
    client.write(9, [0.3, -0.2, 0.1, 0.4, -0.3, 0.2, 5.0, 0.0])
    client.wait(0.3)
    robot = controller.arm.robot
    q, dq = value(controller, "actual_q"), value(controller, "actual_qd")
    flange = iparam.forward_kinematics(robot, q)
    offset = np.eye(4)
    offset[:3, :3], offset[:3, 3] = exp_so3([0.1, 0.2, -0.3]), [0.01, -0.02, 0.15]
    tcp, pose = flange @ offset, value(controller, "actual_TCP_pose")
    np.testing.assert_allclose(pose[:3], tcp[:3, 3], atol=1e-9)
    np.testing.assert_allclose(exp_so3(pose[3:]), tcp[:3, :3], atol=1e-9)
    omega, v = (iparam.jacobian(robot, q, frame="base") @ dq).reshape(2, 3)
    speed = np.concatenate([v + np.cross(omega, tcp[:3, 3] - flange[:3, 3]), omega])
    np.testing.assert_allclose(value(controller, "actual_TCP_speed"), speed, atol=1e-9)
    assert np.linalg.norm(speed) > 0.1


def test_encoders_have_the_preset_noise_and_set_points_none() -> None:
    controller = make(noise="ur5e")
    q, forces = [], []
    for _ in range(400):
        controller.tick()
        q.append(value(controller, "actual_q") - controller.sample.q)
        forces.append(value(controller, "ft_raw_wrench")[:3])
    assert abs(np.std(q) / 5e-5 - 1.0) < 0.1
    assert abs(np.std(forces, axis=0).mean() / 0.5 - 1.0) < 0.15
    np.testing.assert_allclose(value(controller, "target_q"), HOME, atol=1e-12)


def test_target_moments_and_currents_are_those_of_the_controllers_model(controller: TwinController) -> None:
    robot = controller.arm.robot
    alone = iparam.gravity_torques(robot, HOME)
    np.testing.assert_allclose(value(controller, "target_moment"), alone, atol=1e-9)
    loaded = iparam.gravity_torques(robot.with_payload(PAYLOAD.parameters), HOME)
    np.testing.assert_allclose(value(controller, "actual_current") * DRIVE_GAINS, loaded, atol=0.02)
    controller.set_load(KnownLoad(MASS, tuple(CENTER)))
    controller.tick()
    np.testing.assert_allclose(value(controller, "target_moment"), loaded, atol=1e-9)


def test_currents_of_real_motors_have_their_friction() -> None:
    drives, robot = motors("ur10e"), iparam.load_robot("ur10e")
    arm = TwinArm(robot, None, HOME, drives)
    controller = TwinController(arm, noise_preset("ideal"), 1, lambda text: None, drives)
    client, speed = Client(controller), 0.3
    client.write(9, [speed, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    client.wait(0.5)
    currents = []
    for _ in range(300):
        controller.tick()
        currents.append(value(controller, "actual_current"))
    # About the vertical axis there is no weight: at an even speed all torque is friction.
    mean, deviation = np.mean(currents, axis=0), np.std(currents, axis=0)
    friction = drives.viscous[0] * speed + drives.coulomb[0]
    assert mean[0] * drives.drive_gains[0] == pytest.approx(friction, rel=0.02)
    np.testing.assert_allclose(deviation, drives.current_noise, rtol=0.3)


def test_the_clock_is_even_and_fields_pack(controller: TwinController) -> None:
    stamps = []
    for _ in range(50):
        controller.tick()
        stamps.append(controller.values["timestamp"])
    np.testing.assert_allclose(np.diff(stamps), PERIOD, atol=1e-12)
    names = list(controller.values)
    recipe = Recipe.agreed(names, [OUTPUT_TYPES[name] for name in names])
    assert recipe.unpack(recipe.pack(controller.values))["robot_mode"] == 7


def test_momentum_is_that_of_the_arm_and_the_load_that_is_known(controller: TwinController) -> None:
    client = Client(controller)
    client.write(9, [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0])
    client.wait(0.4)
    alone = float(controller.values["actual_momentum"])  # type: ignore[arg-type]
    controller.set_load(KnownLoad(2.0))
    controller.tick()
    speed = value(controller, "actual_TCP_speed")[:3]
    # About the first axis all of the arm moves the same way, so that the parts add up.
    assert alone < float(controller.values["actual_momentum"]) <= alone + 2.0 * np.linalg.norm(speed) + 1e-3  # type: ignore[arg-type]
    assert alone > 0.5


# ------------------------------------------------------------------------------------------------------------ payload
@pytest.mark.parametrize("command", [17, 65])
def test_a_payload_that_is_right_takes_the_weight_away_in_every_pose(controller: TwinController, command: int) -> None:
    client = Client(controller)
    client.call(command, [MASS, *CENTER, *((0.004, 0.005, 0.003, 1e-4, -2e-4, 3e-4) if command == 65 else ())])
    assert controller.values["payload"] == MASS
    np.testing.assert_allclose(value(controller, "payload_cog"), CENTER)
    inertia = [0.004, 0.005, 0.003, 1e-4, -2e-4, 3e-4] if command == 65 else [0.0] * 6
    np.testing.assert_allclose(value(controller, "payload_inertia"), inertia)
    client.wait(0.2)
    np.testing.assert_allclose(value(controller, "actual_TCP_force"), 0.0, atol=2e-3)
    client.call(1, [*away(0.4, 0.2, -0.2, 0.5, -0.7, 1.0), 2.0, 4.0])
    client.wait(0.3)
    np.testing.assert_allclose(value(controller, "actual_TCP_force"), 0.0, atol=5e-3)
    raw = value(controller, "ft_raw_wrench")
    assert abs(np.linalg.norm(raw[:3]) - MASS * GRAVITY) < 5e-3  # neither payload nor zeroing touches it


def test_a_payload_that_is_wrong_shows_in_the_next_pose(controller: TwinController) -> None:
    client = Client(controller)
    client.call(17, [0.5 * MASS, *CENTER])
    client.wait(0.3)
    client.call(8)
    np.testing.assert_allclose(value(controller, "actual_TCP_force"), 0.0, atol=2e-3)
    turn = exp_so3(value(controller, "actual_TCP_pose")[3:])
    client.call(1, [*away(0.0, 0.0, 0.0, 0.0, 1.0, 0.0), 2.0, 4.0])
    client.wait(0.3)
    missing = np.array([0.0, 0.0, -0.5 * MASS * GRAVITY])
    turned = exp_so3(value(controller, "actual_TCP_pose")[3:]) @ turn.T  # the sensor's zero turned with the sensor
    np.testing.assert_allclose(value(controller, "actual_TCP_force")[:3], missing - turned @ missing, atol=0.01)


def test_a_centre_of_gravity_of_zeros_keeps_the_known_one(controller: TwinController) -> None:
    client = Client(controller)
    client.call(17, [MASS, *CENTER])
    client.call(17, [2.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(value(controller, "payload_cog"), CENTER)
    assert controller.values["payload"] == 2.0


def test_zeroing_leaves_the_raw_wrench(controller: TwinController) -> None:
    client, before = Client(controller), value(controller, "ft_raw_wrench")
    client.call(8)
    np.testing.assert_allclose(value(controller, "actual_TCP_force"), 0.0, atol=1e-3)
    np.testing.assert_allclose(value(controller, "ft_raw_wrench"), before, atol=1e-3)


# ------------------------------------------------------------------------------------------------------------ program
@pytest.mark.parametrize("offset", [0, 24])
def test_movej_arrives_and_takes_the_time_of_its_profile(controller: TwinController, offset: int) -> None:
    client, goal = Client(controller, offset), away(0.5, 0.1, -0.1, 0.2, 0.3, -0.4)
    took = client.call(1, [*goal, 1.0, 2.0])
    assert took == pytest.approx(0.5 + 0.5, abs=0.02)  # distance / speed + speed / acceleration
    np.testing.assert_allclose(value(controller, "target_q"), goal, atol=1e-12)
    np.testing.assert_allclose(value(controller, "actual_q"), goal, atol=2e-3)


def test_a_movej_that_is_not_waited_for_reports_its_progress(controller: TwinController) -> None:
    client = Client(controller)
    assert client.call(1, [*(HOME + 0.1), 1.0, 2.0], integer=1) < 0.02
    running = 1 << 15
    assert int(controller.values["output_int_register_2"]) & running  # type: ignore[arg-type]
    client.wait(1.0)
    assert not int(controller.values["output_int_register_2"]) & running  # type: ignore[arg-type]
    np.testing.assert_allclose(value(controller, "actual_q"), HOME + 0.1, atol=2e-3)


def test_servoj_follows_a_sine_and_servostop_stops(controller: TwinController) -> None:
    client, lookahead = Client(controller), 0.05
    times = PERIOD * np.arange(1000)
    path = HOME + 0.2 * (1.0 - np.cos(2.0 * np.pi * times))[:, None] * [1.0, -0.2, 0.3, 0.5, 0.5, 1.0]
    reached = []
    for target in path:
        client.write(11, [*target, 0.0, 0.0, PERIOD, lookahead, 800.0])
        controller.tick()
        reached.append(controller.sample.q)
        assert client.state == 1
    late = np.array([np.interp(times - lookahead, times, column) for column in path.T]).T
    assert np.abs(np.array(reached) - late)[100:].max() < 0.02
    client.call(16, [5.0])
    client.wait(0.1)
    assert np.abs(controller.sample.dq).max() < 1e-3
    assert controller.program is not None


def test_stops_take_the_time_of_their_deceleration(controller: TwinController) -> None:
    client = Client(controller)
    for command in (15, 34):
        client.write(9, [0.5, 0.0, 0.0, 0.0, 0.2, 0.0, 4.0, 0.0])
        client.wait(0.3)
        np.testing.assert_allclose(value(controller, "actual_qd"), [0.5, 0.0, 0.0, 0.0, 0.2, 0.0], atol=0.01)
        client.write(0)
        controller.tick()
        assert client.call(command, [2.0]) == pytest.approx(0.25, abs=0.02)
        assert not controller.arm.moving


@pytest.mark.parametrize(
    ("command", "numbers"),
    [(11, [*HOME, 0.0, 0.0, PERIOD, 0.1, 300.0]), (24, [])],
    ids=["set points", "kickWatchdog"],
)
def test_a_silent_client_trips_the_watchdog(controller: TwinController, command: int, numbers: list[float]) -> None:
    client = Client(controller)
    client.call(35, [10.0])
    for _ in range(100):
        client.write(command, numbers)
        controller.tick()
    assert controller.program is not None
    client.wait(0.15)
    assert controller.program is None
    assert any("silent" in line for line in log(controller))


@pytest.mark.parametrize(
    ("command", "numbers", "message"),
    [
        (6, [0.1] * 8, "command 6 of ur_rtde is not modelled"),
        (1, [*HOME, 0.0, 1.0], "both must be positive"),
        (1, [9.0, *HOME[1:], 1.0, 1.0], "cannot reach"),
        (1, [float("nan"), *HOME[1:], 1.0, 1.0], "wrote nan"),
        (17, [-1.0, 0.0, 0.0, 0.1], "cannot be"),
        (34, [0.0], "must be positive"),
        (35, [0.0], "a watchdog of 0 Hz"),
    ],
)
def test_what_cannot_be_ends_the_program_and_says_so(
    controller: TwinController, command: int, numbers: list[float], message: str
) -> None:
    client = Client(controller)
    client.write(9, [0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0])
    client.wait(0.1)
    client.write(command, numbers)
    client.wait(0.3)
    assert controller.program is None
    assert client.state != 2
    assert any(message in line for line in log(controller)), log(controller)
    assert np.abs(controller.sample.dq).max() < 1e-3
    assert controller.values["runtime_state"] == 1
    assert controller.values["safety_mode"] == 1


def test_the_stop_command_ends_the_program(controller: TwinController) -> None:
    client = Client(controller)
    assert controller.values["robot_status_bits"] == 3
    client.write(255)
    client.wait(2 * PERIOD)
    assert controller.program is None
    assert controller.values["robot_status_bits"] == 1


# ------------------------------------------------------------------------------------------------------------- safety
@pytest.mark.parametrize(
    ("command", "numbers", "message"),
    [
        (11, [*away(0.2, 0, 0, 0, 0, 0), 0.0, 0.0, PERIOD, 0.1, 300.0], "jumped by 11.5 deg"),
        (9, [0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 30.0, 0.0], "would have to move"),
        (9, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 30.0, 0.0], ""),
        (9, [0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 30.0, 0.0], "collision of"),
    ],
)
def test_a_protective_stop_stops_arm_and_program(
    controller: TwinController, command: int, numbers: list[float], message: str
) -> None:
    client = Client(controller)
    client.write(command, numbers)
    client.wait(1.5)
    if not message:
        assert controller.stop_reason == ""
        assert controller.values["safety_status_bits"] == 1
        return
    assert message in controller.stop_reason
    assert controller.program is None
    assert controller.values["safety_mode"] == 3
    assert int(controller.values["safety_status_bits"]) & 0b100  # type: ignore[arg-type]
    assert not int(controller.values["safety_status_bits"]) & 1  # type: ignore[arg-type]
    assert np.abs(controller.sample.dq).max() < 0.05
    assert np.isfinite(controller.sample.q).all()


def test_a_servo_target_may_catch_up_after_a_pause(controller: TwinController) -> None:
    client, servo = Client(controller), [0.0, 0.0, PERIOD, 0.1, 300.0]
    client.write(11, [*HOME, *servo])
    client.wait(0.2)
    client.write(11, [*away(0.2, 0, 0, 0, 0, 0), *servo])
    client.wait(0.2)
    assert controller.stop_reason == ""


def test_a_protective_stop_is_unlocked_after_five_seconds(controller: TwinController) -> None:
    client, dashboard = Client(controller), Dashboard(controller)
    controller.protective_stop("a test")
    client.wait(0.1)
    assert b"PROTECTIVE_STOP" in dashboard.feed(b"safetystatus\n")
    assert dashboard.feed(b"unlock protective stop\n").startswith(b"Cannot unlock")
    controller.start_program(Program("rtde_control", ControlScript(controller, 0, 0).steps()))
    assert controller.program is None
    client.wait(5.0)
    assert dashboard.feed(b"unlock protective stop\n") == b"Protective stop releasing\n"
    Client(controller)
    assert controller.values["safety_mode"] == 1
    assert controller.program is not None


def test_an_arm_that_cannot_be_is_refused() -> None:
    robot = iparam.load_robot("ur5e")
    with pytest.raises(InputError, match="within the joints' range"):
        TwinArm(robot, None, np.full(6, 7.0))
    with pytest.raises(InputError, match="touches"):
        TwinArm(robot, Payload.box(size=[0.1, 0.1, 2.0], mass=1.0))


# ------------------------------------------------------------------------------------------------ dashboard, URScript
def test_the_dashboard_answers_line_by_line(controller: TwinController) -> None:
    dashboard = Dashboard(controller)
    assert dashboard.feed(b"robotm") == b""
    assert dashboard.feed(b"ode\nsafetymode\n") == b"Robotmode: RUNNING\nSafetymode: NORMAL\n"
    assert dashboard.feed(b"running\n") == b"Program running: false\n"
    Client(controller)
    assert dashboard.feed(b"programState\n") == b"PLAYING rtde_control\n"
    assert dashboard.feed(b"stop\n") == b"Stopped\n"
    assert controller.program is None
    assert dashboard.feed(b"make coffee\n") == b'could not understand: "make coffee"\n'
    assert dashboard.feed(b"quit\n") == b"Disconnected\n"
    assert dashboard.ended


def test_the_exported_urscript_sets_the_payload(controller: TwinController) -> None:
    body = PAYLOAD.parameters
    load = IdentifiedLoad(body.mass, body.center_of_mass, body.inertia_about_com)
    ScriptReader(controller).feed(to_urscript(load).encode())
    controller.tick()
    assert controller.values["payload"] == pytest.approx(body.mass, rel=1e-6)
    np.testing.assert_allclose(value(controller, "payload_cog"), body.center_of_mass, atol=1e-7)
    known = controller.load.parameters.inertia_about_com
    np.testing.assert_allclose(known, body.inertia_about_com, atol=1e-8)


def test_programs_are_cut_from_any_pieces(controller: TwinController) -> None:
    text = b"def f():\n  # a remark\n  set_payload(1.25, [0.01, 0, -0.02])\n  textmsg(1)\n  movej([0,0,0,0,0,0])\nend\n"
    reader = ScriptReader(controller)
    for i in range(len(text)):
        reader.feed(text[i : i + 1])
    controller.tick()
    assert controller.load == KnownLoad(1.25, (0.01, 0.0, -0.02))
    controller.tick()
    assert controller.program is None
    assert [line for line in log(controller) if "left out" in line] == [
        "URScript left out, the twin does not run it: movej([0,0,0,0,0,0])"
    ]


def test_a_secondary_program_leaves_the_first_one_running(controller: TwinController) -> None:
    Client(controller)
    ScriptReader(controller).feed(b"sec s():\n set_target_payload(2, [0, 0, 0.1], [1e-3, 2E-3, .003, 0, 0, 0])\nend\n")
    assert controller.program is not None
    assert controller.load == KnownLoad(2.0, (0.0, 0.0, 0.1), (1e-3, 2e-3, 0.003, 0.0, 0.0, 0.0))
    ScriptReader(controller).feed(b"set_payload(1)\n")
    controller.tick()
    assert controller.load == KnownLoad(1.0, (0.0, 0.0, 0.1))
    assert controller.program is None or controller.program.name == "script"


@pytest.mark.parametrize(
    "line",
    [
        "set_payload(__import__('os').getpid(), [0,0,0])",
        "set_payload(1, [0,0])",
        "set_payload(1e, [0,0,0])",
        "set_payload(nan, [0,0,0])",
        "set_target_payload(1, [0,0,0], [0,0,0,0,0])",
        "set_payload(1, [0,0,0]) set_payload(2, [0,0,0])",
        "write_output_integer_register(99, 1)",
    ],
)
def test_anything_outside_the_grammar_is_left_out(controller: TwinController, line: str) -> None:
    ScriptReader(controller).feed(line.encode() + b"\n")
    controller.tick()
    assert controller.load == KnownLoad()
    assert any("left out" in text for text in log(controller))


@pytest.mark.parametrize("load", ["1e999, [0,0,0]", "1e308, [0,0,0]", "1, [0,0,1e6]"])
def test_a_load_beyond_any_arm_ends_the_program(controller: TwinController, load: str) -> None:
    ScriptReader(controller).feed(f"set_payload({load})\n".encode())
    controller.tick()
    assert controller.load == KnownLoad()
    assert any("cannot be" in text for text in log(controller))


STRETCHED = np.array([0.0, -0.3, 0.2, -0.3, -np.pi / 2, 0.0])
TURN = np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0])
RADIUS = float(np.linalg.norm(iparam.forward_kinematics(iparam.load_robot("ur5e"), STRETCHED)[:2, 3]))
"""Distance of the flange from the axis of the base [m]."""


@pytest.mark.parametrize(
    ("speed", "change", "reason"),
    [
        (1.4, {}, ""),
        (1.8, {}, "the TCP would reach 1.5"),
        (1.8, {"tool_speed": 2.5}, ""),
        (1.0, {"momentum": 4.0}, "the momentum would reach 4"),
        (1.0, {"elbow_speed": 0.2}, "the elbow would reach 0.2"),
    ],
)
def test_it_stops_at_the_limits_of_its_safety_configuration(
    speed: float, change: dict[str, float], reason: str
) -> None:
    arm = TwinArm(iparam.load_robot("ur5e"), None, STRETCHED)
    safety = dataclasses.replace(iparam.robot.catalog.catalog_arm("ur5e").safety, **change)
    controller = TwinController(arm, noise_preset("ideal"), 1, lambda text: None, safety=safety)
    arm.motion = MoveJ(STRETCHED, STRETCHED + TURN, speed / RADIUS, 8.0)
    fastest = 0.0
    while arm.moving:
        controller.tick()
        fastest = max(fastest, float(np.linalg.norm(value(controller, "actual_TCP_speed")[:3])))
    assert controller.stop_reason.startswith(reason) if reason else controller.stop_reason == ""
    assert fastest < safety.tool_speed + 0.02  # what a period at 8 rad/s^2 adds
    if speed == 1.4:
        assert fastest > 1.35  # which a plan may use


def test_the_flange_counts_beside_a_tcp_that_stands_still() -> None:
    arm = TwinArm(iparam.load_robot("ur5e"), None, STRETCHED)
    controller = TwinController(arm, noise_preset("ideal"), 1, lambda text: None)
    flange = controller.kinematics.flange(STRETCHED)
    on_axis = flange[:3, :3].T @ (np.array([0.0, 0.0, flange[2, 3]]) - flange[:3, 3])
    controller.set_tcp(np.concatenate((on_axis, np.zeros(3))))
    arm.motion = MoveJ(STRETCHED, STRETCHED + TURN, 1.8 / RADIUS, 8.0)
    while arm.moving:
        controller.tick()
    assert controller.stop_reason.startswith("the flange would reach 1.5")
