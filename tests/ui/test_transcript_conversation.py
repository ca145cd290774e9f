from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tui_agent.agent.events import (
    AgentEvent,
    ApprovalDecided,
    ApprovalRequested,
    AssistantMessageDone,
    Compacted,
    HistoryRewritten,
    NoteAdded,
    StepLimitReached,
    ToolCallFinished,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
)
from tui_agent.agent.messages import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tui_agent.agent.model import Retrying, TextDelta, ThinkingDelta
from tui_agent.tools.details import FileChange
from tui_agent.ui.panes.conversation import ConversationPane
from tui_agent.ui.widgets.strips import text_of


class Host(App[None]):
    def compose(self) -> ComposeResult:
        yield ConversationPane()


def rows(app: App[Any]) -> list[str]:
    return [text_of(strip).rstrip() for strip in app.screen._compositor.render_strips()]


def shown(app: App[Any]) -> list[str]:
    return [row.strip() for row in rows(app) if row.strip()]


async def tell(pilot: Pilot[Any], *events: AgentEvent) -> list[str]:
    pane = pilot.app.query_one(ConversationPane)
    for event in events:
        pane.apply(event)
    for _ in range(100):
        await pilot.pause()
        if pane.transcript._timer is None and not pane.transcript._sync_soon.due:
            await pilot.pause()
            return shown(pilot.app)
        await asyncio.sleep(0.02)
    raise TimeoutError


def prompt(text: str) -> TurnStarted:
    return TurnStarted((TextContent(text),))


def result(call_id: str, text: str, *, error: bool = False, details: Any = None) -> ToolCallFinished:
    message = ToolResultMessage(call_id, "read_file", (TextContent(text),), error, details)
    return ToolCallFinished(message, 1.5)


CALL = ToolCall(id="c1", name="read_file", arguments={"path": "src/a.py"})
ANSWER = AssistantMessage(
    (ThinkingContent("hm hm", "sig"), TextContent("Some **bold** text."), CALL), "tool_use"
)
TURN: list[AgentEvent] = [
    prompt("Look at it"),
    AssistantMessageDone(ANSWER),
    ToolCallStarted(CALL, "read", "Read src/a.py"),
    ApprovalDecided("c1", "allow", "mode"),
    result("c1", "x" * 2000),
    AssistantMessageDone(AssistantMessage((TextContent("# Done"),), "end_turn")),
    TurnEnded("end_turn"),
]
PICTURE = [
    "› Look at it",
    "· thought, 2 words",
    "Some bold text.",
    "✓ read_file src/a.py  1.5 s · 2.0 KB",
    "Done",
]


async def test_live_and_replayed_turns_give_one_picture() -> None:
    live: list[AgentEvent] = []
    for event in TURN:
        if isinstance(event, AssistantMessageDone):
            for block in event.message.content:
                if isinstance(block, ThinkingContent):
                    live += [ThinkingDelta(block.thinking[:2]), ThinkingDelta(block.thinking[2:])]
                elif isinstance(block, TextContent):
                    live += [TextDelta(c) for c in block.text]
        live.append(event)
    async with Host().run_test(size=(60, 20)) as pilot:
        replayed = await tell(pilot, *TURN)
        replayed_rows = rows(pilot.app)
    async with Host().run_test(size=(60, 20)) as pilot:
        streamed = await tell(pilot, *live)
        assert rows(pilot.app) == replayed_rows
    assert streamed == replayed == PICTURE


async def test_a_failed_a_declined_and_a_stopped_call_look_different() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        for number in range(3):
            call = ToolCall(id=f"c{number}", name="run_command", arguments={"command": f"cmd{number}"})
            await tell(pilot, ToolCallStarted(call, "execute"))
        assert (await tell(pilot, ApprovalRequested("c1", "x")))[1] == "? run_command cmd1"
        lines = await tell(
            pilot,
            result("c0", "bad", error=True),
            ApprovalDecided("c1", "deny", "user", "not now"),
            result("c1", "declined", error=True),
            TurnEnded("cancelled"),
        )
        assert [line.split(" ")[0] for line in lines] == ["✗", "–", "■", "■"]
        assert "not now" in lines[1]
        assert lines[-1] == "■ stopped"


