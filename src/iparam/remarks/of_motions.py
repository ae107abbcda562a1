"""Codes of remarks about the motion and the sensors of a run."""

from __future__ import annotations

from iparam.remarks.remark import Kind, Severity

INFO, CORRECTED, DOUBT = Severity.INFO, Severity.CORRECTED, Severity.DOUBT

OF_MOTIONS: dict[str, Kind] = {
    # Joint angles and orientation.
    "rows-repeat-angles": Kind(
        INFO,
        "{count} of {rows} rows repeat the joint angles of the row before while the arm moves. They were left out of "
        "the motion: the angles come from a slower sensor than the log.",
    ),
    "joints-repeat-angles": Kind(
        INFO,
        "The angles of joint(s) {joints} are new only in some rows, each in its own. {used} of {rows} rows were "
        "used, with each joint interpolated between its new angles.",
    ),
    "clock-jumps": Kind(
        DOUBT,
        "The clock jumps by {seconds:.3g} s in all while the joint angles go on. The rows were sampled evenly, so an "
        "even clock was used.",
    ),
    "stamps-scatter": Kind(
        CORRECTED,
        "The time stamps scatter by {milliseconds:.2g} ms about an even clock, on which the joint angles are "
        "smoother. The even clock was used.",
    ),
    "bandwidth-at-limit": Kind(
        DOUBT,
        "The angles of joint(s) {joints} are smoothed at {bandwidth:.3g} Hz, the highest bandwidth that is tried. "
        "Their errors last from sample to sample and look like motion, so do not rely on the accelerations. Were the "
        "angles held, filtered or interpolated?",
    ),
    "velocities-contradict-angles": Kind(
        DOUBT,
        "The measured velocities (dq) differ from the derivative of the angles by {joints}. They were left out of "
        "the motion. Do they have another unit, sign or clock?",
    ),
    "yaw-unseen": Kind(
        INFO, "Gravity in the sensor's axes does not show turns about the vertical. They were taken to be zero."
    ),
    "gyro-without-accelerometer": Kind(
        INFO,
        "The gyro (wx, wy, wz) is used for the forces and torques of turning only. Without an accelerometer it does "
        "not show the inertia.",
    ),
    "gyro-from-degrees": Kind(
        CORRECTED,
        "The gyro (wx, wy, wz) is {scale:.4g} times the turning rate of the orientation: it was in deg/s and was "
        "converted.",
    ),
    "gyro-unlike-orientation": Kind(
        DOUBT,
        "The gyro (wx, wy, wz) and the turning rate of the orientation have a correlation of {correlation:.2f}. Are "
        "both of one sensor, in its axes?",
    ),
    "acceleration-unknown": Kind(
        INFO,
        "The sensor's linear acceleration (ax, ay, az) was not recorded and was taken to be zero, as in a slow "
        "motion. Its effect on the wrench counts as noise, and no inertia is given.",
    ),
    # Delays.
    "wrench-delayed": Kind(
        CORRECTED,
        "The wrench lags behind the motion by {milliseconds:.2f} ± {half_width:.2f} ms. This was compensated. "
        "{ambiguous}",
    ),
    "motion-delayed": Kind(
        CORRECTED,
        "The motion lags behind the wrench by {milliseconds:.2f} ± {half_width:.2f} ms. This was compensated. "
        "{ambiguous}",
    ),
    "wrench-low-passed": Kind(
        CORRECTED,
        "The wrench lags behind the motion by {milliseconds:.2f} ± {half_width:.2f} ms, like a low-pass filter with "
        "a corner of {corner:.3g} Hz. This was compensated. {ambiguous}",
    ),
    "angles-low-passed": Kind(
        CORRECTED,
        "The joint angles lag behind the wrench by {milliseconds:.2f} ± {half_width:.2f} ms, like a low-pass filter "
        "with a corner of {corner:.3g} Hz. This was compensated. {ambiguous}",
    ),
    # Sensors.
    "accelerometer-not-needed": Kind(INFO, "The accelerometer (ax, ay, az) was not used: static poses need none."),
    "accelerometer-elsewhere": Kind(
        INFO,
        "The accelerometer is in {frame!r}, {millimetres:.4g} mm from {tool_frame!r}, where the acceleration is "
        "another. It was left out.",
    ),
    "accelerometer-shows-other-gravity": Kind(
        DOUBT,
        "The accelerometer shows a gravity of {shown} m/s^2 in the axes of the base; {gravity} was used. Is the arm "
        "mounted in another way, or is the sensor in another frame than {frame}?",
    ),
    "tool-frame-unknown": Kind(
        INFO,
        "The recording's tool frame {stated!r} is not in the model of {robot}. It was taken to be {tip!r}, as stated.",
    ),
    "wrench-transformed": Kind(
        INFO,
        "The wrench was recorded in the frame {frame!r}, {millimetres:.4g} mm and {degrees:.4g} deg from "
        "{tool_frame!r}. It was transformed into that frame.",
    ),
    "sensor-near-range": Kind(
        DOUBT,
        "The {kind} reaches {largest:.3g} {unit}. The range of the {sensor} sensor is ±{limit:g} {unit}; {share} of "
        "the samples are beyond {near:g} % of it.",
    ),
    "forces-too-large": Kind(DOUBT, "The forces reach {largest:.4g} N, more than a wrist can bear. Are they in mN?"),
    "lever-too-long": Kind(
        DOUBT,
        "The torques change by {torque:.3g} N m and the forces by {force:.3g} N: a lever of {lever:.3g} m, and "
        "{robot} reaches {reach:.3g} m. Are the torques in N mm?",
    ),
    "sign-reversed": Kind(
        CORRECTED,
        "The force follows gravity like a weight that pulls at the sensor. The wrench was taken to be what the load "
        "exerts on the sensor and was reversed.",
    ),
    "sign-follows-gravity": Kind(
        DOUBT,
        "The force follows gravity like a weight of {mass:.3g} kg that pulls downwards. It should push upwards if "
        "the arm stands upright. Does the sensor report the {other}?",
    ),
    "sign-pushes-down": Kind(
        DOUBT,
        "At rest the arm would push its load down with {force:.3g} N instead of carrying it. The wrench has the "
        "wrong sign (it was recorded as {measures}), or the sensor was zeroed with the load on.",
    ),
    "efforts-taken-for-torques": Kind(
        DOUBT,
        "{topic}: the efforts were taken for torques [N m]. The ROS 2 driver of Universal Robots puts motor currents "
        "[A] there unless it is set up otherwise.",
    ),
    "efforts-zero": Kind(INFO, "{topic}: all efforts are zero. They were left out."),
}
