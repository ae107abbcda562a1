"""`discrediting`: which of a result's warnings forbid to act on its numbers.

A result carries its warnings as sentences, those of its recording included. Only the forms that are listed here are
known to take nothing from the numbers, because what they speak of was left out, compensated, or is in the standard
deviations. Every other sentence discredits: one that is new, changed or by somebody else makes a consumer stricter,
never blind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

FARTHEST_BY_CHANCE = 5.5
"""Distance of the nearest consistent body from the data, in standard deviations, that noise alone may explain: ten
parameters are further from the truth in one of a thousand cases (chi-square)."""

_HARMLESS = tuple(
    re.compile(form, re.DOTALL)
    for form in (
        # Of the recording: what is missing was left out, and what is left is sound.
        r"\d+ gaps, about \d+ samples lost; the longest is .* s from .* s on \((samples|connection)\)",
        r"\w+ has \d+ gaps of more than \S+ periods, the longest \S+ s from \S+ s on",
        r"\d+ samples fall into gaps of \w+ and were left out, from \S+ s",
        r"\d+ of the times lie outside what all signals cover and were left out",
        r"\d+ wrench samples lie (outside|in gaps of) the recorded motion and were left out",
        r"columns that say nothing to iparam were left out: .*",
        r"the file ends in the middle of a row: line \d+ was left out",
        r"there is no column time: each of the \d+ rows was taken for one pose at rest",
        r"the numbers have decimal commas, which were read as points",
        # Of a bag: which of its topics, joints and frames were taken, and what of it was left out.
        r"the robot is that of \S+: .*, \d+ joints, tool frame .*",
        r"\S+ was taken, as .* there, .*and not .*: --[a-z-]+ chooses",
        r"\S+: the joints are those with the prefix '.*'",
        r"\S+: \d+ messages are about other joints and were passed over",
        r"\S+: \d+ messages are damaged and were left out",
        r"\S+: \d+ messages came after later ones and were put in order",
        r"\S+: \d+ samples of \w+ are not finite, or beyond \S+, and were left out",
        r"\S+ is in the frame '.*', \S+ mm and \S+ deg from \S+, by tf_static",
        r"the IMU was left out: .*",
        r"\S+: its accelerometer sits \S+ mm from the origin of \S+ and feels another acceleration; left out",
        r".* breaks off in the record that begins at byte \d+ of \d+: it was cut, or its recording never finished\. .*",
        r".* is cut behind its messages, in its index: all \d+ messages were read",
        r".* has no index: its recording never finished\. \d+ messages were read",
        r".* was not closed by its writer: .* beside it was used to complete it",
        r"converted to SI units, by what the header says: .*",
        r"columns were understood by their usual names: .*",
        r"the time stamps are dates in \w+, and were converted to seconds",
        r"the accelerometer \(ax, ay, az\) was not used: poses at rest need none",
        r"the force follows gravity as a weight that pulls at the sensor: .*",
        r"the raw wrench is not in newtons \(it reads up to \S+\), so the TCP force is used instead",
        r"\d+ of \d+ rows repeat the joint angles of the row before while the arm moves, and were left out of .*",
        r"The angles of joints? .* are fresh in some rows only, each in its own, and repeat in the others .*",
        r"The time stamps scatter by \S+ ms about an even clock, on which the joint angles are smoother: .*",
        r"dq is \S+ times the slope of q over time: dq is in degrees beside q in rad, and was converted",
        r"The gyro \(wx, wy, wz\) is \S+ times the turning of the orientation: in deg/s, and was converted\.",
        # Of the identification: compensated, or in the standard deviations.
        r"The data determine only .* of the load\. (To see the rest, .*|No motion shows .*)",  # the rest is null
        r"The (wrench|motion) lags behind the (wrench|motion) by \S+ \+- \S+ ms( \(95 %\))?, which was compensated .*",
        r"The (joint angles lag behind the wrench|wrench lags behind the motion) by \S+ \+- \S+ ms( \(95 %\))?, as b.*",
        r"The wrench lags behind the joint angles by \S+ ms, which was compensated\.",
        r"The sensor's bias drifts by about .* in a second, which was estimated along; the bias given is its mean\.",
        r"The residuals are correlated in time, which the standard deviations account for \(.*",
        r"The residuals hold more than noise\. By how much .* moves the load counts in the standard deviations\.",
        r"These data would not show .*, and the standard deviations count by how much that would move the load\. .*",
        r"The second load states no standard deviations: it counts as known exactly, .*",  # as its giver said
        r"The inertia rests on the (shape|box): .*",
        r"The data contradict the (shape|box): .* It was left out: the result is that of the data alone\.",
        r"The data contradict the shape: .* the intervals hold both\. Another shape would, too, .*",
        r"Bodies of .* lie in each other[:,] .* cut it out of the other in a CAD program\.",
        r"Where the shape is was estimated along: .*",
        r".* Each is taken to be within \S+ % \(standard deviation\)\.",
    )
)
_OWNER = re.compile(r"\AOf '[^']*': ")  # of a combination: whose warning it is
_MOVED = re.compile(
    r"(?:Unconstrained least squares gives|The two results leave) parameters that no rigid body has; the nearest "
    r"consistent ones, (\d+\.?\d*) standard deviations away, were taken\."
)


def discrediting(warnings: Iterable[str]) -> tuple[str, ...]:
    """Those of the ``warnings``, a sentence each, because of which the numbers beside them are not to be used."""
    return tuple(warning for warning in warnings if not _is_harmless(warning))


def _is_harmless(warning: str) -> bool:
    warning = _OWNER.sub("", warning)
    if moved := _MOVED.fullmatch(warning):
        return float(moved[1]) <= FARTHEST_BY_CHANCE
    return any(form.fullmatch(warning) for form in _HARMLESS)
