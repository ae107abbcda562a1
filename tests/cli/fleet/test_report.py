"""`iparam fleet report`: the page, full reports on demand, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.trajectory import WindowedFourierTrajectory

Q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])


@pytest.mark.thorough
def test_a_page_and_a_full_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], dask_scheduler: str
) -> None:
    monkeypatch.chdir(tmp_path)
    robot = iparam.load_robot("ur5e")
    a, b = np.random.default_rng(1).normal(0.0, 0.35, (2, 6, 3))
    motion = WindowedFourierTrajectory(Q0, a, b, base_freq=0.25, duration=4.0).sample(100.0)
    load = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).phi
    exact = Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ load
    Path("runs").mkdir()
    noise_preset("ur5e").apply(exact.with_signal("wrench", time=motion.time, values=wrench), 1).save("runs/a.parquet")
    assert (
        main(["fleet", "identify", "runs", "--robot", "ur5e", "--output", "fleet", "--scheduler", dask_scheduler]) == 0
    )
    capsys.readouterr()
    assert main(["fleet", "report", "fleet"]) == 0
    assert capsys.readouterr().out.split() == ["report", "fleet/report.html"]
    assert main(["fleet", "report", "fleet", "--from", "runs", "--robot", "ur5e", "--full", "a.parquet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    made = Path(out.split()[1])
    assert "a.parquet" in made.read_text(encoding="utf-8")
    assert f'href="reports/{made.name}"' in Path("fleet/report.html").read_text(encoding="utf-8")
    again = ["fleet", "report", "fleet", "--from", "runs", "--full", "a.parquet"]
    assert main([*again, "--robot", "ur5e", "--layout", "{arm}"]) == 0  # does not change what is identified
    assert capsys.readouterr().err == ""
    assert main([*again, "--bias", "none"]) == 0
    told = "a.parquet: the table was made with other options: --bias as usual (here none), --robot ur5e (here as usual)"
    assert told in capsys.readouterr().err
    Path("fleet/pieces").mkdir()
    Path("runs/a.parquet").write_text("time,hello\n1,2\n", encoding="utf-8")
    assert main(again) == 1
    out, err = capsys.readouterr()
    assert "no full report of a.parquet: " in err
    assert "error: the full report could not be made: see above" in err
    assert "the last run into fleet has not come to its end" in err
    assert str(tmp_path) not in out + err
    Path("fleet/pieces").rmdir()
    noise_preset("ur5e").apply(exact.with_signal("wrench", time=motion.time, values=wrench), 1).save("runs/a.parquet")
    made.unlink()
    assert main([*again, "a.parquet", "b.parque", "--robot", "ur5e"]) == 1  # the others are made
    out, err = capsys.readouterr()
    assert "no full report of b.parque: the table in fleet has no such recording" in err
    assert "1 of 2 full reports could not be made: see above" in err
    assert made.exists()
    for words, message in (
        (["--full", "a.parquet"], "say where they are (--from)"),
        (["--output", "page.txt"], "page.txt"),
    ):
        assert main(["fleet", "report", "fleet", *words]) == 2
        assert message in capsys.readouterr().err
    assert main(["fleet", "report", "nowhere"]) == 1
    assert "has no recordings.parquet" in capsys.readouterr().err
