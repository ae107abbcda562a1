"""Which path is taken, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import iparam
from iparam.native import library
from iparam.native.library import PATHS, NativeCoreError, pointer, read_only_pointer
from iparam.native.rigid_body import frame_poses

EVERYTHING = SimpleNamespace(supports_baseline=lambda: 1, supports_avx2=lambda: 1, supports_avx512=lambda: 1)
OLD = SimpleNamespace(supports_baseline=lambda: 1, supports_avx2=lambda: 0, supports_avx512=lambda: 0)
OTHER_KIND = SimpleNamespace(supports_baseline=lambda: 1)


@pytest.mark.parametrize(
    ("processor", "fastest"), [(EVERYTHING, "avx512"), (OLD, "baseline"), (OTHER_KIND, "baseline")]
)
def test_the_fastest_path_is_taken_unless_another_is_asked_for(
    processor: SimpleNamespace, fastest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IPARAM_SIMD", raising=False)
    assert library._choose(processor) == fastest  # type: ignore[arg-type]
    for name in PATHS[: PATHS.index(fastest) + 1]:
        monkeypatch.setenv("IPARAM_SIMD", name)
        assert library._choose(processor) == name  # type: ignore[arg-type]


@pytest.mark.parametrize("processor", [OLD, OTHER_KIND])
def test_a_path_that_the_processor_does_not_have_is_refused(
    processor: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPARAM_SIMD", "avx2")
    with pytest.raises(NativeCoreError, match=r"IPARAM_SIMD asks for avx2.*it has baseline$"):
        library._choose(processor)  # type: ignore[arg-type]


def test_an_unknown_path_is_refused_by_a_command() -> None:
    command = [sys.executable, "-m", "iparam", "kinematics", "compute", "--robot", "ur5e", "--q", *"000000"]
    environment = {**os.environ, "IPARAM_SIMD": "sse"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "IPARAM_SIMD" in done.stderr
    assert "baseline" in done.stderr
    assert "Traceback" not in done.stderr


def test_only_contiguous_arrays_have_a_pointer() -> None:
    array = np.zeros((4, 3))
    pointer(array)
    pointer(np.zeros((0, 3)))
    fixed = array.copy()
    fixed.flags.writeable = False
    assert pointer(fixed).value == fixed.ctypes.data
    strided = array[:, 1].copy()[::2]
    strided.flags.writeable = False
    for refused in (array[:, 1], strided):
        with pytest.raises((TypeError, ValueError)):
            pointer(refused)
    assert read_only_pointer(fixed) == fixed.ctypes.data
    with pytest.raises(ValueError, match="contiguous"):
        read_only_pointer(array.T[:, ::2])


def test_sines_of_large_angles_and_of_what_is_no_number() -> None:
    """A lane that is not finite leaves the others alone."""
    robot = iparam.load_robot("ur5e")
    chain = robot.chain
    first = np.array([0.0, 1.0, -1e4, 99_999.0, -100_001.0, 1e9, 1e22, np.inf, -np.inf, np.nan, 0.5])
    q = np.zeros((len(first), 6))
    q[:, 0] = first
    poses = np.empty((len(first), 1, 4, 4))
    offset = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]])
    frame_poses(chain.address, 1, np.array([1]), offset, q, poses)
    base = np.reshape(chain.origins[0, :9], (3, 3))
    turns = base.T @ poses[:, 0, :3, :3]
    finite = np.isfinite(first)
    np.testing.assert_allclose(turns[finite, 0, 0], np.cos(first[finite]), rtol=0.0, atol=4e-16)
    np.testing.assert_allclose(turns[finite, 1, 0], np.sin(first[finite]), rtol=0.0, atol=4e-16)
    assert np.isnan(turns[~finite, 0, 0]).all()
