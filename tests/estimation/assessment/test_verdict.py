"""The verdict is a function of numbers and severities, and lists its rules."""

from __future__ import annotations

import dataclasses
import json
import string
from pathlib import Path

import numpy as np
import pytest
from made_results import made_result, with_load

from iparam.bridges.ur.run.payload_setting import check_credit
from iparam.estimation import Estimate
from iparam.estimation.assessment.verdict import COARSE, verdict_on
from iparam.estimation.errors import RefutedResultError
from iparam.export import FORMATS, IdentifiedLoad, export_load
from iparam.remarks import CODES, Remark, Severity, remark

HARMLESS = (Severity.INFO, Severity.CORRECTED)


@pytest.fixture
def sound(tmp_path: Path) -> Estimate:
    path = tmp_path / "result.json"
    inertia = np.diag([0.01, 0.012, 0.008]).tolist()
    path.write_text(json.dumps(made_result(2.0, [0.01, 0.02, 0.06], inertia, robot="ur5e", frame="tool0")))
    return Estimate.load(path)


def of_severity(code: str, severity: Severity) -> Remark:
    names = {name for _, name, _, _ in string.Formatter().parse(CODES[code].template) if name}
    return remark(code, severity, **dict.fromkeys(names, 1.5))


def saying(estimate: Estimate, *severities: Severity) -> Estimate:
    """The estimate with a remark of every code for each severity."""
    return dataclasses.replace(estimate, remarks=tuple(of_severity(code, one) for one in severities for code in CODES))


def test_the_rules_of_a_good_result(sound: Estimate) -> None:
    verdict = verdict_on(sound)
    assert verdict.word == "good"
    assert len(verdict.rules) == 5
    assert all(rule.passed and rule.number <= rule.bound for rule in verdict.rules)
    assert sound.assessment["rules"] == [rule.to_document() for rule in verdict.rules]
    assert [set(rule) for rule in sound.assessment["rules"]] == [{"rule", "number", "bound", "passed"}] * 5


@pytest.mark.parametrize("severity", HARMLESS)
def test_what_is_only_told_or_was_corrected_changes_nothing(severity: Severity, sound: Estimate) -> None:
    told = saying(sound, severity)
    assert verdict_on(told) == verdict_on(sound)
    np.testing.assert_array_equal(told.covariance_phi, sound.covariance_phi)
    np.testing.assert_array_equal(told.standard_deviation.phi, sound.standard_deviation.phi)
    told.require_credit("the arm is told")
    load = IdentifiedLoad.from_estimate(told)
    assert load.discredited_by == ()
    check_credit(load)
    np.testing.assert_array_equal(load.deviations, IdentifiedLoad.from_estimate(sound).deviations)


@pytest.mark.parametrize("severity", HARMLESS)
@pytest.mark.parametrize("name", FORMATS)
def test_no_export_is_blocked_by_what_is_only_told(name: str, severity: Severity, sound: Estimate) -> None:
    code = "wrench-spikes" if severity is Severity.CORRECTED else "only-a-part"
    told = dataclasses.replace(sound, remarks=(of_severity(code, severity),))
    assert export_load(IdentifiedLoad.from_estimate(told), name)


def test_a_doubt_lowers_and_a_refuting_remark_refutes(sound: Estimate) -> None:
    doubted = dataclasses.replace(sound, remarks=(of_severity("few-samples", Severity.DOUBT),))
    assert verdict_on(doubted).word == "usable"
    assert [rule.name for rule in verdict_on(doubted).rules if not rule.passed] == ["doubts"]
    np.testing.assert_array_equal(doubted.covariance_phi, sound.covariance_phi)
    refuted = dataclasses.replace(sound, remarks=(of_severity("robot-is-another", Severity.REFUTED),))
    assert refuted.assessment["verdict"] == "refuted"
    assert [(rule.name, rule.number, rule.passed) for rule in verdict_on(refuted).rules] == [("refutations", 1, False)]
    with pytest.raises(RefutedResultError):
        refuted.require_credit("the arm is told")
    with pytest.raises(RefutedResultError):
        export_load(IdentifiedLoad.from_estimate(refuted), "json")


def test_wide_intervals_decide_by_their_number(sound: Estimate) -> None:
    wide = with_load(sound, sound.phi, 1e4 * sound.covariance_phi)
    (failed,) = (rule for rule in verdict_on(wide).rules if not rule.passed)
    assert failed.number > failed.bound == COARSE
    assert verdict_on(wide).word == "usable"