async def test_a_retry_in_the_middle_marks_what_was_cut() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        lines = await tell(
            pilot,
            prompt("q"),
            TextDelta("half an ans"),
            Retrying("The connection was lost.", 1.0),
            TextDelta("The whole answer"),
            AssistantMessageDone(AssistantMessage((TextContent("The whole answer"),), "end_turn")),
            TurnEnded("end_turn"),
        )
        assert lines == [
            "› q",
            "half an ans",
            "■ cut here: The connection was lost. Asking again.",
            "The whole answer",
        ]


async def test_a_retry_before_the_first_word_leaves_no_mark() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        assert await tell(pilot, prompt("q"), Retrying("busy", 1.0)) == ["› q"]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (TurnEnded("cancelled"), "■ stopped"),
        (TurnEnded("refusal"), "declined to answer. /takeback"),
        (TurnEnded("max_tokens"), "cut at the output limit. /continue has the rest"),
        (TurnEnded("stuck", error="x was called 6 times"), "Stopped: x was called 6 times. Say what"),
        (TurnEnded("step_limit", error="90 tokens were used"), "! Stopped: 90 tokens were used. /continue"),
        (TurnEnded("model_context_window_exceeded"), "window is full. /compact"),
        (TurnEnded("pause_turn"), "paused its own work again and again. /continue"),
        (TurnEnded("new_reason"), "ended with “new_reason”. /continue"),
        (TurnEnded("error", error="No key"), "✗ No key /continue tries again."),
        (TurnEnded("error", error="No key", hint="Set it."), "Set it. Then /continue tries again."),
        (TurnEnded("error", error="No key [/nope]", hint="Set it \x1b[2J"), "✗ No key [/nope]"),
        (TurnEnded("error", error="No key", hint="Set it \x1b[2J"), "Set it ␛[2J"),
        (StepLimitReached(30), "30 steps are done, the limit. /continue goes on."),
        (HistoryRewritten("An image was refused and left out.", 1), "An image was refused"),
        (Compacted(1000, 100, "sum"), "1,000 → 100 tokens"),
        (NoteAdded((TextContent("mode is now auto"),)), "· mode is now auto"),
        (NoteAdded((TextContent("and hurry"),), "user"), "› and hurry"),
        (TurnStarted((TextContent("see"), ImageContent("AA==", "image/png"))), "[image]"),
    ],
)
async def test_each_end_has_its_own_words(end: AgentEvent, words: str) -> None:
    async with Host().run_test(size=(90, 20)) as pilot:
        assert words in " ".join(await tell(pilot, end))


@pytest.mark.parametrize("end", ["end_turn", "stop_sequence", "step_limit"])
async def test_an_end_that_was_told_is_not_told_again(end: str) -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        assert await tell(pilot, prompt("q"), TurnEnded(end)) == ["› q"]


async def test_text_stays_when_the_turn_is_cancelled() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        lines = await tell(
            pilot,
            TextDelta("so far"),
            AssistantMessageDone(AssistantMessage((TextContent("so far"),))),
            TurnEnded("cancelled"),
        )
        assert lines == ["so far", "■ stopped"]


async def test_ids_that_are_counted_anew_are_other_calls() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        lines = await tell(
            pilot, ToolCallStarted(CALL, "read"), result("c1", "a"), ToolCallStarted(CALL, "read")
        )
        assert [line[0] for line in lines] == ["✓", "›"]


