"""The parser against real bash: what is taken as understood must be what runs."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from shell_fuzz import Recorder, line

from tui_agent.permissions.syntax import Script, parse
from tui_agent.permissions.wrappers import everything

pytestmark = pytest.mark.heavy
STRINGS = 2000


def _differs(script: Script, ran: list[tuple[str, ...]]) -> bool:
    """Something ran that was not read, or was read otherwise."""
    known = Counter(tuple(word.value for word in simple.words) for simple in script.plain if simple.literal)
    loose = Counter(simple.words[0].value for simple in script.plain if simple.words and not simple.literal)
    for call in ran:
        if known[call] > 0:
            known[call] -= 1
        elif loose[call[0]] > 0:
            loose[call[0]] -= 1
        else:
            return True
    return False


@pytest.mark.parametrize("seed", [1, 2])
def test_what_bash_runs_is_what_was_read(tmp_path: Path, seed: int) -> None:
    recorder = Recorder(tmp_path)
    source = random.Random(seed)
    understood = ran_in_all = 0
    differences: list[str] = []
    while understood < STRINGS // 2:
        command = line(source)
        script = parse(command)
        if script.guards or any(simple.unsafe.startswith("redirects") for simple in script.plain):
            continue  # never allowed, whatever its words are
        understood += 1
        for code in (0, 1):
            ran = recorder.calls(command, code)
            ran_in_all += len(ran)
            if _differs(script, ran):
                differences.append(f"{command!r} ran {ran}, read {[s.text for s in script.plain]}")
    assert not differences, "\n".join(differences[:20])
    assert ran_in_all > understood


def test_deny_looks_at_every_program_that_bash_runs(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    source = random.Random(3)
    missed: list[str] = []
    for _ in range(STRINGS // 2):
        command = line(source)
        if "&" in command.replace("&&", "") or "coproc" in command:
            continue  # what runs on may say so too late
        names = {words[0] for words in everything(command)}
        missed += [f"{command!r} ran {call}" for call in recorder.calls(command, 0) if call[0] not in names]
    assert not missed, "\n".join(missed[:20])


def test_the_recorder_sees_what_runs(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    assert recorder.calls("ls 'a b' && cat \"c\"", 0) == [("cat", "c"), ("ls", "a b")]
    assert recorder.calls("ls x && cat y", 1) == [("ls", "x")]
    assert recorder.calls('cat \\ a"b"', 0) == [("cat", " ab")]
