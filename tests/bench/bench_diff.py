"""Opening, scrolling and choosing in a large diff, at 120×40. Prints milliseconds and megabytes.

Run: python tests/bench/bench_diff.py
"""

import asyncio
import gc
import resource
import sys
import time
from pathlib import Path

from textual.app import App

sys.path.insert(0, str(Path(__file__).parents[1] / "ui"))

from tui_agent.tools.changes import file_change
from tui_agent.ui.widgets.diff_view import DiffView


class Host(App):
    def compose(self):
        yield DiffView()


def cases():
    old = b"".join(b"def function_%d(a, b):  # %d\n" % (n, n * 7) for n in range(20_000))
    yield "20,000 new lines", None, old
    yield "20,000 lines, each changed", old, old.replace(b"(a, b)", b"(a, b, c)")
    some = old.splitlines(keepends=True)
    for n in range(0, 20_000, 50):
        some[n] = some[n].replace(b"a, b", b"first, b")
    yield "400 changed lines in 20,000", old, b"".join(some)
    line = b"x = [" + b"1, " * 333_000 + b"]\n"
    yield "one line of 1 MB", line, line.replace(b"]", b"2]")


async def watch(gaps):
    last = time.perf_counter()
    while True:
        await asyncio.sleep(0.002)
        now = time.perf_counter()
        gaps.append(now - last - 0.002)
        last = now


async def measure(name, before, after):
    change = file_change("x.py", before, after)
    app = Host()
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(DiffView)
        await pilot.pause(0.3)
        gc.collect()
        memory = resident()
        gaps = []
        watcher = asyncio.create_task(watch(gaps))
        await asyncio.sleep(0.02)
        started = time.perf_counter()
        view.show(change)
        while not view.row_count:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0)
        opened = time.perf_counter() - started
        await asyncio.sleep(0.5)
        block = max(gaps)
        gaps.clear()
        pages = []
        for _ in range(40):
            started = time.perf_counter()
            view.action_scroll_pages(1)
            view.render_lines(view.size.region)
            pages.append(time.perf_counter() - started)
            await asyncio.sleep(0.005)
        started = time.perf_counter()
        view.action_scroll_to_end()
        end = time.perf_counter() - started
        started = time.perf_counter()
        view.choose(set(view.diff.keys))
        choose = time.perf_counter() - started
        watcher.cancel()
        print(
            f"{name:32} open {opened * 1000:6.0f} ms (loop blocked {block * 1000:4.0f})  "
            f"page {sorted(pages)[20] * 1000:5.1f} (max {max(pages) * 1000:5.1f})  end {end * 1000:5.1f}  "
            f"all out {choose * 1000:5.1f}  memory {resident() - memory:5.1f} MB  rows {view.row_count}"
        )


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


for case in cases():
    asyncio.run(measure(*case))
