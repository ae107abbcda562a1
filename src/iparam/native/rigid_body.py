"""Kernels of kinematics and dynamics. Arrays are float64, contiguous and writable; outputs come last.

The first argument is the address of `Chain.packed` of a robot with n joints; N is the number of samples.
"""

from __future__ import annotations

from iparam.native.library import array, chain_kernel, count

tool_motion = chain_kernel("tool_motion", *[array] * 8, sized_by=0)
"""q, dq, ddq (N, n) -> pose (N, 4, 4), v, omega, a, alpha (N, 3) of the tool frame, in its axes."""

frame_poses = chain_kernel("frame_poses", count, *[array] * 4, sized_by=3)
"""F, bodies (F,), offsets (F, 12), q (N, n) -> poses (N, F, 4, 4) of frames that are fixed to bodies."""

jacobian = chain_kernel("jacobian", count, *[array] * 4, sized_by=1)
"""Whether in tool axes, q, dq (N, n) -> Jacobian (N, 6, n), rows [omega, v] of the tool origin, and its derivative."""

inverse_dynamics = chain_kernel("inverse_dynamics", *[array] * 6, sized_by=1)
"""Gravity (3,), q, dq, ddq (N, n), tip (N, 6) or None -> joint torques (N, n).

The tool exerts the tip's [moment, force] on the environment.
"""

inverse_dynamics_derivatives = chain_kernel("inverse_dynamics_derivatives", *[array] * 9, sized_by=1)
"""As `inverse_dynamics`, then the derivatives (N, n, n) by q, dq and ddq, [i, k] being that of torque i by joint k."""

forward_pass = chain_kernel("forward_pass", *[array] * 7, sized_by=1)
"""Gravity (3,), q, dq, ddq (N, n) -> pose (N, n, 4, 4), twist and spatial acceleration (N, n, 6) [omega, v] of every
link, in its own frame.
"""

backward_pass = chain_kernel("backward_pass", *[array] * 7, sized_by=1)
"""Tip pose (N, 4, 4), poses, twists, accelerations of `forward_pass`, tip (N, 6) or None -> wrench (N, n, 6)
[moment, force] on every link through its joint, in its frame, and joint torques (N, n).
"""

mass_matrix = chain_kernel("mass_matrix", *[array] * 2, sized_by=0)
"""q (N, n) -> joint-space mass matrix (N, n, n), rotor inertias on its diagonal included."""
