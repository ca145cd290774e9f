"""`terminal(...)` starts the program in a terminal of its own; it and all its processes end with the test."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from server.threaded import ThreadedAPI
from terminal.harness import Terminal

KEY = "sk-ant-test-0123456789abcdef"
COMMAND = str(Path(sys.executable).with_name("tui-agent"))

USUAL = dict.fromkeys(["TMUX", "NO_COLOR", "LC_ALL", "ESCDELAY", "COLUMNS", "LINES"]) | {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
}

StartTerminal = Callable[..., Terminal]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


@pytest.fixture
def terminal(project: Path, _home: Path) -> Iterator[StartTerminal]:
    with ExitStack() as stack:

        def start(
            *arguments: str,
            api: ThreadedAPI | None = None,
            env: dict[str, str | None] | None = None,
            command: Sequence[str] = (COMMAND,),
            **how: Any,
        ) -> Terminal:
            model = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url} if api else {}
            whole = {**os.environ, **USUAL, **model, **(env or {})}
            term = Terminal(
                [*command, *arguments],
                folder=how.pop("folder", project),
                env={name: value for name, value in whole.items() if value is not None},
                **how,
            )
            stack.callback(term.close)
            return term

        yield start
