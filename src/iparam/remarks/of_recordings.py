"""Codes of remarks about what was read: files, bags, columns, time stamps, units."""

from __future__ import annotations

from iparam.remarks.remark import Kind, Severity

INFO, CORRECTED, DOUBT = Severity.INFO, Severity.CORRECTED, Severity.DOUBT

OF_RECORDINGS: dict[str, Kind] = {
    # Rows and columns of a table.
    "lines-skipped": Kind(INFO, "{count} line(s) before the {before} were left out."),
    "row-cut": Kind(INFO, "The file ends in the middle of a row: line {line} was left out."),
    "decimal-commas": Kind(INFO, "The numbers have decimal commas, which were read as points."),
    "date-times": Kind(INFO, "The time is a date or a time of day. It was converted to seconds."),
    "usual-names": Kind(INFO, "Columns were recognised by their usual names: {columns}."),
    "columns-unknown": Kind(INFO, "Columns with unknown names were left out: {columns}."),
    "columns-without-numbers": Kind(INFO, "Columns that hold no numbers were left out: {columns}."),
    "arrays-of-other-length": Kind(INFO, "Arrays of another length than time were left out: {columns}."),
    "rows-of-other-width": Kind(INFO, "{count} rows do not have {columns} columns and were left out: line {lines}."),
    "rows-with-text": Kind(
        INFO, "{count} rows hold text where a number belongs ({example}) and were left out: line {lines}."
    ),
    "rows-absurd": Kind(INFO, "{count} rows hold impossible values ({example}) and were left out: line {lines}."),
    "rows-without-time": Kind(INFO, "{count} rows without a time were left out: {word} {lines}."),
    "time-repeated": Kind(
        INFO, "{count} rows repeat the time of the row before and were left out: {word} {lines}, first at {first:g} s."
    ),
    "rows-out-of-order": Kind(
        INFO, "Time runs backwards at {place}. {count} rows out of order were left out: {word} {lines}."
    ),
    "rows-sorted": Kind(
        INFO,
        "The rows are not in the order of time ({steps} steps run backwards, first at {place}). They were sorted; "
        "{count} rows with the time of another were left out.",
    ),
    "clock-set-back": Kind(
        DOUBT,
        "Time runs backwards at {place}: the clock was set back {steps} times. Only the longest stretch was kept, "
        "{word} {first} to {last}; {count} rows were left out.",
    ),
    "rows-are-poses": Kind(INFO, "There is no column time: each of the {count} rows was taken for one static pose."),
    "effort-unmeasured": Kind(INFO, "{signal} is not recorded for joints {joints} (numbered from 1)."),
    "signal-incomplete": Kind(INFO, "{signal} was left out: {columns} missing."),
    "signal-without-sample": Kind(INFO, "{signal} was left out: it has no complete sample."),
    "samples-not-finite": Kind(
        INFO, "{signal} lacks a finite number in {count} samples, which were left out: {word} {lines}."
    ),
    "signal-outside-range": Kind(INFO, "{signal} has no sample between {start:g} and {stop:g} s."),
    "signal-dropped-out": Kind(
        INFO,
        "{signal} holds {value:g} in {count} samples, the first at {first:.6g} s, and leaps to it and from it. Nothing "
        "was measured there; they were left out.",
    ),
    "gaps": Kind(
        INFO,
        "{signal} has {count} gaps of more than {periods:g} periods, the longest {longest:.4g} s from {start:.6g} s.",
    ),
    "signal-ends-early": Kind(INFO, "{signal} ends at {end:.6g} s, {missing:.4g} s before the recording does."),
    "signal-frozen": Kind(
        DOUBT,
        "{signal}: component {component} stays at {value:.6g} from {start:.6g} to {stop:.6g} s. Is the sensor "
        "dropped or saturated?",
    ),
    "times-not-covered": Kind(INFO, "{count} of the times lie outside what all signals cover and were left out."),
    "samples-in-gaps": Kind(INFO, "{count} samples fall into gaps of {signal} and were left out, from {start:.6g} s."),
    # Units and time.
    "units-converted": Kind(CORRECTED, "Converted to SI units, as the header says: {signals}."),
    "stamps-are-dates": Kind(CORRECTED, "The time stamps are dates in {unit}. They were converted to seconds."),
    "angles-from-degrees": Kind(
        CORRECTED,
        "{higher} is {scale:.4g} times the slope of {lower} over time: {signal} is in degrees beside {other} in rad. "
        "It was converted.",
    ),
    "some-angles-from-degrees": Kind(
        CORRECTED,
        "{signal}: joints {joints} turn further than the arm can, and are in degrees beside others in rad. They were "
        "converted.",
    ),
    "turns-taken-out": Kind(
        CORRECTED,
        "{signal}: joints {joints} jump by whole turns from one sample to the next, {count} times. The turns were "
        "taken out.",
    ),
    "angles-left-in-rad": Kind(
        INFO, "{lower} is in degrees, and {higher} beside it in rad: {higher} was left as it is."
    ),
    "angles-large": Kind(
        DOUBT,
        "Joint angles reach {largest:.4g} rad. If they are degrees, say so.",
    ),
    "angles-beyond-limit": Kind(
        DOUBT,
        "{signal}{joint} reaches {largest:.4g} where the limit of {robot} is {limit:.4g}, in {count} of {samples} "
        "samples. Is it another joint's, or counted from another zero?",
    ),
    "outliers-beyond-limit": Kind(
        INFO,
        "{signal}{joint} reaches {largest:.4g} where the limit of {robot} is {limit:.4g}, in {count} of {samples} "
        "samples.",
    ),
    "time-unit-doubtful": Kind(DOUBT, "{reason}."),
    "scales-disagree": Kind(
        DOUBT, "{higher} is {scale:.4g} times the slope of {lower} over time. Are all three in SI units?"
    ),
    # Bags.
    "bag-unfinished": Kind(INFO, "{folder} has no {file}: the recording was not finished."),
    "bag-metadata-damaged": Kind(INFO, "{path} is damaged and was not used: {reason}."),
    "bag-counts-differ": Kind(INFO, "{file} counts {stated} messages, {count} were found."),
    "robot-from-bag": Kind(INFO, "The robot is that of {topic}: {robot}, {joints} joints, tool frame {tool_frame}."),
    "topic-chosen": Kind(INFO, "{topic} was taken, as {reason}, and not {others}."),
    "joint-prefix": Kind(INFO, "{topic}: the joints with the prefix {prefix!r} were taken."),
    "other-joints": Kind(INFO, "{topic}: {count} messages about other joints were left out."),
    "messages-damaged": Kind(INFO, "{topic}: {count} messages are damaged and were left out."),
    "messages-reordered": Kind(INFO, "{topic}: {count} messages came after later ones and were put in order."),
    "messages-uneven": Kind(
        INFO,
        "{topic}: {count} messages have more or fewer values for {signal} than names of joints. They were left out.",
    ),
    "messages-absurd": Kind(
        INFO, "{topic}: {count} samples of {signal} are not finite or beyond {bound:g}. They were left out."
    ),
    "signal-without-messages": Kind(
        INFO, "{topic}: {signal} was left out: no message has sound numbers for all of it."
    ),
    "stamps-missing": Kind(DOUBT, "{topics}: the headers have no stamps. The time of recording is used instead."),
    "stamps-jump": Kind(
        DOUBT,
        "{topic}: the stamps jump {count} times against the time of recording, first by {step:+.4g} s at {start:.6g} "
        "s. The clock was set, or messages were held up.",
    ),
    "two-clocks": Kind(
        DOUBT, "The stamps differ from the time of recording by {differences}. They seem to come from two clocks."
    ),
    "no-wrench-topic": Kind(INFO, "There is no topic of type {type}: the recording has no wrench."),
    "wrench-without-angles": Kind(
        INFO, "{count} samples of the wrench lie where no joint angles tell how the tool is turned. They were left out."
    ),
    "imu-left-out": Kind(INFO, "The IMU was left out: {reason}"),
    "frame-placed": Kind(INFO, "{topic} is in the frame {frame!r}, {place} from {tool_frame}, by tf_static."),
    "frame-unnamed": Kind(DOUBT, "{topic} names no frame. It was taken to be in {tool_frame}."),
    "frame-contradicted": Kind(DOUBT, "{topic} is in the frame {frame}, and was taken to be in {stated!r}, as stated."),
    "gravity-missing": Kind(
        DOUBT,
        "{topic}: the accelerometer reads {median:.3g} m/s^2 in the median. Gravity seems to have been removed, and "
        "the estimators expect it.",
    ),
    "acceleration-implausible": Kind(
        DOUBT, "{topic}: the accelerometer reads {median:.4g} m/s^2 in the median, where gravity alone gives 9.81."
    ),
    "weight-implausible": Kind(DOUBT, "The force follows a weight of {mass:.4g} kg. Is it in N?"),
    # The robot and what the recording states.
    "followers-computed": Kind(INFO, "{signals} of mimic joints were not recorded. They were computed: {joints}."),
    "follower-off": Kind(
        DOUBT,
        "Mimic joint {joint!r} is recorded up to {distance:.3g} from where its relation takes it ({relation}). Leave "
        "its columns out to have it computed.",
    ),
    "robot-is-another": Kind(Severity.REFUTED, "{holder} belongs to a {stated}, and {given} is another arm: {how}."),
    "robot-not-compared": Kind(
        INFO,
        "{holder} belongs to {stated!r}, which could not be compared with {given!r}. They were taken for the same.",
    ),
    "robot-on-tilted-base": Kind(
        DOUBT,
        "{holder} belongs to a {stated}. {given} has its kinematics, on a base that is tilted by {tilt:.0f} deg, so "
        "gravity is another.",
    ),
    "robot-of-other-name": Kind(
        INFO, "{holder} belongs to a {stated}. {given} has its kinematics and was taken for the same arm."
    ),
    "gravity-unusual": Kind(DOUBT, "Gravity was taken to be {gravity} m/s^2 in the axes of the base."),
    "load-already-removed": Kind(
        DOUBT, "A load of {mass:.4g} kg and the sensor's bias were removed from this wrench: it holds only the rest."
    ),
}
