"""Commands that go on in the background: started by one call, read or stopped by later ones.

A cancelled turn leaves them running; the end of the program ends them. A job lasts as long as any process
that it started.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tui_agent.agent.errors import ToolError
from tui_agent.tools.capture import Capture
from tui_agent.tools.process import Ended, Supervised
from tui_agent.tools.words import how_it_ended

MOST = 16
"""Jobs that may run at once."""
REMEMBERED = 64
"""Jobs that are kept, ended ones included; the oldest ended ones go first."""


class Job:
    """One background command. `ended` is None while it runs; `fault` says why it never did."""

    def __init__(self, id: str, command: str, process: Supervised, capture: Capture) -> None:
        self.id = id
        self.command = command
        self.ended: Ended | None = None
        self.fault = ""
        self._process = process
        self._capture = capture
        self._began = time.monotonic()

    @property
    def running(self) -> bool:
        return self.ended is None and not self.fault

    @property
    def state(self) -> str:
        """`running for 12 s`, `exit 0`, `stopped` …"""
        if self.fault:
            return self.fault
        if self.ended is None:
            return f"running for {time.monotonic() - self._began:.0f} s"
        return how_it_ended(self.ended)

    @property
    def spill(self) -> Path | None:
        return self._capture.path

    def latest(self) -> str:
        """The end of its output, for the eye."""
        return self._capture.latest()

    def take(self) -> str:
        """What it printed since this was last called, for the model."""
        return self._capture.take()

    def stop(self) -> None:
        self._process.end()

    async def wait(self) -> None:
        """Until it is over: `ended` or `fault` is set then."""
        try:
            self.ended = await self._process.wait()
        except ToolError as error:
            self.fault = str(error)
        self._capture.close()


class Jobs:
    """All background commands of a session. `on_change` is called on the loop when one starts or ends."""

    def __init__(self) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self._jobs: dict[str, Job] = {}
        self._count = 0
        self._watches: set[asyncio.Task[None]] = set()

    def start(
        self, command: str, argv: Sequence[str], *, folder: str, env: Mapping[str, str], capture: Capture
    ) -> Job:
        if sum(job.running for job in self._jobs.values()) >= MOST:
            raise ToolError(f"{MOST} background jobs are running; stop one first. Nothing ran.")
        self._count += 1
        process = Supervised(argv, folder=folder, env=env, output=capture.feed, linger=True)
        job = self._jobs[f"job-{self._count}"] = Job(f"job-{self._count}", command, process.start(), capture)
        watch = asyncio.create_task(self._watch(job))
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
        over = max(0, len(self._jobs) - REMEMBERED)
        for old in [job for job in self._jobs.values() if not job.running][:over]:
            del self._jobs[old.id]
        self.on_change()
        return job

    async def _watch(self, job: Job) -> None:
        await job.wait()
        self.on_change()

    def list(self) -> tuple[Job, ...]:
        """In the order they were started."""
        return tuple(self._jobs.values())

    def get(self, id: str) -> Job:
        with suppress(KeyError):
            return self._jobs[id]
        known = ", ".join(self._jobs) or "there are none"
        raise ToolError(f"no job {id!r}; jobs: {known}")

    def stop(self, id: str) -> None:
        """Ask for its end and return; `on_change` follows."""
        self.get(id).stop()
