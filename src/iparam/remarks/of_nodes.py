"""Codes of remarks of the ROS 2 nodes about themselves and what comes to them."""

from __future__ import annotations

from iparam.remarks.remark import Kind, Severity

INFO, CORRECTED, DOUBT, REFUTED = Severity.INFO, Severity.CORRECTED, Severity.DOUBT, Severity.REFUTED

OF_NODES: dict[str, Kind] = {
    # What a node waits for.
    "node-not-configured": Kind(DOUBT, "The node is not configured."),
    "description-awaited": Kind(DOUBT, "The node waits for robot_description."),
    "description-refused": Kind(REFUTED, "{topic} is of no use: {reason}"),
    "description-unpublished": Kind(
        DOUBT,
        "Nobody publishes {topic} ({type}). Set the parameter robot to a name from 'iparam robots' or to a robot file.",
    ),
    "topic-silent": Kind(DOUBT, "No message came on {topic} for {seconds:.0f} s."),
    "topic-empty": Kind(DOUBT, "No message came on {topic} yet. {publishers} publishes it."),
    "topic-unpublished": Kind(DOUBT, "Nobody publishes {topic} ({type})."),
    "topic-elsewhere": Kind(
        DOUBT, "Nobody publishes {topic}. {type} is published on {others}: remap with -r {name}:=..."
    ),
    "topic-of-other-type": Kind(DOUBT, "{topic} is published as {types}, not as {type}."),
    "quality-of-service": Kind(
        DOUBT, "{topic} of {publishers} offers a quality of service ({policy}) that cannot match. {advice}"
    ),
    "messages-refused": Kind(DOUBT, "No message on {topic} can be used: {reason}."),
    "joints-not-found": Kind(DOUBT, "No message on {topic} has the joints {wanted}. The latest came {found}."),
    "stamps-apart": Kind(
        DOUBT, "The stamps of joint_states and wrench are {seconds:.3g} s apart. One clock must stamp both."
    ),
    "joint-states-too-far-apart": Kind(
        DOUBT,
        "No wrench lies between two joint states that are near enough. Joint states come every {milliseconds:.0f} ms: "
        "see the parameter tolerance.",
    ),
    "no-sample": Kind(
        DOUBT, "No sample came for {seconds:.0f} s. Are joint_states and wrench there, with equal stamps?"
    ),
    # What else a node sees.
    "node-name-shared": Kind(
        DOUBT,
        "{count} nodes are called {node}. Services and parameters reach any of them. Start one with -r "
        "__node:=another_name.",
    ),
    "load-published-twice": Kind(
        DOUBT,
        "{others} publishes {topic}, too. Whoever listens gets two loads in turn. Start one with -r __ns:=/another, or "
        "end one.",
    ),
    "arrays-dropped": Kind(DOUBT, "{count} arrays were dropped. Their samples are incomplete or ambiguous."),
    # Live identification.
    "setup-awaits-motion": Kind(
        DOUBT,
        "Motion shows whether the sensor's frame, its clock and the arm's model are right: {motion:.1f} of "
        "{needed:.1f} s so far. Until then, only a mass that is weighed at rest is published.",
    ),
    "setup-not-shown": Kind(
        DOUBT,
        "Motion did not show yet whether the sensor's frame, its clock and the arm's model are right ({reason}): "
        "{motion:.1f} of {needed:.1f} s so far. Until then, only a mass that is weighed at rest is published.",
    ),
    "wrench-delay-removed": Kind(
        CORRECTED,
        "The wrench is stamped {milliseconds:+.1f} ± {half_width:.1f} ms (95 %) late beside the joint states. That was "
        "removed. Set the parameter wrench_delay to {total:.4f}, or correct the stamps.",
    ),
    "wrench-delay-seen": Kind(
        DOUBT,
        "The wrench is stamped {milliseconds:+.1f} ± {half_width:.1f} ms (95 %) late beside the joint states.",
    ),
    "load-refuted": Kind(REFUTED, "The load is refuted. {reason}"),
    "load-withheld": Kind(REFUTED, "The load is withheld: {reason}."),
    # Compensation and kinematics.
    "load-awaited": Kind(DOUBT, "No load came on the topic inertia yet."),
    "load-known-in-part": Kind(
        DOUBT, "Of the load, {parameters} are not known yet. What they cause stays in the wrench."
    ),
    "load-withdrawn": Kind(DOUBT, "The load on the topic inertia was withdrawn, because it is refuted."),
    "wrenches-withheld": Kind(REFUTED, "{count} wrenches were withheld: {reason}."),
    "motions-withheld": Kind(REFUTED, "{count} motions were withheld: {reason}."),
    # Playback.
    "payload-size-unstated": Kind(
        DOUBT, "{path} does not state the payload that it was planned with. None was assumed (parameter payload_size)."
    ),
    "checked-with": Kind(INFO, "{path} was checked with {conditions}."),
}
