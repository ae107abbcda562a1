"""The one place that imports Dask: a cluster's scheduler as an executor.

What crosses the wire is Dask's own protocol between its scheduler, its workers and this client, with TLS where the
scheduler asks for it. A scheduler runs what any client sends: it belongs into a network of one's own, or behind TLS.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import secrets
import socket
import ssl
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from iparam.errors import InputError, IparamError, MissingExtraError
from iparam.robot.batching import set_num_threads

LOCAL = "local"
"""In place of a scheduler's address: the cores of this machine."""

PROTOCOLS = ("tcp", "tls")
NUMERICAL = ("numpy", "scipy", "numba")
"""Packages that results are computed with, besides iparam."""

CONNECT_SECONDS = 10.0
_ANSWER = 2.0  # s to wait for a shared number
_KNOWN = 5.0  # s for which the number of workers is not asked for again


class ClusterError(IparamError):
    """A scheduler cannot be reached, or has no workers that this client can use."""


@dataclass(frozen=True)
class TlsFiles:
    """The files of a scheduler's TLS, as Dask has them: the authority's certificate, this client's own and its key.

    Attributes:
        ca_file, cert, key: paths of PEM files.
    """

    ca_file: Path
    cert: Path
    key: Path

    def __post_init__(self) -> None:
        for name in ("ca_file", "cert", "key"):
            path = getattr(self, name)
            if not Path(path).is_file():
                raise InputError(f"--tls-{name.replace('_', '-')} {path}: there is no such file")
        context = ssl.create_default_context()
        try:
            context.load_verify_locations(self.ca_file)
        except (OSError, ValueError) as error:
            raise InputError(f"--tls-ca-file {self.ca_file} holds no certificate in PEM: {error}") from None
        try:
            context.load_cert_chain(self.cert, self.key, password=lambda: "")  # nobody is asked for one
        except (OSError, ValueError) as error:
            raise InputError(
                f"--tls-cert {self.cert} and --tls-key {self.key} are no certificate with its key, without a password, "
                f"in PEM: {error}"
            ) from None


