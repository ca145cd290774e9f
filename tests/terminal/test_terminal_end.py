"""However the program ends, the terminal is as it was, no process is left, and the exit code says why."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import call, reply
from server.threaded import ThreadedAPI
from terminal.conftest import KEY
from terminal.harness import PATIENCE, Terminal, heavy
from tools.process_trees import fresh_tag, gone_within, survivors

from tui_agent import paths

READY = r"Ask for a change"
LONG = reply("word " * 4000, pace=0.01)
SIGNALS = [signal.SIGTERM, *heavy(signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)]

Start = Callable[..., Terminal]


@pytest.fixture
def busy(terminal: Start, project: Path) -> Any:
    """The program with a command running that leaves processes everywhere; `(term, tag)`."""
    tag = fresh_tag()
    (project / "tree.sh").write_text(
        f"setsid -f sleep {tag}; (trap '' TERM HUP INT; sleep {tag}) & nohup sleep {tag} & sleep {tag}\n"
    )
    with ThreadedAPI([reply(call("run_command", {"command": "bash tree.sh"}))]) as api:
        term = terminal("--mode", "auto", "--allow", "run_command(bash tree.sh)", api=api)
        term.wait_for(READY)
        term.send("go\r")
        term.wait_until(lambda: len(survivors(tag)) >= 4, "tree of processes")
        yield term, tag


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_run_and_program_in_order(busy: tuple[Terminal, str], number: signal.Signals) -> None:
    term, tag = busy
    term.kill(number)
    assert term.exit_code(10) == 128 + number
    assert term.left_on() == set()
    assert gone_within(tag, 3) == {}
    assert "Traceback" not in term.screen()


def test_after_sigkill_no_command_lives_on(busy: tuple[Terminal, str]) -> None:
    term, tag = busy
    term.kill(signal.SIGKILL)
    assert term.exit_code(10) == -signal.SIGKILL
    assert gone_within(tag, 5) == {}


def test_a_closed_terminal_ends_the_program_and_its_commands(busy: tuple[Terminal, str]) -> None:
    term, tag = busy
    term.hang_up()
    assert term.exit_code(10) == 129
    assert gone_within(tag, 3) == {}


@pytest.mark.heavy
def test_idle_it_costs_nothing(terminal: Start) -> None:
    with ThreadedAPI(["fine."]) as api:
        term = terminal(api=api)
        term.wait_for(READY)
        term.send("go\r")
        term.wait_for(r"fine\.")
        term.quiet(1.5)
        before, written = cpu(term.pid), len(term.raw)
        time.sleep(3)
        assert len(term.raw) == written
        assert cpu(term.pid) - before < 0.15


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back(terminal: Start) -> None:
    with ThreadedAPI(["fine."]) as api:
        term = terminal(api=api)
        term.wait_for(READY)
        term.type("draft")
        term.wait_for("› draft")
        term.kill(signal.SIGTSTP)
        term.wait_until(lambda: state(term.pid) == "T", "stop")
        term.wait_until(lambda: term.left_on() == set(), "terminal as it was")
        term.resize(100, 30)
        before = len(term.raw)
        term.kill(signal.SIGCONT)
        term.wait_until(lambda: len(term.raw) > before + 500, "repaint")
        term.wait_for("› draft")
        term.send("!\r")
        term.wait_for(r"fine\.")
        assert len(term.screen().splitlines()) == 30
        assert term.quit() == 0
    assert term.left_on() == set()


@pytest.mark.heavy
def test_a_stop_comes_through_at_any_moment(terminal: Start) -> None:
    with ThreadedAPI([LONG]) as api:
        term = terminal(api=api)
        term.wait_for(READY)
        term.send("go\r")
        term.wait_for("word word")
        for number in range(40):
            time.sleep(0.007 * (number % 7))
            term.kill(signal.SIGTSTP)
            term.wait_until(lambda: state(term.pid) == "T", f"stop {number}")
            term.kill(signal.SIGCONT)
            term.wait_until(lambda: state(term.pid) != "T", f"start {number}")
            term.wait_until(lambda: "?1049" in term.left_on(), f"screen {number}")
        term.kill(signal.SIGTERM)
        assert term.exit_code() == 143
    assert term.left_on() == set()


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_killed_while_suspended_it_leaves_a_clean_terminal(terminal: Start) -> None:
    with ThreadedAPI([]) as api:
        term = terminal(api=api)
        term.wait_for(READY)
        term.kill(signal.SIGTSTP)
        term.wait_until(lambda: state(term.pid) == "T", "stop")
        term.kill(signal.SIGTERM)
        term.kill(signal.SIGCONT)
        assert term.exit_code(10) == 143
    assert term.left_on() == set()


BREAK = """
import os
from tui_agent.ui.screens.main import MainScreen

