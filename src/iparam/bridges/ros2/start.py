"""Starting a node: from `iparam ros2 ...` and from the ament package iparam_ros alike."""

from __future__ import annotations

import gc
import itertools
import signal
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.printable import printable

NODES = {
    "kinematics": "iparam.bridges.ros2.nodes.kinematics:KinematicsNode",
    "identify": "iparam.bridges.ros2.nodes.identification:IdentificationNode",
    "identify_lifecycle": "iparam.bridges.ros2.nodes.identification:ManagedIdentificationNode",
    "play": "iparam.bridges.ros2.nodes.playback:PlaybackNode",
    "compensate": "iparam.bridges.ros2.nodes.compensation:CompensationNode",
}

COMMAND_NODES = {"simulate": "iparam.bridges.ros2.simulated_arm:SimulatedArmNode"}
"""Nodes that need more than parameters, which `iparam ros2 ...` brings; the ament package does not have them."""

BETWEEN = 0.1
"""Seconds between two looks at a node's services and timers, unless it has its own; its messages are waited for."""

LARGEST_PARAMETER_FILE = 256 * 1024
"""Bytes of a parameter file that ROS 2 is given to read; its reader takes seconds for so many, if they are nested."""


def run_node(name: str, arguments: Sequence[str] = (), **settings: Any) -> None:
    """Run a node until SIGINT or SIGTERM.

    Args:
        name: a key of `NODES` or `COMMAND_NODES`.
        arguments: of the command line, e.g. ``["--ros-args", "-p", "frame:=base"]``.
        **settings: of a node of `COMMAND_NODES`.

    Raises:
        MissingExtraError: without ROS 2.
        InputError: if an argument or a parameter cannot be.
        IparamError: if an arm may still move at the end.
    """
    homes = {**NODES, **COMMAND_NODES}
    if name not in homes:
        raise UnknownNameError("node", name, homes)
    _check_parameter_files(arguments)
    from iparam.bridges.ros2.backend import (
        ExternalShutdownException,
        SignalHandlerOptions,
        SingleThreadedExecutor,
        rclpy,
    )

    try:
        # Signals are handled here: the node has to be able to send its last messages.
        rclpy.init(args=[name, *arguments], signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy has several for arguments that it cannot read
        raise InputError(f"ROS 2 refuses the arguments {' '.join(arguments)!r}: {_first_sentence(error)}") from None
    stopping = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # of nohup: a closed terminal ends nothing
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    node = None
    try:
        module, _, kind = homes[name].partition(":")
        node = getattr(import_module(module), kind)(**settings)
        others = SingleThreadedExecutor()
        others.add_node(node)
        gc.collect()
        gc.freeze()  # what has been loaded by now stays: the collector need not look at it while messages come
        looked, between = time.monotonic(), getattr(node, "BETWEEN", BETWEEN)
        try:
            while not stopping and rclpy.ok():
                node.inputs.wait(between)
                if time.monotonic() - looked >= between:
                    others.spin_once(timeout_sec=0.0)
                    looked = time.monotonic()
        finally:
            node.close()  # a fault of the node stops the arm, too
    except ExternalShutdownException:
        pass
    finally:
        if node is not None:
            node.inputs.destroy_node()
            node.destroy_node()
        rclpy.try_shutdown()
        for number, handler in before.items():
            signal.signal(number, handler)


def main(name: str) -> int:
    """Run a node with the arguments of the process, as an ament executable; its exit code."""
    try:
        run_node(name, sys.argv[1:])
    except IparamError as error:
        print(f"iparam: error: {printable(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, InputError | UnknownNameError) else 1
    return 0


def _check_parameter_files(arguments: Sequence[str]) -> None:
    """Refuse what ROS 2 would read for minutes: its reader takes time with the square of a file's depth."""
    for option, name in itertools.pairwise(arguments):
        path = Path(name)
        if option != "--params-file" or not path.exists():  # ROS 2 says what is missing
            continue
        if not (path.is_file() or path.is_fifo()):
            raise InputError(f"--params-file {name} is not a file. Give a file of parameters in ROS 2's format")
        size = path.stat().st_size
        if size > LARGEST_PARAMETER_FILE:
            raise InputError(
                f"--params-file {name} holds {size} bytes, more than the {LARGEST_PARAMETER_FILE} that are read. "
                "Keep the parameters of this node in a file of their own"
            )


def _first_sentence(error: Exception) -> str:
    text = str(error).partition(", at ")[0]
    return " ".join(text.split()) or type(error).__name__
