"""The options that say what runs the jobs of a command that has many of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

import iparam
from iparam.cli.console.printing import note
from iparam.errors import InputError

LOCAL = "local"


@dataclass(frozen=True, kw_only=True)
class SchedulerOptions:
    """The options; a command adds its own to them."""

    scheduler: Annotated[str, arg(metavar="ADDRESS")] = LOCAL
    """Who runs the work: 'local', the cores of this machine, or a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT."""
    workers: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: all cores)")] = None
    """Processes at the same time, with --scheduler local."""
    tls_ca_file: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: of Dask's settings)")] = None
    """Certificate of the authority that the scheduler's is signed by: .pem."""
    tls_cert: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: of Dask's settings)")] = None
    """Certificate of this client: .pem."""
    tls_key: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: of Dask's settings)")] = None
    """Key of this client: .pem."""

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        """What runs the jobs, as long as the block lasts."""
        with self.cluster() as cluster:
            if cluster is not None:
                yield cluster
                return
        with iparam.fleet.LocalPool(self.workers) as pool:
            yield pool

    @contextmanager
    def cluster(self) -> Iterator[Executor | None]:
        """The cluster, as long as the block lasts; None for this machine."""
        files = (self.tls_ca_file, self.tls_cert, self.tls_key)
        if self.scheduler == LOCAL:
            if any(file is not None for file in files):
                raise InputError("--tls-ca-file, --tls-cert and --tls-key go with --scheduler tls://HOST:PORT")
            yield None
            return
        if self.workers is not None:
            raise InputError("--workers is for --scheduler local; a cluster's workers are started on their machines")
        ca_file, cert, key = files
        if ca_file is not None and cert is not None and key is not None:
            tls = iparam.fleet.TlsFiles(ca_file, cert, key)
        elif any(file is not None for file in files):
            raise InputError("--tls-ca-file, --tls-cert and --tls-key belong together: give all three")
        else:
            tls = None
        with iparam.fleet.Cluster(self.scheduler, tls) as cluster:
            for remark in cluster.remarks:
                note(remark)
            yield cluster
