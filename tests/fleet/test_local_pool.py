"""`LocalPool`: what its workers say, they say once."""

from __future__ import annotations

import pytest

from iparam.fleet import LocalPool
from iparam.robot.kernels import notice


@pytest.mark.parametrize("said", [False, True])
def test_that_kernels_are_compiled_is_said_once_by_all_together(
    said: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notice._state, "said", said)
    monkeypatch.delenv(notice.SWITCH, raising=False)
    with LocalPool(2) as pool:
        for future in [pool.submit(notice.say_compiling, True) for _ in range(8)]:
            future.result()
        pool.restart()
        pool.submit(notice.say_compiling, True).result()
    assert capfd.readouterr().err.count("compiling kernels") == (0 if said else 1)
