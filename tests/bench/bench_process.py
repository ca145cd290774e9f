"""Stopping commands and bearing their output: `python tests/bench/bench_process.py`.

Times are from the call that ends a command to the moment nothing of its tree is left; lag is how late a
callback due every 2 ms ran on the event loop.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

from tui_agent.tools.capture import Capture
from tui_agent.tools.process import Supervised, run

MIXED = "setsid -f sleep {0}; sleep {0} & sleep {0} | cat & echo ready; wait"
SHAPES = {
    "mixed tree": (50, MIXED),
    "plain sleep": (50, "echo ready; sleep {0}"),
    "200 daemons": (5, "for i in $(seq 200); do setsid -f sleep {0}; done; echo ready; sleep {0}"),
}
ENV = dict(os.environ)


async def kill_times(command: str, times: int) -> list[float]:
    took = []
    for _ in range(times):
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        running = Supervised(
            ["/bin/bash", "-c", command.format(1234.5)],
            folder="/",
            env=ENV,
            output=lambda data, loop=loop, ready=ready: loop.call_soon_threadsafe(ready.set),
        ).start()
        await ready.wait()
        await asyncio.sleep(0.05)
        began = time.perf_counter()
        running.end()
        await running.wait()
        took.append((time.perf_counter() - began) * 1000)
    return took


class Lag:
    """The worst delay of the loop while it is watched."""

    async def __aenter__(self) -> Lag:
        self.worst = 0.0
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.002)
            self.worst = max(self.worst, (time.perf_counter() - began - 0.002) * 1000)


def memory() -> float:
    """Resident MB now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


async def flood(name: str, command: str, folder: Path, timeout: float) -> None:
    capture, before, most, got = Capture(folder), memory(), [0.0], [0]

    def output(data: bytes) -> None:
        capture.feed(data)
        got[0] += len(data)

    def on_tick() -> None:
        capture.latest()
        most[0] = max(most[0], memory())

    async with Lag() as lag:
        ended = await run(
            ["/bin/bash", "-c", command],
            folder="/",
            env=ENV,
            output=output,
            on_tick=on_tick,
            timeout=timeout,
        )
    capture.close()
    spilled = capture.path.stat().st_size / 1e6 if capture.path else 0
    print(
        f"{name:22} {got[0] / 1e6:7.0f} MB in {ended.seconds:5.2f} s  extra memory {most[0] - before:5.1f} MB  "
        f"worst lag {lag.worst:5.1f} ms  spill {spilled:.1f} MB  {ended.how}"
    )


async def main() -> None:
    await kill_times(MIXED, 3)
    for name, (times, command) in SHAPES.items():
        took = await kill_times(command, times)
        print(
            f"kill {name:17} median {statistics.median(took):6.1f} ms  worst {max(took):6.1f} ms  n={times}"
        )
    began, times = time.perf_counter(), 20
    for _ in range(times):
        await run(["/bin/true"], folder="/", env=ENV, output=len)
    print(f"cost of a command      {(time.perf_counter() - began) / times * 1000:6.1f} ms")
    with tempfile.TemporaryDirectory() as folder:
        await flood(
            "200 MB of lines",
            "yes 0123456789012345678901234567890123456789 | head -c 200000000",
            Path(folder),
            60,
        )
        await flood("200 MB in one line", "head -c 200000000 /dev/zero", Path(folder), 60)
        await flood(
            "200 MB of \\r frames", "yes $'50%\\r' | tr -d '\\n' | head -c 200000000", Path(folder), 60
        )
        await flood("yes until its timeout", "yes", Path(folder), 3)


if __name__ == "__main__":
    asyncio.run(main())
