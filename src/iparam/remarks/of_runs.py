"""Codes of remarks about plans and runs: planning, simulation, playing, recording live."""

from __future__ import annotations

from iparam.remarks.remark import Kind, Severity

INFO, CORRECTED, DOUBT, REFUTED = Severity.INFO, Severity.CORRECTED, Severity.DOUBT, Severity.REFUTED

OF_RUNS: dict[str, Kind] = {
    "assumed-window": Kind(
        INFO,
        "The trajectory file does not name its format or the window of its Fourier series. The window 256 r^4 (1 - "
        "r)^4, r = t / T, was assumed.",
    ),
    "reference-limits": Kind(
        DOUBT,
        "The reference problem lets the wrist joints turn at {planned:.3g} rad/s, and the {robot} allows {limit:.3g} "
        "rad/s. Plan a motion for a real arm without the preset.",
    ),
    "limit-assumed": Kind(DOUBT, "No {limit} limit is known for {joints}. {assumed} was assumed."),
    "limit-untested": Kind(DOUBT, "No {limit} limit is known for {joints}. It was not tested."),
    "starts-in-motion": Kind(
        DOUBT, "The trajectory starts at {speed:.3g} rad/s and the arm at rest: the arm has to catch up."
    ),
    "rotors-assumed": Kind(
        INFO,
        "The description gives the links of {links} no inertia about their joints. Rotors of {sizes} were simulated "
        "there: the joint torques are not this arm's, the wrench at the tool is.",
    ),
    "torque-limit-reached": Kind(DOUBT, "{joint} was at its torque limit, {limit:g} N m, for {share} of the time."),
    "off-set-points": Kind(DOUBT, "{joint} was up to {error:.2g} rad off its set points."),
    "drives-too-soft": Kind(
        DOUBT,
        "{joint} was up to {error:.3g} rad away from its set point. The drives are too soft for this plan, and the "
        "limits and clearances that were checked for it do not hold.",
    ),
    "no-contact-torque": Kind(
        DOUBT,
        "The contact sensor gave a net force and no torque, so there is no wrench to identify a load from. Track the "
        "contact points (track_contact_points, filter_prim_paths_expr), or read a joint's wrench.",
    ),
    "wrench-not-of-a-load": Kind(
        DOUBT,
        "No rigid load explains {share} of the wrench along this motion. Drives with an implicit damping let the "
        "solver report the force of an acceleration that the step does not have. Use IdealPDActuatorCfg (Isaac Lab) "
        "with a damping well below the joint's inertia / dt, or a smaller step.",
    ),
    # Recording a UR controller.
    "samples-dropped": Kind(INFO, "{signal} is not finite in {count} samples, which were left out."),
    "configured-payload-changed": Kind(DOUBT, "The controller's configured payload changed during the recording."),
    "connection-gaps": Kind(
        INFO,
        "{count} gaps, about {lost} samples lost. The longest lasts {longest:.3g} s from {start:.6g} s ({cause}).",
    ),
    "controller-clock-jumped": Kind(
        DOUBT, "The controller's clock jumped. The lengths of those gaps are measured by this computer."
    ),
    "raw-wrench-not-newtons": Kind(
        INFO, "The raw wrench is not in newtons (it reads up to {largest:.3g}). The TCP force is used instead."
    ),
    "no-wrench": Kind(
        INFO, "This controller sends no wrench. Only joint torques can be identified from this recording."
    ),
    "tcp-force-without-payload": Kind(
        DOUBT,
        "The wrench is the controller's TCP force, from which the configured payload of {mass:.3g} kg is removed. "
        "What is identified is the load less that payload. Set the payload to 0 kg before recording, or use the raw "
        "wrench.",
    ),
    "tcp-not-at-flange": Kind(
        DOUBT,
        "The controller's TCP is not at the flange, and its TCP force may be about the TCP. Set the TCP to the "
        "flange (all zeros) before recording, or use the raw wrench.",
    ),
    # Fleets.
    "layout-misfits": Kind(
        INFO,
        "The layout {layout!r} does not fit {count} of {recordings} recordings, {names}. What they state themselves "
        "counts.",
    ),
    # Live identification.
    "setup-untested": Kind(
        DOUBT,
        "The sensor's frame, its clock and the arm's model were not tested yet. Some seconds of motion that turn the "
        "tool test them.",
    ),
    "noisier-than-stated": Kind(DOUBT, "The wrench is noisier than wrench_deviation states: about [{noise}]."),
    "residual-above-noise": Kind(
        DOUBT,
        "What the load leaves of the wrench is {ratio:.1f} times its noise. Is the sensor's frame, the arm's model, "
        "gravity, or a delay wrong?",
    ),
    # Reports.
    "result-of-other-recording": Kind(
        DOUBT, "The result does not come from this recording: the residuals are those of another run."
    ),
    "trajectory-not-played": Kind(
        DOUBT,
        "The recording is not of this trajectory, or not of all of it. It never comes nearer than {distance:.2g} rad "
        "to the pose planned for {time:.3g} s.",
    ),
    "speed-above-limit": Kind(
        INFO, "The trajectory moves {joint} at {speed:.4g} rad/s, above its limit of {limit:.4g}."
    ),
}
