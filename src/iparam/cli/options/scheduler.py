"""The options that say what runs the jobs of a command that has many of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from tyro.conf import arg

import iparam
from iparam.errors import InputError
from iparam.worker_pool import WorkerPool

LOCAL = "local"


@dataclass(frozen=True, kw_only=True)
class SchedulerOptions:
    """The options; a command adds its own to them."""

    scheduler: Annotated[str, arg(metavar="ADDRESS")] = LOCAL
    """Who runs the work: 'local', the cores of this machine, or a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT."""
    workers: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: all cores)")] = None
    """Processes at the same time, with --scheduler local."""

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        """What runs the jobs, as long as the block lasts."""
        if self.scheduler != LOCAL and self.workers is not None:
            raise InputError("--workers is for --scheduler local; a cluster's workers are started on their machines")
        with WorkerPool(self.workers) if self.scheduler == LOCAL else iparam.fleet.Cluster(self.scheduler) as chosen:
            yield chosen
