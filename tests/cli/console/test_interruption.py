"""Signals as a request to stop, and as they were afterwards."""

from __future__ import annotations

import signal
import threading

import pytest

from iparam.cli.console.interruption import StopRequest, interruption

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGTSTP"), reason="needs job control")


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (signal.SIGINT, "Ctrl-C"),
        (signal.SIGTERM, "SIGTERM"),
        (signal.SIGTSTP, "Ctrl-Z, which does not suspend this command"),
        (signal.SIGHUP, "its terminal was closed"),
    ],
)
def test_a_signal_is_a_request_and_the_first_one_names_it(number: signal.Signals, cause: str) -> None:
    before = signal.getsignal(number)
    with interruption() as request:
        assert not request.is_set()
        assert request.cause == ""
        signal.raise_signal(number)
        assert request.is_set()
        signal.raise_signal(signal.SIGINT)
        assert request.cause == cause
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTSTP])
def test_what_nohup_ignores_stays_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with interruption() as request:
            signal.raise_signal(number)
            assert not request.is_set()
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_a_signal_in_the_middle_of_a_look_waits_for_no_lock() -> None:
    """A handler runs in the thread that it interrupts: a lock which that one holds would never be given back."""
    request = StopRequest()

    def interrupted_while_it_holds_the_lock() -> None:
        with request._cond:
            request.set()

    threading.Thread(target=interrupted_while_it_holds_the_lock, daemon=True).start()
    assert request.wait(5.0)
    assert not StopRequest().wait(0.0)
