"""What it costs to notice what commands change: the folder looked at before and after each.

    python tests/bench/bench_changes.py

Prints, for folders of 5,000 and 50,000 files: the first and the later looks around a command that changes
three files, the longest that an event loop in the same process waits meanwhile, and the memory that is held
between the looks. 200 files are known by content; all are read before the first command.
"""

import asyncio
import shutil
import subprocess
import tempfile
import time
import tracemalloc
from pathlib import Path

from tui_agent.agent.calling import in_thread
from tui_agent.tools import Workspace
from tui_agent.undo.changes import Changes

KNOWN = 200
COMMAND = "echo x >> d0/e0/f0.py; rm -f d0/e0/f1.py; echo > d0/e0/new.py"


def fill(root: Path, files: int) -> None:
    (root / ".gitignore").write_text("*.o\nbuild/\n__pycache__/\n")
    for n in range(files // 20):
        folder = root / f"d{n // 50}" / f"e{n}"
        folder.mkdir(parents=True)
        for m in range(20):
            (folder / f"f{m}.py").write_text("x = 1\n" * 20)


async def lag(worst: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        worst[0] = max(worst[0], time.perf_counter() - began - 0.001)


async def measure(files: int) -> None:
    base = Path(tempfile.mkdtemp(prefix="bench-changes-"))
    try:
        root = base / "project"
        root.mkdir()
        await in_thread(fill, root, files)
        with Workspace(root) as workspace:
            changes = Changes(workspace, base / "session", print)
            known = [f"d0/e{n // 20}/f{n % 20}.py" for n in range(KNOWN)]
            workspace.seen.update(dict.fromkeys(known, ""))
            watch = changes._watch
            for round in range(4):
                worst = [0.0]
                meter = asyncio.create_task(lag(worst))
                if round == 3:
                    tracemalloc.start()
                began = time.perf_counter()
                before = await in_thread(watch.before)
                looked = time.perf_counter() - began
                held = tracemalloc.get_traced_memory()[0] if round == 3 else 0
                tracemalloc.stop()
                await in_thread(lambda: subprocess.run(["bash", "-c", COMMAND], cwd=root, check=False))
                began = time.perf_counter()
                found = await in_thread(watch.after, before)
                again = time.perf_counter() - began
                meter.cancel()
                if round < 3:
                    print(
                        f"{files:6,} files, command {round + 1}: before {looked * 1e3:6.1f} ms, "
                        f"after {again * 1e3:6.1f} ms, {len(found)} changes, "
                        f"loop held at most {worst[0] * 1e3:.1f} ms"
                    )
                else:
                    print(f"{files:6,} files: {held / 1e6:.1f} MB between the looks")
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    for count in (5_000, 50_000):
        asyncio.run(measure(count))
