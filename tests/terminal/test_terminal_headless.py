"""`tui-agent -p` and signals: the right exit code, the words where they belong, no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from server.messages_api import call, reply
from server.threaded import ThreadedAPI
from terminal.conftest import COMMAND, KEY
from terminal.harness import heavy
from tools.process_trees import fresh_tag, gone_within, survivors


def started(api: ThreadedAPI, folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [COMMAND, "-p", "go", *options],
        cwd=folder,
        env=os.environ | {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, *heavy(signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)])
def test_a_signal_ends_the_turn_and_its_commands(project: Path, number: signal.Signals) -> None:
    tag = fresh_tag()
    (project / "tree.sh").write_text(
        f"setsid -f sleep {tag}; (trap '' TERM INT HUP; sleep {tag}) & sleep {tag}\n"
    )
    with ThreadedAPI([reply(call("run_command", {"command": "bash tree.sh"}))]) as api:
        process = started(api, project, "--allow", "run_command(bash tree.sh)")
        until = time.monotonic() + 30
        while len(survivors(tag)) < 3:
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=15)
    assert process.returncode == 128 + number
    assert out == ""
    assert "Traceback" not in err
    assert gone_within(tag, 3) == {}


def test_killed_it_leaves_no_command(project: Path) -> None:
    tag = fresh_tag()
    (project / "tree.sh").write_text(f"setsid -f sleep {tag}; sleep {tag}\n")
    with ThreadedAPI([reply(call("run_command", {"command": "bash tree.sh"}))]) as api:
        process = started(api, project, "--allow", "run_command(bash tree.sh)")
        until = time.monotonic() + 30
        while len(survivors(tag)) < 2:
            assert time.monotonic() < until
            time.sleep(0.02)
        process.kill()
        process.communicate(timeout=15)
    assert gone_within(tag, 5) == {}


def test_a_reader_that_goes_away_ends_it(project: Path) -> None:
    with ThreadedAPI([reply("word " * 20_000, pace=0.001)]) as api:
        process = started(api, project, "--output-format", "stream-json")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        api.until(lambda: api.requests, 30)
        process.stdout.close()
        assert process.wait(20) != 0
        assert "Traceback" not in process.stderr.read()
        api.until(lambda: api.requests[0].closed)
