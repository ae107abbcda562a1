"""The truth goes to a file of its own and is nowhere in the recording."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from iparam.errors import FileFormatError
from iparam.simulation import GroundTruth, MujocoSimulator, Payload


def test_file_and_back(excited, box: Payload, tmp_path: Path) -> None:
    excited.save_truth(tmp_path / "truth.json")
    document = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))
    assert document["format"] == "iparam-truth/1"
    assert document["frame"] == "tool0"
    assert document["mass"] == 2.3456789
    np.testing.assert_array_equal(document["phi"], box.parameters.phi)
    np.testing.assert_array_equal(document["inertia_about_origin"], box.parameters.inertia_about_origin)
    back = GroundTruth.load(tmp_path / "truth.json")
    np.testing.assert_array_equal(back.payload.phi, box.parameters.phi)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "iparam-result/1"},
        {"mass": 3.0},
        {"mass": -1.0},
        {"mass": 1e308},
        {"mass": 1e20},
        {"phi": [1.0]},
        {"center_of_mass": "here"},
        {"center_of_mass": [1.0, 2.0]},
        {"inertia_about_com": [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
    ],
)
def test_a_file_that_contradicts_itself(excited, tmp_path: Path, change: dict[str, object]) -> None:
    excited.save_truth(tmp_path / "truth.json")
    document = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))
    (tmp_path / "truth.json").write_text(json.dumps(document | change), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"truth\.json"):
        GroundTruth.load(tmp_path / "truth.json")


def test_nothing_carried_is_a_truth_of_zeros(ur5e, at_rest) -> None:
    truth = MujocoSimulator().load(ur5e).run(at_rest()).truth
    np.testing.assert_array_equal(truth.payload.phi, np.zeros(10))


def test_metadata_does_not_depend_on_the_payload(excited, ur5e, at_rest) -> None:
    other = MujocoSimulator().load(ur5e, Payload.sphere(radius=0.05, mass=1.0)).run(at_rest()).recording
    assert dict(excited.recording.metadata) == dict(other.metadata)
    assert set(excited.recording.signals) == {
        "q", "dq", "tau", "target_q", "target_dq", "target_ddq", "wrench", "accelerometer", "gyro"
    }  # fmt: skip


def test_the_saved_recording_does_not_hold_the_truth(excited, box: Payload, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "run.parquet"
    excited.recording.save(path)
    table = pq.read_table(path)
    text = " ".join([*table.column_names, repr(table.schema.metadata), repr(pq.read_metadata(path).metadata)]).lower()
    for word in ("truth", "mass", "inertia", "phi", "center_of_mass", "2.3456789"):
        assert word not in text
    truth = box.parameters.phi[box.parameters.phi != 0.0]
    for column in table.column_names:
        values = table[column].to_numpy()
        if values.dtype.kind == "f":
            assert not np.isin(values, truth).any()
