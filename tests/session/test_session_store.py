from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui_agent import paths
from tui_agent.agent import (
    AssistantMessage,
    AssistantMessageDone,
    TextContent,
    TextDelta,
    ToolCall,
    ToolCallFinished,
    ToolResultMessage,
    TurnStarted,
)
from tui_agent.agent.history import UNKNOWN, History, check
from tui_agent.credentials import Credentials
from tui_agent.session.entries import encode
from tui_agent.session.index import find, last, sessions
from tui_agent.session.store import DAMAGED, FILE, InUse, SessionError, SessionStore, load


def prompt(text: str) -> TurnStarted:
    return TurnStarted(prompt=(TextContent(text=text),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def saved(folder: Path, *texts: str) -> Path:
    store = SessionStore.create(folder)
    for text in texts:
        store.append(prompt(text))
    store.close()
    return store.place


def reopened(place: Path) -> SessionStore:
    return SessionStore.open(place)


def test_what_was_stored_comes_back_and_more_can_follow(folder: Path) -> None:
    store = reopened(saved(folder, "one"))
    store.append(prompt("two"))
    store.close()
    assert reopened(store.place).events == [prompt("one"), prompt("two")]


def test_screen_events_are_not_stored(folder: Path) -> None:
    store = SessionStore.create(folder)
    store.append(prompt("one"))
    store.append(TextDelta(text="x"))
    store.close()
    assert reopened(store.place).events == [prompt("one")]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_the_owner_may_read_whatever_the_umask(folder: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        place = saved(folder, "one")
    finally:
        os.umask(before)
    modes = {p: stat.S_IMODE(p.stat().st_mode) for p in (place / FILE, place, place.parent, place.parents[2])}
    assert set(modes.values()) == {0o600, 0o700}
    assert modes[place / FILE] == 0o600


def test_a_wider_older_file_is_narrowed(folder: Path) -> None:
    place = saved(folder, "one")
    (place / FILE).chmod(0o644)
    reopened(place).close()
    assert stat.S_IMODE((place / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "tail", [b'{"role":"assi', b"\xc3", b'{"at":1,"event":{"type":"turn_st', b"\0\0\0\0"]
)
def test_a_torn_tail_is_cut_off_before_the_next_record(folder: Path, tail: bytes) -> None:
    place = saved(folder, "one")
    with (place / FILE).open("ab") as file:
        file.write(tail)
    store = reopened(place)
    store.append(prompt("two"))
    store.close()
    assert tail not in (place / FILE).read_bytes()
    again = reopened(place)
    assert again.events == [prompt("one"), prompt("two")]
    assert again.notices == []
    if tail.strip(b"\0"):
        assert (place / DAMAGED).read_bytes() == tail + b"\n"
        assert stat.S_IMODE((place / DAMAGED).stat().st_mode) == 0o600
        assert "cut short" in store.notices[0]


def test_a_whole_record_that_only_lacks_its_newline_is_kept(folder: Path) -> None:
    place = saved(folder, "one")
    with (place / FILE).open("ab") as file:
        file.write(encode(prompt("two")).rstrip().encode())
    store = reopened(place)
    store.append(prompt("three"))
    store.close()
    again = reopened(place)
    assert again.events == [prompt("one"), prompt("two"), prompt("three")]
    assert again.notices == []


def test_damage_in_the_middle_is_told_and_left_out(folder: Path) -> None:
    place = saved(folder, "one", "two", "three")
    lines = (place / FILE).read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][:30] + b"\xff\n"
    (place / FILE).write_bytes(b"".join(lines))
    store = reopened(place)
    assert store.events == [prompt("one"), prompt("three")]
    assert "1 damaged record was" in store.notices[0]


def test_calls_without_results_are_answered_as_unknown(folder: Path) -> None:
    calls = tuple(ToolCall(id=i, name="run_command", arguments={"command": i}) for i in "abc")
    store = SessionStore.create(folder)
    store.append(prompt("go"))
    store.append(AssistantMessageDone(message=AssistantMessage(content=calls, stop_reason="tool_use")))
    done = ToolResultMessage(tool_call_id="b", tool_name="run_command", content=(TextContent(text="ok"),))
    store.append(ToolCallFinished(result=done, seconds=1))
    store.close()
    history = History.replay(reopened(store.place).events)
    history.apply(prompt("go on"))
    assert check(history.messages) == []
    results = [block for block in history.messages[-1].content if isinstance(block, ToolResultMessage)]
    assert [(r.tool_call_id, r.text) for r in results] == [("a", UNKNOWN), ("b", "ok"), ("c", UNKNOWN)]


def test_the_key_is_never_stored(folder: Path) -> None:
    credentials = Credentials(api_key='sk-ant-"quoted"/0123456789')
    store = SessionStore.create(folder, redact=credentials.redact)
    store.append(prompt('the key is sk-ant-"quoted"/0123456789, keep it'))
    store.close()
    assert b"0123456789" not in (store.place / FILE).read_bytes()
    assert reopened(store.place).events == [prompt("the key is [redacted], keep it")]


def test_a_second_opener_is_told_and_gets_a_fork(folder: Path) -> None:
    first = SessionStore.create(folder)
    first.append(prompt("one"))
    with pytest.raises(InUse):
        SessionStore.open(first.place)
    second = SessionStore.fork(first.place, folder)
    second.append(prompt("two"))
    first.append(prompt("three"))
    first.close()
    second.close()
    assert second.header.forked_from == first.id
    assert first.id in second.notices[0]
    assert reopened(first.place).events == [prompt("one"), prompt("three")]
    assert reopened(second.place).events == [prompt("one"), prompt("two")]


def test_the_lock_ends_with_the_program_that_held_it(folder: Path) -> None:
    code = (
        "import sys, pathlib; from tui_agent.session.store import SessionStore\n"
        "s = SessionStore.create(pathlib.Path(sys.argv[1])); print(s.place, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        place = Path(other.stdout.readline().strip())
        with pytest.raises(InUse):
            SessionStore.open(place)
        other.send_signal(signal.SIGKILL)
        other.wait()
    reopened(place).close()


def test_a_full_disk_is_told_once_and_nothing_is_lost_when_there_is_room_again(folder: Path) -> None:
    store = SessionStore.create(folder)
    store.append(prompt("one"))
    size = (store.place / FILE).stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
        store.append(prompt("two"))
        store.append(prompt("three"))
        assert (store.place / FILE).stat().st_size == size
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert len(store.notices) == 1
    assert "not being saved" in store.notices[0]
    store.append(prompt("four"))
    store.close()
    assert reopened(store.place).events == [prompt(t) for t in ("one", "two", "three", "four")]


def test_a_state_folder_that_can_not_be_made_is_an_error_with_a_next_step(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "file"))
    with pytest.raises(SessionError, match="XDG_STATE_HOME"):
        SessionStore.create(folder)


def test_a_link_in_place_of_the_file_is_refused(folder: Path) -> None:
    place = saved(folder, "one")
    (place / FILE).rename(place / "elsewhere")
    (place / FILE).symlink_to(place / "elsewhere")
    with pytest.raises(SessionError):
        SessionStore.open(place)


def test_a_session_without_a_prompt_leaves_nothing(folder: Path) -> None:
    store = SessionStore.create(folder)
    store.close()
    assert not store.place.exists()


def test_the_list_has_the_last_used_first(folder: Path) -> None:
    old, new = saved(folder, "  first\nwords " + "x" * 200), saved(folder, "second")
    os.utime(old / FILE, (1, 1))
    assert [(s.place, s.title[:11]) for s in sessions(folder)] == [(new, "second"), (old, "first words")]
    assert (summary := last(folder))
    assert summary.place == new
    os.utime(new / FILE, (0, 0))
    assert (summary := last(folder))
    assert summary.place == old


def test_sessions_belong_to_the_real_folder(folder: Path) -> None:
    place = saved(folder, "one")
    link = folder.parent / "link"
    link.symlink_to(folder)
    (folder.parent / "other").mkdir()
    assert [s.place for s in sessions(link)] == [place]
    assert sessions(folder.parent / "other") == []
    assert last(folder.parent / "other") is None


def test_a_session_is_found_by_its_id_or_the_start_of_it(folder: Path) -> None:
    one, two = saved(folder, "one"), saved(folder, "two")
    assert (found := find(one.name, folder))
    assert found.place == one
    assert (found := find(two.name[:-1], folder.parent))
    assert found.folder == str(folder)
    assert find(one.name[:4], folder) is None  # both begin so
    assert find("", folder) is None
    assert find("../../..", folder) is None


def test_reading_a_session_leaves_it_alone(folder: Path) -> None:
    place = saved(folder, "one")
    before = (place / FILE).read_bytes()
    header, events, lost = load(place)
    assert (header.folder, events, lost) == (str(folder), [prompt("one")], 0)
    assert (place / FILE).read_bytes() == before


def test_a_folder_key_reads_well_and_tells_folders_apart(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a b").mkdir()
    keys = {paths.folder_key(p) for p in (tmp_path / "a b", tmp_path / "x" / "a b", Path("/"))}
    assert len(keys) == 3
    assert all(key.startswith(("a_b-", "root-")) for key in keys)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_happened_to_the_file_what_follows_is_kept(folder: Path, data: st.DataObject) -> None:
    place = saved(folder, "one", "two", "three")
    whole = (place / FILE).read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    until = data.draw(st.integers(at, len(whole)))
    junk = data.draw(st.binary(max_size=30) | st.just(b"\0" * 5000))
    (place / FILE).write_bytes(whole[:at] + junk + whole[until:])
    store = reopened(place)
    survivors = store.events
    store.append(prompt("later"))
    store.close()
    again = reopened(place)
    assert again.events == [*survivors, prompt("later")]
    again.close()


def test_a_long_session_opens_quickly(folder: Path) -> None:
    store = SessionStore.create(folder)
    event = prompt("x" * 200)
    for _ in range(20_000):
        store.append(event)
    store.close()
    began = time.process_time()
    again = reopened(store.place)
    assert len(again.events) == 20_000
    assert time.process_time() - began < 3