def broken(self, event):
    secret_of_a_frame = os.environ.get("ANTHROPIC_API_KEY", "")
    raise RuntimeError("the handler broke on " + secret_of_a_frame)

async def broken_worker(self):
    secret_of_a_frame = "local-" + "value"
    raise RuntimeError("the worker broke")

where = os.environ["BREAK"]
if where == "handler":
    MainScreen.on_app_blur = broken
    from textual.app import App
    from tui_agent.ui.lifecycle import Lifecycle
    Lifecycle._on_app_blur = broken
elif where == "worker":
    from tui_agent.ui.lifecycle import Lifecycle
    Lifecycle._on_app_blur = lambda self, event: self.run_worker(broken_worker(self))
elif where == "thread":
    import threading
    from tui_agent.ui.lifecycle import Lifecycle
    async def in_thread(self, event):
        threading.Thread(target=lambda: broken(self, event)).start()
    Lifecycle._on_app_blur = in_thread
from tui_agent.cli import main
raise SystemExit(main())
"""


def broken(terminal: Start, api: ThreadedAPI, where: str, tmp_path: Path) -> Terminal:
    program = tmp_path / "broken.py"
    program.write_text(BREAK)
    term = terminal(api=api, command=[sys.executable, str(program)], env={"BREAK": where})
    term.wait_for(READY)
    term.send("\x1b[O")  # the event whose handler breaks
    return term


@pytest.mark.parametrize("where", ["handler", "worker"])
def test_a_crash_is_one_line_that_names_a_report_without_secrets(
    terminal: Start, tmp_path: Path, where: str
) -> None:
    with ThreadedAPI([]) as api:
        term = broken(terminal, api, where, tmp_path)
        assert term.exit_code() == 1
    assert term.left_on() == set()
    told = term.raw.rpartition(b"\x1b[?1049l")[2].decode()
    line = re.search(r"tui-agent crashed \(RuntimeError\).*?(/\S+\.log)", told)
    assert line, told
    assert "Traceback" not in told
    assert KEY not in term.raw.decode()
    report = Path(line[1]).read_text()
    assert "broken.py" in report
    assert KEY not in report
    assert "local-value" not in report


def test_a_broken_thread_leaves_a_report_and_the_program_alive(terminal: Start, tmp_path: Path) -> None:
    with ThreadedAPI([]) as api:
        term = broken(terminal, api, "thread", tmp_path)
        logs = paths.log_folder()
        term.wait_until(lambda: list(logs.glob("crash-*.log")), "report")
        term.type("still here")
        term.wait_for("› still here", PATIENCE)
        assert "broke" not in term.screen()
        assert KEY not in next(logs.glob("crash-*.log")).read_text()


def test_noise_on_the_outputs_of_the_process_is_not_painted(terminal: Start, tmp_path: Path) -> None:
    program = tmp_path / "noisy.py"
    program.write_text(
        "import os, sys, threading\n"
        "from tui_agent.ui.lifecycle import Lifecycle\n"
        "async def noisy(self, event):\n"
        "    os.write(2, b'NOISE-fd2\\n'); os.write(1, b'NOISE-fd1\\n')\n"
        "    os.system('echo NOISE-child; echo NOISE-child >&2')\n"
        "    print('NOISE-print', file=sys.__stderr__, flush=True)\n"
        "    self.main.prompt.put('made it')\n"
        "Lifecycle._on_app_blur = noisy\n"
        "from tui_agent.cli import main\n"
        "raise SystemExit(main())\n"
    )
    with ThreadedAPI([]) as api:
        term = terminal(api=api, command=[sys.executable, str(program)])
        term.wait_for(READY)
        term.send("\x1b[O")
        term.wait_for("made it")
        assert term.quit() == 0
    assert b"NOISE" not in term.raw
