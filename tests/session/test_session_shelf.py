"""What is done with stored sessions: listed, named, searched, copied, exported, thrown away."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent import paths
from tui_agent.agent import (
    AgentEvent,
    AssistantMessage,
    AssistantMessageDone,
    TextContent,
    ToolCall,
    ToolCallFinished,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
)
from tui_agent.session import export, shelf
from tui_agent.session.index import everywhere, find, sessions
from tui_agent.session.search import search
from tui_agent.session.store import FILE, InUse, SessionStore, load


def prompt(text: str) -> TurnStarted:
    return TurnStarted(prompt=(TextContent(text=text),))


def answer(text: str, *calls: ToolCall) -> AssistantMessageDone:
    return AssistantMessageDone(message=AssistantMessage(content=(TextContent(text=text), *calls)))


def result(text: str, id: str = "c") -> ToolCallFinished:
    message = ToolResultMessage(tool_call_id=id, tool_name="run", content=(TextContent(text=text),))
    return ToolCallFinished(result=message, seconds=0.1)


def saved(folder: Path, *events: AgentEvent) -> Path:
    folder.mkdir(exist_ok=True)
    store = SessionStore.create(folder)
    for event in events:
        store.append(event)
    store.close()
    return store.place


def test_all_folders_can_be_listed(tmp_path: Path) -> None:
    saved(tmp_path / "a", prompt("one"))
    saved(tmp_path / "b", prompt("two"))
    assert {one.title for one in everywhere()} == {"one", "two"}
    assert [one.title for one in sessions(tmp_path / "a")] == ["one"]


def test_a_name_counts_more_than_the_first_words(tmp_path: Path) -> None:
    place = saved(tmp_path / "a", prompt("first words"))
    assert shelf.rename(place, "  the   cart\n") == "the cart"
    assert [one.title for one in sessions(tmp_path / "a")] == ["the cart"]
    assert stat.S_IMODE((place / shelf.NAME).stat().st_mode) == 0o600
    assert shelf.rename(place, " ") == ""
    assert [one.title for one in sessions(tmp_path / "a")] == ["first words"]


def test_a_name_that_somebody_made_a_link_is_not_followed(tmp_path: Path) -> None:
    place = saved(tmp_path / "a", prompt("first words"))
    (tmp_path / "secret").write_text("secret")
    (place / shelf.NAME).symlink_to(tmp_path / "secret")
    assert shelf.name_of(place) == ""
    shelf.rename(place, "x")
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_deleted_session_is_gone_with_all_that_it_kept(tmp_path: Path) -> None:
    place = saved(tmp_path / "a", prompt("x"))
    (place / "blobs").mkdir()
    (place / "blobs" / "b").write_text("before")
    shelf.delete(place)
    assert sessions(tmp_path / "a") == []
    assert list(paths.sessions_folder().iterdir()) == []


def test_an_open_session_is_not_deleted(tmp_path: Path) -> None:
    place = saved(tmp_path / "a", prompt("x"))
    store = SessionStore.open(place)
    with pytest.raises(InUse):
        shelf.delete(place)
    store.close()
    assert [one.id for one in sessions(tmp_path / "a")] == [place.name]


def test_a_copy_of_an_open_session_has_its_events_and_name(tmp_path: Path) -> None:
    place = saved(tmp_path / "a", prompt("x"))
    store = SessionStore.open(place)
    store.append(answer("y"))
    shelf.rename(place, "cart")
    identity = shelf.fork(place, tmp_path / "a", redact=str)
    store.close()
    copy = find(identity, tmp_path / "a")
    assert copy is not None
    assert copy.title == "cart (copy)"
    header, events, _ = load(copy.place)
    assert header.forked_from == place.name
    assert events == [prompt("x"), answer("y")]


CALL = ToolCall(id="c", name="run", arguments={"command": "grep needle src"})


@pytest.mark.parametrize(
    "words", ["weather", "WEATHER", "sunny and", "needle", "1 passed", "naïve", 'a "quoted" word']
)
def test_words_are_found_wherever_they_were_said(tmp_path: Path, words: str) -> None:
    place = saved(
        tmp_path / "a",
        prompt('How is the weather? And a "quoted" word, naïve'),
        answer("sunny and warm", CALL),
        result("1 passed"),
    )
    other = saved(tmp_path / "a", prompt("nothing of it"))
    found = search([place, other], words)
    assert list(found) == [place]
    assert words.lower() in found[place].lower()


@pytest.mark.parametrize("words", ["turn_started", "tool_call_id", '"type"', "seconds"])
def test_how_it_is_stored_is_not_found(tmp_path: Path, words: str) -> None:
    assert search([saved(tmp_path / "a", prompt("x"), answer("y", CALL), result("z"))], words) == {}


def test_a_search_can_be_stopped(tmp_path: Path) -> None:
    assert search([saved(tmp_path / "a", prompt("x"))], "x", lambda: True) == {}


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=60))
def test_nothing_in_a_result_closes_its_fence(text: str) -> None:
    document = export._fenced(text)
    opening, *_, closing = document.split("\n")
    assert opening == closing
    assert set(opening) == {"`"}
    assert opening not in text


def test_an_export_tells_everything_and_no_key(tmp_path: Path) -> None:
    key = "sk-ant-0123456789abcdef"
    place = saved(tmp_path / "a", prompt(f"my key is {key}"), answer("ok", CALL), result("done\n```\nx"))
    header, events, _ = load(place)
    events.append(TurnEnded(stop_reason="error", error="it broke"))

    def redact(text: str) -> str:
        return text.replace(key, "[key]")

    for form in export.FORMATS:
        text = export.export(header, "T", events, form)
        path = tmp_path / f"out.{form}"
        export.save(path, text, redact)
        written = path.read_text()
        assert key not in written
        for words in ("my key is [key]", "ok", "grep needle src", "done", "it broke"):
            assert words in written, (form, words)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    document: Any = json.loads((tmp_path / "out.json").read_text())
    assert document["events"][0]["type"] == "turn_started"


def test_an_export_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("mine")
    (tmp_path / "b.md").symlink_to(tmp_path / "elsewhere")
    for name in ("a.md", "b.md", "missing/x.md"):
        with pytest.raises(export.ExportError):
            export.save(tmp_path / name, "x", str)
    assert (tmp_path / "a.md").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()


def test_a_session_in_which_nothing_was_asked_leaves_no_folder(tmp_path: Path) -> None:
    place = saved(tmp_path / "a")
    assert not place.parent.exists()
    kept = saved(tmp_path / "a", prompt("x"))
    saved(tmp_path / "a")
    assert (kept / FILE).exists()
