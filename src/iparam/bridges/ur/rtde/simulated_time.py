"""Simulated time: what the controller of `make ur-simulator` and iparam's own clients agree on.

A computer that is too busy holds up the simulated controller, the guard and whoever commands the arm for a tenth of a
second now and then. On the wall clock that looks like a fault. The simulated controller therefore has a clock of its
own: it sends `SIMULATED_TIME` in its packages, and whoever commands the arm writes into `RUN_UNTIL` up to which time
it, and the guard behind it, are ready. Its clock runs no faster than the wall clock, and waits where it is not
allowed to go on; clients of such a controller measure silences on its clock. Who does not answer for `PATIENCE` has a
fault: the clock then goes on without it, and the guards on either side see the silence.

A real controller answers NOT_FOUND to the name of the field: with it every silence counts on the wall clock.
"""

from __future__ import annotations

SIMULATED_TIME = "iparam_simulated_time"
"""Output: the controller's time since its start [s]."""

RUN_UNTIL = "iparam_run_until"
"""Input: the controller's time up to which the client has nothing against going on [s]."""

PATIENCE = 1.0
"""For which the controller waits for a client [s, wall clock]."""

LOST = 1.8
"""Without a package, after which a controller with simulated time counts as silent [s, wall clock]: its own patience,
and a good deal for a busy computer, but less than the time after which a connection is made anew."""
