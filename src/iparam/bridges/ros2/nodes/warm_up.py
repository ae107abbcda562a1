"""Calls that load every kernel that identification takes, before samples wait for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iparam.estimation.online.examination import LONGEST, RecentSamples, examine_samples
from iparam.estimation.online.identifier import OnlineIdentifier, OnlineSettings
from iparam.regressor.wrench import wrench_regressor
from iparam.robot.model import Robot
from iparam.spatial.parameters import InertialParameters


def warm_up_identifier(robot: Robot, settings: OnlineSettings) -> None:
    """Run an identifier on an invented motion until every kernel has been called, that of a change of load too."""
    random = np.random.default_rng(0)
    for bias, speed, samples in ((settings.bias, 0.05, 60), ("none", 0.0, 120)):
        identifier = OnlineIdentifier(robot, replace(settings, bias=bias))
        for k in range(settings.lag + samples):
            angles = 0.5 * np.sin(speed * k + np.arange(robot.num_joints))
            wrench = np.asarray(settings.wrench_deviation) * random.standard_normal(6)
            identifier.step(settings.period * k, angles, wrench + (100.0 if k > settings.lag + 80 else 1.0))
        identifier.result()


def warm_up_examination(robot: Robot, settings: OnlineSettings) -> None:
    """Examine an invented motion as long as any, so that every kernel that this takes is there, and the memory."""
    random, period = np.random.default_rng(0), 0.002
    time = period * np.arange(round(LONGEST / period))
    speed = 1.0 + 0.3 * np.arange(robot.num_joints)
    phase = np.outer(time, speed)
    q, dq, ddq = 0.3 * np.sin(phase), 0.3 * speed * np.cos(phase), -0.3 * speed**2 * np.sin(phase)
    load = InertialParameters.box(1.0, (0.1, 0.1, 0.1)).phi
    wrench = wrench_regressor(robot, q, dq, ddq, settings.gravity) @ load
    noise = np.asarray(settings.wrench_deviation) * random.standard_normal(wrench.shape)
    recent = RecentSamples(period, robot.num_joints)
    for k, (angles, value) in enumerate(zip(q + 5e-5 * random.standard_normal(q.shape), wrench + noise, strict=True)):
        recent.add(2_000_000 * k, angles, value)
    examine_samples(recent.recording(), robot, "estimate", settings.gravity)
