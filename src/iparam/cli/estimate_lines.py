"""An identified load as lines of text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from iparam.cli.output import number, numbers, print_line

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate, Wrench


def print_estimate(estimate: Estimate, output: Path | None) -> None:
    """The ten parameters with their standard deviations, and what they rest on."""
    spread = estimate.standard_deviation
    print_line(f"mass            {number(estimate.mass, 4)} +- {number(spread.mass, 4)} kg")
    for axis, value, deviation in zip("xyz", estimate.center_of_mass, spread.center_of_mass, strict=True):
        print_line(f"centre of mass {axis} {1e3 * value:.3f} +- {1e3 * deviation:.3f} mm")
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        entry, deviation = estimate.inertia_about_com[i, j], spread.inertia_about_com[i, j]
        print_line(f"inertia {'xyz'[i]}{'xyz'[j]}      {number(entry)} +- {number(deviation)} kg m^2 about it")
    if estimate.sensor_bias is not None:
        print_line(f"sensor bias     {wrench_text(estimate.sensor_bias)}")
    if estimate.residual_rms.force.any() or estimate.residual_rms.torque.any():
        print_line(f"residual        {wrench_text(estimate.residual_rms)} rms")
    consistent = "yes" if estimate.physically_consistent else "no"
    print_line(f"consistent      {consistent}")
    print_line(f"condition       {estimate.condition_number:.2f}, from {estimate.samples} samples")
    if estimate.data_share is not None:
        shares = " ".join(f"{100.0 * share:.0f}" for share in estimate.data_share)
        print_line(f"from the data   {shares} % of phi, the rest from the prior")
    if output is not None:
        print_line(f"result          {output}")


def wrench_text(wrench: Wrench) -> str:
    """Force and torque on one line."""
    return f"{' '.join(numbers(wrench.force, 3))} N, {' '.join(numbers(wrench.torque, 4))} N m"