class Cluster(Executor):
    """The workers of a Dask scheduler.

    Args:
        address: of the scheduler, ``tcp://HOST:PORT`` or ``tls://HOST:PORT``.
        tls: for ``tls://``; None takes what Dask's own configuration has.

    Raises:
        ClusterError: nobody answers there, no worker is connected, or one has another iparam or Python.
        MissingExtraError: dask.distributed is not installed.

    Attributes:
        remarks: sentences about workers whose other packages are of other versions.
    """

    def __init__(self, address: str, tls: TlsFiles | None = None) -> None:
        self.address = check_address(address)
        if tls is not None and not address.startswith("tls:"):
            raise InputError(f"TLS files go with a scheduler at tls://, got {address}")
        distributed = _distributed()
        for name in ("distributed", "distributed.client"):  # what happens is said here, in one sentence
            logging.getLogger(name).setLevel(logging.CRITICAL)
        warnings.filterwarnings("ignore", category=distributed.versions.VersionMismatchWarning)  # see `remarks`
        security = _security(distributed, tls) if address.startswith("tls:") else None
        try:
            self._client: Any = distributed.Client(
                address, timeout=CONNECT_SECONDS, security=security, set_as_default=False, name="iparam"
            )
        except (OSError, TypeError, ValueError, RuntimeError) as error:
            raise ClusterError(_no_connection(address, str(error))) from None
        self._asked, self._known = 0.0, 1
        self._executor: Executor = self._client.get_executor(pure=False)
        if not self.threads():
            self.shutdown()
            raise ClusterError(f"the scheduler at {address} has no workers: start some with: dask worker {address}")
        try:
            versions = self._client.get_versions(packages=["iparam", *NUMERICAL])
            check_workers(versions)
            self.remarks = version_remarks(versions)
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

    def shared_minimum(self) -> SharedMinimum:
        """A number that all workers of the cluster can read while this client lowers it."""
        name = f"iparam-minimum-{secrets.token_hex(8)}"
        shared = SharedMinimum(name)
        shared.variable = _distributed().Variable(name, client=self._client)
        shared.set(float("inf"))
        return shared

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor`; in a worker's process, iparam uses one thread a task."""
        return self._executor.submit(_in_worker, _process(), fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which goes on; what this client has under way there is cancelled."""
        self._client.close(timeout=2.0)

    def __enter__(self) -> Self:
        """The cluster itself."""
        return self


class SharedMinimum:
    """A number in a cluster: what one process sets, the others get.

    Args:
        name: of Dask's variable.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.variable: Any = None

    def __reduce__(self) -> tuple[type[SharedMinimum], tuple[str]]:
        """To a worker goes the name, with which it finds the variable."""
        return SharedMinimum, (self.name,)

    def set(self, value: float) -> None:
        """Let all know it."""
        self._found().set(value)

    def get(self) -> float:
        """What was set last; infinite if it cannot be known in time: then nothing is cut short."""
        try:
            return float(self._found().get(timeout=_ANSWER))
        except (OSError, TimeoutError, ValueError):
            return math.inf

    def _found(self) -> Any:
        if self.variable is None:
            distributed = _distributed()
            self.variable = distributed.Variable(self.name, client=distributed.get_client())
        return self.variable


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


def version_remarks(versions: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each package that computes and is another one with some worker: last digits may differ.

    Args:
        versions: as Dask's ``get_versions`` has them, with those of `NUMERICAL`.
    """
    own, remarks = versions["client"]["packages"], []
    workers = [known["packages"] for known in versions["workers"].values() if isinstance(known, Mapping)]
    for name in NUMERICAL:
        others = [str(found.get(name)) for found in workers if found.get(name) != own.get(name)]
        if others:
            has = "worker has" if len(workers) == 1 else "workers have"
            remarks.append(
                f"{len(others)} of {len(workers)} {has} {name} {', '.join(sorted(set(others)))}, this client "
                f"{own.get(name)}: the last digits of results may depend on which worker made them"
            )
    return tuple(remarks)


def _security(distributed: Any, tls: TlsFiles | None) -> Any:
    """Dask's settings of TLS, with the files given or those of its own configuration."""
    given = (
        {}
        if tls is None
        else {"tls_ca_file": str(tls.ca_file), "tls_client_cert": str(tls.cert), "tls_client_key": str(tls.key)}
    )
    security = distributed.Security(**given, require_encryption=True)
    if security.tls_ca_file is None:
        raise InputError(
            "a scheduler at tls:// needs --tls-ca-file, --tls-cert and --tls-key, or Dask's own settings "
            "(distributed.comm.tls)"
        )
    return security


def _no_connection(address: str, reason: str) -> str:
    """Why there is no connection, as far as Dask's words tell; they are the last ones."""
    said = " ".join(reason.split())[:200]
    if "certificate does not match" in reason:
        return (
            f"the scheduler at {address} has no certificate of the authority in --tls-ca-file: it is another's ({said})"
        )
    closed = "Timed out" not in reason and "closed" in reason
    if address.startswith("tls:") and ("SSL" in reason or closed):  # TLS 1.3 takes or refuses it after its handshake
        return f"the scheduler at {address} does not take the certificate --tls-cert, or speaks no TLS ({said})"
    if closed:
        return f"what answers at {address} is no Dask scheduler, or one that wants TLS, tls://HOST:PORT ({said})"
    with_tls = " with TLS" if address.startswith("tls:") else ""
    return f"no scheduler answers{with_tls} at {address}: {said or 'nothing comes back'}"


def _distributed() -> Any:
    """The package `distributed`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("dask.distributed", "fleet") from None
    return distributed


def check_address(address: str) -> str:
    """The address of a scheduler, if it can be one."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in PROTOCOLS and parts.hostname and parts.port and parts.path in ("", "/")
    except ValueError:
        known = False
    if not known:
        raise InputError(
            f"scheduler={address!r} must be {LOCAL!r} or an address such as tcp://HOST:PORT or tls://HOST:PORT"
        )
    return address
