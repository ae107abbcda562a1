"""A simulated arm that programs take for a real UR controller, to practise with: `make ur-simulator`.

It listens on this machine only, unless --host says otherwise. A second one takes another loopback address: 127.0.0.2.
Ctrl-C ends it. Of ur_rtde it knows what `iparam ur` uses: moveJ, servoJ, speedJ, their stops, payloads, the watchdog.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

import numpy as np
from doubles.ur_controller.arm import HOME
from doubles.ur_controller.sockets import Fault, FaultKind
from doubles.ur_controller.twin import TwinPorts, UrTwin

import iparam
from iparam.errors import IparamError
from iparam.simulation import Payload


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "ur-simulator", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--robot", default="ur5e", help="a name from 'iparam robots' or a robot file, with six joints")
    made.add_argument("--host", default="127.0.0.1", help="IPv4 address to listen on")
    made.add_argument("--mass", type=float, help="of a box that it carries [kg]; nothing without")
    made.add_argument("--size", type=float, nargs=3, default=(0.1, 0.15, 0.2), help="of the box [m]")
    made.add_argument("--offset", type=float, nargs=3, help="centre of the box from the flange [m]")
    made.add_argument("--q", type=float, nargs=6, default=HOME.tolist(), help="where the arm stands at first [rad]")
    made.add_argument("--noise", default="ideal", help="of the sensors: ideal, ur5e or harsh")
    made.add_argument("--seed", type=int, default=0, help="of the noise")
    made.add_argument(
        "--clock",
        choices=("simulated", "wall"),
        default="simulated",
        help="simulated: it waits for 'iparam ur run' where this computer is too busy. wall: it goes on, as a real one",
    )
    made.add_argument("--max-speed", type=float, help="tool speed at which its safety stops the arm [m/s]")
    made.add_argument("--duration", type=float, help="how long to serve [s]")
    made.add_argument("--truth", type=Path, help="file for the true parameters of the load: .json")
    made.add_argument(
        "--fault",
        nargs="*",
        default=(),
        metavar="KIND@S",
        help=f"KIND@SECONDS, or KIND@NUMBERp after that many packets: {', '.join(FaultKind)}",
    )
    return made


def note(text: str) -> None:
    print(f"ur-simulator: {text}", file=sys.stderr, flush=True)


def serve(given: argparse.Namespace) -> None:
    load = None if given.mass is None else Payload.box(mass=given.mass, size=given.size, offset=given.offset)
    twin = UrTwin(
        iparam.load_robot(given.robot),
        load,
        host=given.host,
        ports=TwinPorts(),
        noise=given.noise,
        seed=given.seed,
        q=np.array(given.q),
        faults=[Fault.parse(text) for text in given.fault],
        notice=note,
        clock=given.clock,
        tool_speed=given.max_speed,
    )
    try:
        # Both signals are an orderly end: a server has no other.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: twin.stop())
        if given.truth is not None:
            twin.truth.save(given.truth)
        print(f"ready: {given.robot} at {twin.host}; connect with: iparam ur record --host {twin.host}", flush=True)
        twin.run(given.duration)
    finally:
        twin.close()
    note(f"ended after {twin.time:.1f} s")


def main() -> int:
    try:
        serve(parser().parse_args())
    except IparamError as error:
        note(str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
