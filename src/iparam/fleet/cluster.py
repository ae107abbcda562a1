"""The one place that imports Dask: a cluster's scheduler as an executor.

What crosses the wire is Dask's own protocol between its scheduler, its workers and this client; TLS is set up in Dask's
own configuration. A scheduler runs what any client sends: it belongs into a network of one's own, or behind TLS.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from typing import Any
from urllib.parse import urlsplit

from iparam.errors import InputError, IparamError, MissingExtraError
from iparam.robot.batching import set_num_threads

CONNECT_SECONDS = 10.0
_KNOWN = 5.0  # s for which the number of workers is not asked for again


class ClusterError(IparamError):
    """A scheduler cannot be reached, or has no workers that this client can use."""


class Cluster(Executor):
    """The workers of a Dask scheduler.

    Args:
        address: of the scheduler, ``tcp://HOST:PORT`` or ``tls://HOST:PORT``; for the latter Dask's configuration
            (``distributed.comm.tls``) has the certificates.

    Raises:
        ClusterError: nobody answers there, no worker is connected, or one has another iparam or Python.
        MissingExtraError: dask.distributed is not installed.
    """

    def __init__(self, address: str) -> None:
        self.address = _checked_address(address)
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("dask.distributed", "fleet") from None
        for name in ("distributed", "distributed.client"):  # what happens is said here, in one sentence
            logging.getLogger(name).setLevel(logging.CRITICAL)
        warnings.filterwarnings("ignore", category=distributed.versions.VersionMismatchWarning)  # see `check_workers`
        try:
            self._client: Any = distributed.Client(
                address, timeout=CONNECT_SECONDS, set_as_default=False, name="iparam"
            )
        except (OSError, TypeError, ValueError, RuntimeError) as error:
            raise ClusterError(f"no scheduler answers at {address}: {' '.join(str(error).split())[:200]}") from None
        self._asked, self._known = 0.0, 1
        self._executor: Executor = self._client.get_executor(pure=False)
        try:
            if not self.threads():
                raise ClusterError(f"the scheduler at {address} has no workers: start some with: dask worker {address}")
            check_workers(self._client.get_versions(packages=["iparam"]))
        except ClusterError:
            self.shutdown()
            raise

    @property
    def num_workers(self) -> int:
        """Threads of all workers that were connected when that was last asked, some seconds ago at most."""
        if time.monotonic() - self._asked > _KNOWN:
            self._asked = time.monotonic()
            with contextlib.suppress(OSError, TimeoutError):  # it may just be gone, which `lost` tells
                self._known = max(1, sum(self.threads().values()))
        return self._known

    @property
    def lost(self) -> bool:
        """Whether the scheduler has gone."""
        return bool(self._client.status not in ("running", "connecting"))

    @property
    def loss(self) -> str:
        """What to say once it has, or has forgotten what it was given."""
        return f"the scheduler at {self.address} is gone: it ended or was restarted, or the network is cut"

    def threads(self) -> dict[str, int]:
        """Threads of each worker."""
        found: dict[str, int] = self._client.nthreads()
        return found

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor`; in a worker's process, iparam uses one thread a task."""
        return self._executor.submit(_in_worker, _process(), fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which goes on; what this client has under way there is cancelled."""
        self._client.close(timeout=2.0)


def _process() -> tuple[str, int]:
    """What tells this process from those of other machines."""
    return socket.gethostname(), os.getpid()


def _in_worker(client: tuple[str, int], fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function with one thread: a machine's cores are shared out by its workers, not by each of them again."""
    if _process() != client:
        set_num_threads(1)
    return fn(*args, **kwargs)


def check_workers(versions: Mapping[str, Any]) -> None:
    """What a client sends can be run by workers of the same iparam and Python only, and gives the same numbers there.

    Args:
        versions: as Dask's ``get_versions`` has them, with those of iparam.

    Raises:
        ClusterError: a worker has others.
    """
    own = versions["client"]["packages"]
    for worker, known in versions["workers"].items():
        found = known.get("packages", own) if isinstance(known, Mapping) else own
        for name, title, digits in (("python", "Python", 2), ("iparam", "iparam", None)):
            here, there = (str(packages.get(name)).split(".")[:digits] for packages in (own, found))
            if here != there:
                has = f"{title} {found[name]}" if found.get(name) else f"no {title}"
                wanted = f"{title} {'.'.join(here)}"
                raise ClusterError(
                    f"the worker at {worker} has {has}, this client {wanted}: start it where {wanted} is installed"
                )


def _checked_address(address: str) -> str:
    """The address of a scheduler, if it can be one."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port and parts.path in ("", "/")
    except ValueError:
        known = False
    if not known:
        raise InputError(argument="scheduler", value=address, expected="'local' or an address such as tcp://HOST:PORT")
    return address
