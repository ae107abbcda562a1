"""What the page says of the excitation."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from iparam.excitation import condition_number
from iparam.report import ReportInput
from iparam.report.content import Paragraph, Section
from iparam.report.context import ReportContext
from iparam.report.sections.excitation import excitation_section
from iparam.rounding import significant

pytest.importorskip("matplotlib")


def test_the_condition_number_of_the_plan_is_computed_whatever_its_file_says(run: Any) -> None:
    stating = dataclasses.replace(run.trajectory, condition_number=123.4)
    given = ReportInput(estimate=run.estimate, robot=run.robot, recording=run.recording, trajectory=stating)
    section = excitation_section(ReportContext(given))
    assert isinstance(section, Section)
    (sentence, *_) = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    found = condition_number(run.robot, run.trajectory.trajectory, rate=run.trajectory.fps).regressor
    assert significant(found) in sentence
    assert "123" not in sentence
