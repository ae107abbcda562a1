"""`with_shape`: what rests tell of a load, and its shape the rest: all ten parameters without any motion."""

from __future__ import annotations

import dataclasses

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.estimate_assembly import estimate_of
from iparam.estimation.shape.data_rows import known_rows
from iparam.estimation.shape.estimator import METHOD, with_data
from iparam.estimation.shape.shape import Shape
from iparam.estimation.static.identify import INERTIA_UNSEEN, StaticEstimate
from iparam.remarks import Remark
from iparam.rounding import NORMAL_95


def with_shape(static: StaticEstimate, shape: Shape) -> Estimate:
    """The load of rests and of a shape.

    Args:
        static: mass and centre of mass, see `identify_static`.
        shape: in the same frame.

    Returns:
        An estimate with an inertia whose intervals hold how far densities may vary and the shape may be off. Without
        one, and with a remark, if the rests contradict the shape. Few rests have wide tails: their deviations are
        widened to those of a normal distribution with the same 95 %.
    """
    phi = np.full(10, np.nan)
    phi[:4] = static.mass * np.array([1.0, *static.center_of_mass])
    covariance = np.full((10, 10), np.nan)
    covariance[:4, :4] = static.covariance[:4, :4] * (static.interval_factor / NORMAL_95) ** 2
    known = with_data(shape, known_rows(phi, covariance))
    if isinstance(known, Remark):
        return _as_estimate(static, phi, covariance, remarks=(known, *static.remarks))
    return dataclasses.replace(
        _as_estimate(
            static,
            known.posterior.phi,
            known.posterior.covariance,
            remarks=(*static.remarks, *known.remarks),
            status="All ten parameters were estimated: mass and centre of mass from rests, the inertia with the shape.",
            data_share=known.data_share,
        ),
        shape=known.found,
    )


def _as_estimate(
    static: StaticEstimate,
    phi: FloatArray,
    covariance: FloatArray,
    *,
    remarks: tuple[Remark, ...],
    status: str = INERTIA_UNSEEN,
    data_share: FloatArray | None = None,
) -> Estimate:
    """What was found from rests as an `Estimate`: phi (10,) and its covariance (10, 10), NaN for what is not known."""
    estimate = estimate_of(
        "static" if data_share is None else f"{METHOD} at rest",  # without the shape it is that of rests alone
        phi,
        covariance,
        condition_number=float("inf"),
        residual_norm=float(np.linalg.norm([*static.residual_rms.force, *static.residual_rms.torque])),
        residual_rms=static.residual_rms,
        sensor_bias=static.sensor_bias,
        samples=sum(rest.samples for rest in static.rests),
        data_share=data_share,
        remarks=remarks,
        status=status,
    )
    return dataclasses.replace(
        estimate,
        robot=static.robot,
        frame=static.frame,
        causes=static.causes,
        refutation=static.refutation,
        measurements=static.measurements,
    )
