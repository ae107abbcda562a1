"""Codes of remarks about what was identified: payloads, arms, sensors, and results put together."""

from __future__ import annotations

from iparam.remarks.remark import Kind, Severity

INFO, CORRECTED, DOUBT, REFUTED = Severity.INFO, Severity.CORRECTED, Severity.DOUBT, Severity.REFUTED

OF_LOADS: dict[str, Kind] = {
    # The wrench beside the motion.
    "wrench-outside-motion": Kind(INFO, "{count} wrench samples lie outside the recorded motion and were left out."),
    "wrench-in-motion-gaps": Kind(INFO, "{count} wrench samples lie in gaps of the recorded motion and were left out."),
    "wrench-between-gaps": Kind(
        INFO,
        "{count} wrench samples lie between gaps of the recorded motion less than {seconds:g} s apart, where the "
        "acceleration is unknown. They were left out.",
    ),
    "wrench-repeats": Kind(
        CORRECTED,
        "Only {new} of {samples} wrench samples are new, {rate:.4g} a second. The others repeat the one before and "
        "were left out.",
    ),
    "wrench-spikes": Kind(
        CORRECTED,
        "{count} of {samples} wrench samples ({share}) are spikes, up to {force:.3g} N and {torque:.3g} N m beside "
        "their neighbours. They were left out.",
    ),
    "wrench-saturated": Kind(
        CORRECTED,
        "{channels} reach a limit of the sensor in {count} of {samples} samples. These values were left out.",
    ),
    "wrench-outliers": Kind(DOUBT, "{share} of the wrench values are outliers, beyond five standard deviations."),
    # What the fit says of itself.
    "parameter-open": Kind(
        DOUBT, "This motion does not determine {parameter}: its standard deviation is {share:.0f} % {scale}."
    ),
    "only-a-part": Kind(INFO, "The data determine only {known} of the load. {advice}"),
    "not-a-rigid-body": Kind(
        DOUBT, "No rigid body has these parameters: {violation} The method 'consistent' avoids that."
    ),
    "nearest-body-taken": Kind(
        INFO,
        "Unconstrained least squares gives parameters that no rigid body has. The nearest consistent ones, "
        "{distance:.1f} standard deviations away, were taken.",
    ),
    "no-instruments": Kind(
        DOUBT, "The problem has no instruments. The regressor was used as its own, which is weighted least squares."
    ),
    "residuals-correlated": Kind(
        INFO,
        "The residuals are correlated in time. The standard deviations account for that (variance {inflation:.1f} "
        "times that of independent samples).",
    ),
    "residuals-follow-motion": Kind(
        DOUBT,
        "The residuals follow the motion, and the standard deviations do not cover the cause. Check the sensor's "
        "sign, axes, units, place and filter, the arm's model and mounting, the clock, and what else pulls at the "
        "load.",
    ),
    "residuals-keep-sign": Kind(
        DOUBT,
        "The residuals keep their sign for a good part of the run, and the standard deviations do not cover the "
        "cause: the sensor's bias drifts, the load changed, or something else pulls at it.",
    ),
    "residuals-counted": Kind(
        INFO,
        "The residuals hold more than noise. The standard deviations include how far the possible causes would move "
        "the load.",
    ),
    "few-samples": Kind(
        DOUBT,
        "{count} wrench samples are few. They may hide mistakes that a longer run would show, such as a sensor "
        "turned by some degrees.",
    ),
    "tolerance-dominates": Kind(
        INFO,
        "{share:.0f} % of the variance of the {quantity} comes from {what}, known to {now:.2g} {unit}. Measure it to "
        "{wanted:.2g} {unit} to halve the interval.",
    ),
    "cause-corrected": Kind(CORRECTED, "{finding} explains what the residuals held. It was corrected ({cause})."),
    "correction-ambiguous": Kind(
        DOUBT,
        "These data do not show whether {correction} is right: {others} would explain them as well, with another "
        "load. The standard deviations include that. Weigh the load to find out.",
    ),
    "correction-not-needed": Kind(
        DOUBT,
        "The recording is sound without {correction} and then gives another load. The standard deviations include "
        "that.",
    ),
    "correction-open": Kind(
        DOUBT,
        "This motion does not determine {field}{joints}. What is not determined stays as it was; the intervals of "
        "the load count it as unknown.",
    ),
    "no-low-pass": Kind(INFO, "The wrench shows no low-pass of the sensor. None was corrected."),
    "common-gain-unseen": Kind(
        DOUBT,
        "A gain common to all six channels cannot be told from a heavier load. The factors leave {channel} and most "
        "others as they are. A known mass determines it.",
    ),
    "gains-of-this-run": Kind(
        DOUBT,
        "The errors of the stated channel gains are unknown. The standard deviations take them to be as well known "
        "as this recording determines them. A calibration of the sensor states them.",
    ),
    "load-larger-than-arm": Kind(
        DOUBT,
        "The load would be larger than the arm: radius of gyration {radius:.3g} m, centre of mass {distance:.3g} m "
        "from {frame}; {robot} reaches {reach:.3g} m. Is the time in seconds, and are the torques in N m?",
    ),
    "shape-left-out": Kind(INFO, "{reason} It was left out: the result is that of the data alone."),
    "densities-left-open": Kind(INFO, "The data contradict the stated densities. They were left open."),
    "inertia-rests-on-shape": Kind(
        INFO,
        "The inertia rests on the shape: {share:.0f} % of what is known of its least determined entry in the {what} "
        "comes from it.",
    ),
    # Static poses.
    "rests-disagree": Kind(
        DOUBT,
        "The {quantity} of the static poses disagree by {size:.2g} {unit} rms, {factor:.1f} times what their noise "
        "explains; the standard deviations account for it. Was something touching the load, or does the sensor drift?",
    ),
    "rests-hold-more": Kind(DOUBT, "The static poses hold more than a load and noise. {cause}"),
    # Joint torques.
    "torques-scaled": Kind(
        DOUBT,
        "The torques are {scale:.3g} times those that hold the arm's own weight, by its masses. Are they in other "
        "units, or on the motors' side of the gears? The load comes out as many times too heavy.",
    ),
    "torques-reversed": Kind(
        DOUBT,
        "The torques push the arm down where its own weight has to be held. If they are counted the other way round, "
        "negate their columns.",
    ),
    "runs-short": Kind(
        DOUBT, "The runs last only {seconds} s together: too short to show how the residuals are correlated."
    ),
    "gains-estimated": Kind(INFO, "{source} Each is taken to be within {share} (standard deviation)."),
    "gains-changed-between-runs": Kind(
        DOUBT,
        "The gains of the loaded run deviate by {share:+.1f} ± {half_width:.1f} % from those of the bare run. The "
        "standard deviations were widened for it. Record both runs with the arm equally warm, one right after the "
        "other.",
    ),
    "gains-may-differ": Kind(
        DOUBT,
        "The gains of the loaded run may deviate from those of the bare run by {share:.1f} % (standard deviation). "
        "The standard deviations were widened for it. Record both runs with the arm equally warm, one right after "
        "the other.",
    ),
    "joint-still": Kind(INFO, "Joint {joint} does not move: its friction and its rotor are not known."),
    "efforts-left-out": Kind(
        INFO, "The efforts of joints {joints} are left out: their friction and rotors are not determined."
    ),
    "torques-badly-explained": Kind(
        DOUBT,
        "The model explains the torques badly: residuals are {joints} of what the torque varies by. Is the arm "
        "mounted in another way, are joints or signs exchanged, or does something else load it?",
    ),
    "parameters-of-no-arm": Kind(
        DOUBT,
        "{count} of {parameters} parameters by least squares are more than {deviations:g} standard deviations from "
        "those of any arm with positive masses: the model lacks something. Use the consistent ones.",
    ),
    "parameters-not-separable": Kind(
        DOUBT,
        "These runs do not separate or do not show {parameters}: only their joint effect is known. Use fewer "
        "friction terms, or move the joints further and faster.",
    ),
    "parameters-not-determined": Kind(
        DOUBT,
        "These runs do not determine {parameters}: their standard deviations are larger than any value that this arm "
        "can have. Move the joints further and faster.",
    ),
    # Results put together, applied and verified.
    "second-load-exact": Kind(
        INFO,
        "The second load states no standard deviations. It counts as known exactly, and the intervals are those of "
        "the first alone.",
    ),
    "frames-assumed-equal": Kind(DOUBT, "A result does not name its frame. Both are taken to be in the same one."),
    "estimates-of-different-arms": Kind(
        DOUBT, "The results come from different arms ({arms}). The load must be mounted in the same way on all of them."
    ),
    "estimates-disagree": Kind(
        DOUBT,
        "The results disagree by {factor:.1f} times what their standard deviations allow. Those of the combination "
        "were raised by that factor.",
    ),
    "inertia-left-in-torque": Kind(
        DOUBT,
        "The inertia is not known in full. Its torque stays in the wrench: up to {torque:.2g} N m for each "
        "{inertia:g} kg m^2 in this run. {advice}",
    ),
    "load-not-in-wrench": Kind(
        DOUBT,
        "The force without the load changes more ({after:.3g} N rms) than with it ({before:.3g} N). Is this the load "
        "that was carried, and is it still in this wrench?",
    ),
    "same-motion": Kind(
        DOUBT,
        "This run follows the motion that the result was identified from ({share:.0f} % of its poses are on that "
        "path). Errors that depend on the pose repeat and are predicted as well. Verify with another motion.",
    ),
    "parameters-not-verified": Kind(
        INFO,
        "The result does not have {parameters} about the frame's origin. They were fitted to this run and are not "
        "verified; the rest is.",
    ),
    "verified-with-own-run": Kind(
        DOUBT, "The result comes from this very run, so a good prediction proves little. Verify with another run."
    ),
    "gain-open": Kind(
        DOUBT, "These runs hardly determine the gain of {channel}: its standard deviation is {deviation:.2g}."
    ),
    "remarks-unstated": Kind(DOUBT, "The result does not say whether there were remarks. Identify the load again."),
    "above-rated-load": Kind(DOUBT, "The load of {mass:.4g} kg is above the rated load of {robot}, {rated:g} kg."),
    "above-joint-torques": Kind(
        DOUBT,
        "The load of {mass:.4g} kg is more than the joints of {robot} could hold by their stated torques, {limit:.3g} "
        "kg. Are the forces in N and the torques in N m?",
    ),
}
