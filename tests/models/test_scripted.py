"""The demo's model with the real loop, the real tools and the real sample project."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from server.refusals import refusal

from tui_agent.agent import Allow, CancelSignal, Deny, ModelRequest, ToolCall, ToolResultMessage
from tui_agent.agent.agent import Agent
from tui_agent.agent.errors import Cancelled
from tui_agent.agent.execution import NOT_RUN, OVERTAKEN
from tui_agent.agent.history import UNKNOWN
from tui_agent.agent.messages import AssistantMessage, TextContent, UserMessage
from tui_agent.agent.results import answer, declined, interrupted
from tui_agent.agent.tool import Pending
from tui_agent.demo import copy_project
from tui_agent.models import prose
from tui_agent.models.progress import Progress, how_it_went
from tui_agent.models.request import parameters
from tui_agent.models.script import COMMAND, ORDER, OWN_TESTS, PRICING, TEST_NAME, TESTS, next_beat
from tui_agent.models.scripted import PROMPT, ScriptedModel
from tui_agent.tools.edit_file import EditFile
from tui_agent.tools.list_files import ListFiles
from tui_agent.tools.read_file import ReadFile
from tui_agent.tools.run_command import run_command_tool
from tui_agent.tools.workspace import Workspace
from tui_agent.tools.write_file import WriteFile

Decide = Callable[[Pending], Allow | Deny]


def yes(pending: Pending) -> Allow:
    return Allow(pending.proposal)


@dataclass
class Person:
    """Answers by a function; `asked` is what was shown, reading aside."""

    decide_one: Decide = yes
    asked: list[str] = field(default_factory=list)

    async def decide(self, batch: Sequence[Pending], signal: CancelSignal) -> Sequence[Allow | Deny]:
        answers = []
        for pending in batch:
            if pending.tool.kind == "read":
                answers.append(yes(pending))
            else:
                self.asked.append(", ".join(pending.proposal.targets))
                answers.append(self.decide_one(pending))
        return answers


@dataclass
class Demo:
    """One session on one copy of the project."""

    folder: Path
    workspace: Workspace
    person: Person

    def __post_init__(self) -> None:
        kinds = (ListFiles, ReadFile, EditFile, WriteFile)
        tools = [*(kind(self.workspace) for kind in kinds), run_command_tool(self.workspace)]
        self.agent = Agent(model=ScriptedModel(pace=0), tools=tools, gate=self.person)

    async def say(self, words: str, **options: Any) -> str:
        """The last text of the turn."""
        ended = await self.agent.prompt(words, **options)
        assert ended.error is None
        last = self.agent.messages[-1]
        return last.text if isinstance(last, AssistantMessage) else ended.stop_reason

    @property
    def calls(self) -> list[ToolCall]:
        return [
            call
            for message in self.agent.messages
            if isinstance(message, AssistantMessage)
            for call in message.calls
        ]

    def read(self, path: str) -> str:
        return (self.folder / path).read_text()


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[Demo]:
    folder = copy_project(tmp_path)
    with Workspace(folder) as workspace:
        yield Demo(folder, workspace, Person())


def suite_passes(folder: Path) -> bool:
    command = [sys.executable, "-m", "unittest"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


def declining(*paths: str, reason: str = "", kind: str = "") -> Decide:
    def decide(pending: Pending) -> Allow | Deny:
        refused = pending.tool.kind == kind or any(path in pending.proposal.targets for path in paths)
        return Deny(reason) if refused else yes(pending)

    return decide


def test_the_project_works_and_hides_its_fault(tmp_path: Path) -> None:
    folder = copy_project(tmp_path)
    assert suite_passes(folder)
    assert not [path for path in folder.rglob("*") if path.name.endswith(".txt")]
    program = "from shop.cart import Cart; from shop.order import order_total; print(order_total(Cart()))"
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert run.stdout == "490\n"


async def test_the_whole_task(demo: Demo) -> None:
    said = await demo.say(PROMPT)
    assert demo.person.asked == [TESTS, COMMAND, ORDER, COMMAND]
    assert [call.name for call in demo.calls if call.name != "search_files"] == [
        "list_files",
        "read_file",
        "read_file",
        "read_file",
        "edit_file",
        "run_command",
        "edit_file",
        "run_command",
    ]
    assert TEST_NAME in demo.read(TESTS)
    assert suite_passes(demo.folder)
    assert "all tests pass" in said
    texts = [m.text for m in demo.agent.messages if isinstance(m, AssistantMessage)]
    assert any("490 != 0" in text for text in texts)


async def test_every_request_would_be_accepted(demo: Demo) -> None:
    await demo.say(PROMPT)
    messages = demo.agent.messages
    for index, message in enumerate(messages):
        if isinstance(message, UserMessage):
            params = parameters(ModelRequest("", (), messages[: index + 1]))
            assert refusal({"model": "m", "max_tokens": 1, **params}) is None


async def test_a_declined_test_stays_declined_until_asked_again(demo: Demo) -> None:
    before = demo.read(TESTS)
    demo.person.decide_one = declining(TESTS)
    said = await demo.say(PROMPT)
    assert "nothing was written" in said
    assert demo.person.asked == [TESTS]
    assert demo.read(TESTS) == before
    demo.person.decide_one = yes
    assert "all tests pass" in await demo.say("go on")
    assert demo.person.asked == [TESTS, TESTS, COMMAND, ORDER, COMMAND]


async def test_a_reason_gets_another_proposal(demo: Demo) -> None:
    before = demo.read(TESTS)
    demo.person.decide_one = declining(TESTS, reason="keep that file as it is")
    said = await demo.say(PROMPT)
    assert demo.person.asked == [TESTS, OWN_TESTS, COMMAND, ORDER, COMMAND]
    assert demo.read(TESTS) == before
    assert OWN_TESTS in said
    assert suite_passes(demo.folder)
    texts = [m.text for m in demo.agent.messages if isinstance(m, AssistantMessage)]
    assert any("keep that file as it is" in text for text in texts)


async def test_two_reasons_are_enough(demo: Demo) -> None:
    demo.person.decide_one = declining(TESTS, OWN_TESTS, reason="no")
    assert "nothing was written" in await demo.say(PROMPT)
    assert demo.person.asked == [TESTS, OWN_TESTS]


async def test_a_declined_command_is_not_asked_again_in_the_turn(demo: Demo) -> None:
    demo.person.decide_one = declining(kind="execute")
    said = await demo.say(PROMPT)
    assert demo.person.asked == [TESTS, COMMAND, ORDER]
    assert "not run" in said
    assert "all tests pass" not in said
    demo.person.decide_one = yes
    assert "all tests pass" in await demo.say("go on")


async def test_a_declined_fix_leaves_the_failing_test(demo: Demo) -> None:
    demo.person.decide_one = declining(ORDER)
    said = await demo.say(PROMPT)
    assert "stays as it is" in said
    assert not suite_passes(demo.folder)
    demo.person.decide_one = yes
    assert "all tests pass" in await demo.say(PROMPT)
    assert demo.person.asked == [TESTS, COMMAND, ORDER, ORDER, COMMAND]


async def test_a_fix_declined_with_a_reason_comes_in_another_form(demo: Demo) -> None:
    answers = iter([Deny("no early returns")])

    def decide(pending: Pending) -> Allow | Deny:
        return next(answers, yes(pending)) if ORDER in pending.proposal.targets else yes(pending)

    demo.person.decide_one = decide
    assert "all tests pass" in await demo.say(PROMPT)
    assert "if cart.lines else 0" in demo.read(ORDER)


@pytest.mark.parametrize(
    ("deny", "words"),
    [
        (Deny(by="mode", reason="plan mode"), "here is the plan"),
        (Deny(unanswered=True), "needs an approval"),
    ],
)
async def test_modes_and_absence(demo: Demo, deny: Deny, words: str) -> None:
    demo.person.decide_one = lambda pending: deny
    assert words in await demo.say(PROMPT)
    assert demo.person.asked == [TESTS]


async def test_free_text_gets_one_honest_sentence(demo: Demo) -> None:
    said = await demo.say("What is the meaning of life?")
    assert said == prose.HONEST
    assert demo.calls == []
    await demo.say(PROMPT)
    assert await demo.say("Thanks! And now rename everything.") == prose.HONEST


@pytest.mark.parametrize(
    "words", ["Go on.", "continue, please", "ok", "  Yes! ", "add a test for an empty cart"]
)
def test_words_that_start_it(words: str) -> None:
    assert next_beat(Progress.of([UserMessage(content=[TextContent(words)])])).calls


@pytest.mark.parametrize("words", ["no", "ok but why?", "hello", "?", "go away"])
def test_words_that_do_not(words: str) -> None:
    assert next_beat(Progress.of([UserMessage(content=[TextContent(words)])])).text == prose.HONEST


async def test_a_remark_with_an_approval_is_heard(demo: Demo) -> None:
    def decide(pending: Pending) -> Allow:
        return Allow(pending.proposal, comment="nice name" if TESTS in pending.proposal.targets else "")

    demo.person.decide_one = decide
    await demo.say(PROMPT)
    texts = [m.text for m in demo.agent.messages if isinstance(m, AssistantMessage)]
    assert sum("nice name" in text for text in texts) == 1


async def test_an_escape_and_a_new_prompt(demo: Demo) -> None:
    """Stopped at each approval in turn, the task goes on from what is done."""
    for stopped_at in range(4):
        signal = CancelSignal()

        def decide(pending: Pending, signal: CancelSignal = signal) -> Allow:
            signal.cancel()
            return yes(pending)

        demo.person.decide_one = decide
        assert await demo.say("go on" if stopped_at else PROMPT, signal=signal) == "cancelled"
        demo.person.decide_one = yes
        assert await demo.say("what was that?") == prose.HONEST
    assert "all tests pass" in await demo.say("continue")
    assert suite_passes(demo.folder)
    assert demo.read(TESTS).count(TEST_NAME) == 1


async def test_a_changed_project_is_said_not_guessed(demo: Demo) -> None:
    (demo.folder / PRICING).unlink()
    assert f"can't read `{PRICING}`" in await demo.say(PROMPT)


async def test_an_edit_that_no_longer_fits(demo: Demo) -> None:
    (demo.folder / TESTS).write_text("import unittest\n")
    assert "could not be written" in await demo.say(PROMPT)


async def test_a_project_that_has_it_already(demo: Demo) -> None:
    (demo.folder / TESTS).write_text(demo.read(TESTS) + f"\n\ndef {TEST_NAME}(): pass\n")
    assert "already right" in await demo.say(PROMPT)
    assert demo.person.asked == [COMMAND]


async def test_it_is_a_function_of_the_history(demo: Demo) -> None:
    await demo.say(PROMPT)
    messages = demo.agent.messages
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            beat = next_beat(Progress.of(messages[:index]))
            assert beat.text == message.text
            assert [args for _, args in beat.calls] == [call.arguments for call in message.calls]


CALL = ToolCall(id="a", name="run_command", arguments={"command": COMMAND})


@pytest.mark.parametrize(
    ("words", "how"),
    [
        (declined(Deny()), "declined"),
        (declined(Deny("because: x")), "declined"),
        (declined(Deny(by="rule")), "forbidden"),
        (declined(Deny(by="mode", reason="x")), "forbidden"),
        (declined(Deny(unanswered=True)), "unanswered"),
        (interrupted(Cancelled("user", "x"), "interrupted by the user"), "stopped"),
        (interrupted(Cancelled("user", "x: y"), "stopped by the user after 1.0 s"), "declined"),
        (NOT_RUN, "stopped"),
        (OVERTAKEN, "stopped"),
        (UNKNOWN, "stopped"),
        ("the file is gone", "failed"),
    ],
)
def test_the_library_s_own_words_are_understood(words: str, how: str) -> None:
    assert how_it_went(answer(CALL, words, is_error=True)) == how


def test_a_note_of_the_program_is_not_the_person() -> None:
    result: ToolResultMessage = answer(CALL, "OK")
    messages = (
        UserMessage(content=(TextContent(PROMPT),)),
        AssistantMessage(content=(CALL,), stop_reason="tool_use"),
        UserMessage(content=(result, TextContent("The mode is now auto: go."))),
    )
    progress = Progress.of(messages)
    assert (progress.words, progress.opens) == (None, False)
