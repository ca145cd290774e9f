"""What the jail, an edit, a search and a page of a huge file cost. Prints milliseconds and ratios.

    python tests/bench/bench_files.py [files in the tree, 50000 by default]
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tui_agent.agent import CancelSignal
from tui_agent.tools import Workspace, coding_tools, openat, ripgrep


def best(function: Callable[[], object], rounds: int) -> float:
    """Milliseconds of the median round."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        function()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def call(root: Path, name: str, **arguments: object) -> Callable[[], str]:
    tool = next(tool for tool in coding_tools(Workspace(root)) if tool.name == name)
    parameters = tool.parameters.model_validate(arguments)

    def run() -> str:
        output = asyncio.run(tool.execute(parameters, CancelSignal()))
        return output.content

    return run


def jail(root: Path) -> None:
    (root / "a/b/c/d").mkdir(parents=True)
    (root / "a/b/c/d/f").write_text("x")
    workspace = Workspace(root)

    def jailed() -> None:
        for _ in range(200):
            with workspace.open_read("a/b/c/d/f") as opened:
                os.read(opened.fd, 10)

    def kernel() -> None:
        for _ in range(200):
            fd = openat.open_beneath(workspace.fd, "a/b/c/d/f", openat.READ)
            os.read(fd, 10)
            os.close(fd)

    def by_path() -> None:
        for _ in range(200):
            path = (root / "a/b/c/d/f").resolve()
            assert path.is_relative_to(root)
            with open(path, "rb") as file:
                file.read(10)

    full, bare, plain = (best(function, 15) / 200 * 1000 for function in (jailed, kernel, by_path))
    print(f"jailed open, with real path and checks  {full:7.1f} µs   {full / plain:5.2f} × pathlib")
    print(f"jailed open, the system call alone      {bare:7.1f} µs   {bare / plain:5.2f} × pathlib")
    print(f"pathlib resolve and check               {plain:7.1f} µs")


def edit(root: Path) -> None:
    line = b"def function_of_some_length(argument): return argument\n"
    path = root / "five.py"
    flip = [("needle_one", "needle_two"), ("needle_two", "needle_one")]

    def once() -> None:
        old, new = flip[0]
        flip.reverse()
        call(root, "edit_file", path="five.py", old=old, new=new)()

    half = line * (2_500_000 // len(line))
    path.write_bytes(half + b"needle_one\n" + half)
    print(f"edit of a 5 MB file, diff and fsync     {best(once, 7):7.1f} ms")


def huge(root: Path) -> None:
    with open(root / "huge", "wb") as file:
        file.write(b"a line of text\n" * 100_000)
        file.truncate(3_000_000_000)
    page = best(call(root, "read_file", path="huge", limit=2000), 7)
    print(f"first page of a 3 GB file               {page:7.1f} ms")
    os.unlink(root / "huge")


def search(root: Path, number: int) -> None:
    for folder in range(number // 100):
        (root / f"d{folder}").mkdir()
        for file in range(100):
            hit = "needle here\n" if (folder + file) % 250 == 0 else ""
            (root / f"d{folder}/f{file}.py").write_text("import os\n" * 40 + hit)
    program = ripgrep.ripgrep_for(Workspace(root))
    if program:
        command = [program, "--no-config", "--hidden", "-n", "needle", "."]
        plain = best(lambda: subprocess.run(command, cwd=root, check=True, capture_output=True), 5)
        ours = best(call(root, "search_files", pattern="needle"), 5)
        print(f"search of {number:,} files with ripgrep    {ours:7.1f} ms   {ours / plain:5.2f} × plain rg ({plain:.1f} ms)")
    ripgrep.ripgrep_for = lambda workspace: None
    without = best(call(root, "search_files", pattern="needle"), 3)
    print(f"search of {number:,} files without it      {without:7.1f} ms")


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    for measure in (jail, edit, huge):
        with tempfile.TemporaryDirectory(prefix="tui-agent-bench-") as folder:
            measure(Path(folder))
    with tempfile.TemporaryDirectory(prefix="tui-agent-bench-") as folder:
        search(Path(folder), number)


if __name__ == "__main__":
    main()
