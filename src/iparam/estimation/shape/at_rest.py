"""`with_shape`: what rests tell of a load, and its shape the rest: all ten parameters without any motion."""

from __future__ import annotations

import dataclasses

import numpy as np

from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.estimate_assembly import estimate_of, precision_warnings
from iparam.estimation.shape.contradiction import LIKELIER, UNEVEN, contradiction
from iparam.estimation.shape.data_rows import known_rows
from iparam.estimation.shape.estimator import HELD, METHOD, data_share, found_shape, reliance
from iparam.estimation.shape.placement import placed_posterior
from iparam.estimation.shape.posterior import WRONG
from iparam.estimation.shape.shape import Shape
from iparam.estimation.static.identify import StaticEstimate
from iparam.rounding import NORMAL_95


def with_shape(static: StaticEstimate, shape: Shape) -> Estimate:
    """The load of rests and of a shape.

    Args:
        static: mass and centre of mass, see `identify_static`.
        shape: in the same frame.

    Returns:
        An estimate with an inertia whose intervals hold how far densities may vary and the shape may be off. Few rests
        have wide tails: their deviations are widened to those of a normal distribution with the same 95 %.
    """
    phi = np.full(10, np.nan)
    phi[:4] = static.mass * np.array([1.0, *static.center_of_mass])
    covariance = np.full((10, 10), np.nan)
    covariance[:4, :4] = static.covariance[:4, :4] * (static.interval_factor / NORMAL_95) ** 2
    rows = known_rows(phi, covariance)
    found, placement = placed_posterior(shape, rows, static.mass)
    share = data_share(found.covariance, rows)
    placed = [] if placement is None else [placement.remark]
    warnings = [*static.warnings, *shape.remarks, *placed, *reliance(share)]
    if not shape.vague and found.wrong > WRONG:
        warnings.insert(0, f"{contradiction(found, '')} Its intervals hold that it is wrong.")
    elif not shape.vague and found.unlikely > LIKELIER:
        warnings.insert(0, f"{contradiction(found, UNEVEN)} {HELD}")
    deviations = np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    estimate = estimate_of(
        f"{METHOD} at rest",
        found.phi,
        found.covariance,
        condition_number=float("inf"),
        residual_norm=float(np.linalg.norm([*static.residual_rms.force, *static.residual_rms.torque])),
        residual_rms=static.residual_rms,
        sensor_bias=static.sensor_bias,
        samples=sum(rest.samples for rest in static.rests),
        data_share=share,
        warnings=[*warnings, *precision_warnings(found.phi, deviations)],
        status="All ten parameters were estimated: mass and centre of mass from rests, the inertia with the shape.",
    )
    return dataclasses.replace(
        estimate,
        robot=static.robot,
        frame=static.frame,
        causes=static.causes,
        refutation=static.refutation,
        measurements=static.measurements,
        shape=found_shape(shape, found, placement),
    )