async def test_calls_open_to_their_diff() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        change = FileChange(path="a.py", diff="@@ -1 +1 @@\n-old\n+new")
        await tell(pilot, ToolCallStarted(CALL, "write"), result("c1", "edited", details=change))
        pane = pilot.app.query_one(ConversationPane)
        pane.toggle_calls()
        assert "+new" in await tell(pilot)
        pane.toggle_calls()
        assert "+new" not in await tell(pilot)
        assert pane.jump_to_call(0)
        assert not pane.jump_to_call(1)


def answer(text: str) -> AssistantMessageDone:
    return AssistantMessageDone(AssistantMessage((TextContent(text),)))


async def test_what_was_taken_back_is_taken_out_and_its_note_stands_last() -> None:
    taken_back = [prompt("Other"), *TURN[1:], HistoryRewritten("went back", 4)]
    async with Host().run_test(size=(60, 20)) as pilot:
        pane = pilot.app.query_one(ConversationPane)
        assert await tell(pilot, prompt("First"), answer("one"), *taken_back) == [
            "› First",
            "one",
            "· went back",
        ]
        assert not pane.jump_to_call(0)
        assert (await tell(pilot, prompt("Next"), *TURN[1:]))[3] == "› Next"
        assert pane.jump_to_call(1)
        pane.transcript.action_move_cursor(1)
        await tell(pilot, HistoryRewritten("went back", 4))
        pane.transcript.action_open()  # the cursor was on what is gone
        assert await tell(pilot, HistoryRewritten("to the start", 2)) == ["· to the start"]


async def test_what_a_summary_stands_for_stays_in_view() -> None:
    summary = UserMessage((TextContent("the gist"),))
    async with Host().run_test(size=(90, 20)) as pilot:
        lines = await tell(
            pilot,
            prompt("First"),
            answer("one"),
            HistoryRewritten("shortened", 0, (summary,)),
            Compacted(1000, 100, "the gist"),
        )
        assert lines[:3] == ["› First", "one", "· shortened"]
        assert "It stays here and on disk; the model goes on from" in " ".join(lines)


async def test_the_search_line() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        await tell(pilot, *(prompt(f"prompt {n}") for n in range(30)))
        pane = pilot.app.query_one(ConversationPane)
        pane.entry.focus()
        await pilot.press("slash", *"prompt 7", "enter")
        lines = await tell(pilot)
        assert "› prompt 7" in lines
        assert lines[-1].endswith("1 of 1")
        await pilot.press("escape")
        assert not any("of 1" in line for line in await tell(pilot))
        assert pilot.app.focused is pane.entry


async def test_copying_reaches_the_clipboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    async with Host().run_test(size=(60, 12)) as pilot:
        await tell(pilot, *TURN)
        pilot.app.query_one(ConversationPane).entry.focus()
        await pilot.press("y")
        await pilot.pause()
        assert pilot.app.clipboard == "# Done"


async def test_scrolling_from_elsewhere_and_clearing() -> None:
    async with Host().run_test(size=(60, 8)) as pilot:
        await tell(pilot, *(prompt(f"prompt {n}") for n in range(30)))
        pane = pilot.app.query_one(ConversationPane)
        pane.scroll("home")
        assert (await tell(pilot))[0] == "› prompt 0"
        pane.scroll("page_down")
        assert "› prompt 0" not in await tell(pilot)
        pane.scroll("end")
        assert (await tell(pilot))[-1] == "› prompt 29"
        pane.scroll("page_up")
        assert "› prompt 29" not in await tell(pilot)
        pane.clear()
        assert await tell(pilot) == []


def test_nothing_heavy_is_imported_with_the_pane() -> None:
    import subprocess
    import sys

    code = (
        "import sys, tui_agent.ui.panes.conversation, tui_agent.ui.driver\n"
        "heavy = {'pydantic', 'anthropic', 'jsonschema', 'markdown_it', 'pygments', 'mcp', 'tree_sitter'}\n"
        "print(heavy & set(sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "set()\n"
    )
