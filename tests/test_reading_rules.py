"""What the rules and the person say of reading, through the whole of it: model, tools, policy, question."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import MessagesAPI, call, reply

from tui_agent.agent import Allow, CancelSignal, Deny
from tui_agent.credentials import Credentials
from tui_agent.permissions.broker import Question
from tui_agent.runtime import Runtime
from tui_agent.settings import RuleText, Settings

StartAPI = Callable[..., Awaitable[MessagesAPI]]


class Person:
    """Approves everything and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def __call__(self, questions: Sequence[Question], signal: CancelSignal) -> Sequence[Allow | Deny]:
        self.asked += questions
        return [Allow(question.pending.proposal) for question in questions]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / ".env").write_text("KEY=TOPSECRET\n")
    (place / "src" / "a.py").write_text("KEY = 1\n")
    (tmp_path / "notes.txt").write_text("KEY outside\n")
    os.symlink(".env", place / "harmless.txt")
    return place


async def results(
    messages_api: StartAPI,
    folder: Path,
    calls: Sequence[tuple[str, dict[str, Any]]],
    *,
    person: Person | None = None,
    rules: Sequence[tuple[str, str]] = (),
    mode: str = "ask",
) -> tuple[list[str], Runtime]:
    """What the model is told, call by call."""
    made = [call(name, arguments, f"c{number}") for number, (name, arguments) in enumerate(calls)]
    api = await messages_api(reply(*made), "done")
    settings = Settings(
        folder,
        base_url=api.url,
        credentials=Credentials("sk-test-0123456789"),
        mode=mode,  # type: ignore[arg-type]
        rules=tuple(RuleText(verdict, text, "user") for verdict, text in rules),  # type: ignore[arg-type]
    )
    runtime = await Runtime.open(settings, ask=person)
    await runtime.prompt("go")
    await runtime.close()
    return [
        json.dumps(block["content"]) for block in api.requests[-1].body["messages"][-1]["content"]
    ], runtime


async def test_a_search_brings_no_line_of_a_secret_file(messages_api: StartAPI, folder: Path) -> None:
    person = Person()
    told, _ = await results(
        messages_api, folder, [("search_files", {"pattern": "KEY"}), ("list_files", {})], person=person
    )
    assert "src/a.py" in told[0]
    assert "TOPSECRET" not in told[0]
    assert "1 file not searched" in told[0]
    assert ".env" in told[1]
    assert person.asked == []


@pytest.mark.parametrize("path", [".env", "harmless.txt"])
async def test_a_secret_that_is_named_asks(messages_api: StartAPI, folder: Path, path: str) -> None:
    person = Person()
    told, _ = await results(
        messages_api,
        folder,
        [("search_files", {"pattern": "KEY", "path": path}), ("read_file", {"path": path})],
        person=person,
        mode="auto",
    )
    assert [question.reasons for question in person.asked] == [(".env may hold secrets",)] * 2
    assert all("TOPSECRET" in text for text in told)
    told, runtime = await results(messages_api, folder, [("read_file", {"path": path})])
    assert "TOPSECRET" not in told[0]
    assert len(runtime.unanswered) == 1


@pytest.mark.parametrize("rule", ["read_file(.env)", "read_file(**/.env)", "read_file({folder}/.env)"])
async def test_a_denied_file_is_denied_on_every_way_to_it(
    messages_api: StartAPI, folder: Path, rule: str
) -> None:
    person = Person()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": ".env"}),
        ("read_file", {"path": f"{folder}/src/../.env"}),
        ("read_file", {"path": "harmless.txt"}),
        ("search_files", {"pattern": "KEY"}),
        ("search_files", {"pattern": "KEY", "path": ".env"}),
        ("list_files", {"depth": 2}),
        ("edit_file", {"path": ".env", "old": "KEY", "new": "K"}),
        ("write_file", {"path": "harmless.txt", "content": "x"}),
    ]
    rules = [("deny", rule.format(folder=folder)), ("allow", "read_file"), ("allow", "write_file")]
    told, _ = await results(messages_api, folder, calls, person=person, rules=rules, mode="auto")
    assert [text for text in told if "TOPSECRET" in text] == []
    assert "src/a.py" in told[3]
    assert "2 entries left out" in told[5]
    assert (folder / ".env").read_text() == "KEY=TOPSECRET\n"
    assert person.asked == []
    told, _ = await results(
        messages_api, folder, [("run_command", {"command": "cat .env"})], rules=rules, mode="auto"
    )
    assert "TOPSECRET" not in told[0]


async def test_outside_is_asked_once_for_each_object(messages_api: StartAPI, folder: Path) -> None:
    person = Person()
    notes = folder.parent / "notes.txt"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": "../notes.txt"}),
        ("read_file", {"path": "../notes.txt"}),
        ("search_files", {"path": "..", "pattern": "KEY"}),
    ]
    told, _ = await results(messages_api, folder, calls, person=person, mode="auto")
    assert [question.pending.proposal.targets for question in person.asked] == [
        (str(notes),),
        (str(notes),),
        (str(folder.parent),),
    ]
    assert person.asked[0].reasons == (f"{notes} is outside the working folder",)
    assert person.asked[0].offer is None
    assert "KEY outside" in told[0]
    assert f"{notes}:1: KEY outside" in told[2]
    assert "TOPSECRET" not in told[2]


async def test_outside_needs_a_person_or_a_rule(messages_api: StartAPI, folder: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("read_file", {"path": "../notes.txt"})]
    told, runtime = await results(messages_api, folder, calls)
    assert "KEY" not in told[0]
    assert len(runtime.unanswered) == 1
    person = Person()
    told, _ = await results(messages_api, folder, calls, person=person, mode="plan")
    assert "outside the working folder" in told[0]
    assert "KEY" not in told[0]
    told, _ = await results(
        messages_api, folder, calls, rules=[("allow", f"read_file({folder.parent}/*.txt)")], mode="plan"
    )
    assert "KEY outside" in told[0]
    assert person.asked == []
