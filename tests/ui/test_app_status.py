"""What the status line says, as a pure fold, and whether every theme of ours can be read."""

from __future__ import annotations

import pytest
from textual.color import Color

from tui_agent.agent import (
    ApprovalDecided,
    ApprovalRequested,
    Compacting,
    Retrying,
    TextContent,
    TextDelta,
    ToolCall,
    ToolCallFinished,
    ToolCallProgress,
    ToolCallStarted,
    ToolResultMessage,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageUpdated,
)
from tui_agent.text import width_of
from tui_agent.ui.status import Status, thousands
from tui_agent.ui.themes import DARK, LIGHT, OWN, first_theme
from tui_agent.ui.widgets.status_line import compose_line

START = TurnStarted(prompt=(TextContent(text="go"),))


def status(*events: object, at: float = 0.0, **facts: object) -> Status:
    made = Status(mode="ask", opening=False, **facts)  # type: ignore[arg-type]
    for event in events:
        made.apply(event, at)  # type: ignore[arg-type]
    return made


def test_activity_follows_the_run() -> None:
    now = status(START)
    assert now.activity(0) == "thinking"
    now.apply(TextDelta(text="x"), 1)
    assert now.activity(1) == "answering"
    now.apply(ToolCallProgress(call_id="a", name="write_file", bytes=12_345), 2)
    assert now.activity(2).startswith("writing write_file 12 KB")
    now.apply(ToolCallStarted(call=ToolCall(id="a", name="write_file", arguments={})), 3)
    assert now.activity(3) == "running write_file, 3 s"
    now.apply(ApprovalRequested(call_id="a", title="Write"), 4)
    assert now.activity(100) == "waiting for your answer, 100 s"
    now.apply(ApprovalDecided(call_id="a", decision="allow", by="user"), 101)
    assert now.activity(101) == "running write_file, 101 s"
    now.apply(ApprovalDecided(call_id="a", decision="deny", by="user"), 102)
    assert now.activity(102) == "thinking, 102 s"
    now.apply(TurnEnded(stop_reason="end_turn"), 103)
    assert now.activity(103) == ""


def test_a_write_says_what_is_written_once_that_is_known() -> None:
    now = status(START, ToolCallProgress(call_id="a", name="write_file", bytes=2_000, subject="src/x.py"))
    assert now.activity(0) == "writing src/x.py 2.0 KB"


@pytest.mark.parametrize(
    ("stop", "words"), [("cancelled", "stopped"), ("step_limit", "step limit"), ("error", "error"), ("x", "")]
)
def test_the_end_of_a_turn(stop: str, words: str) -> None:
    assert status(START, TurnEnded(stop_reason=stop)).activity(9) == words


def test_making_room_is_called_so_and_is_no_silence() -> None:
    now = status(START, Compacting())
    assert now.activity(40) == "shortening the conversation, 40 s"
    now.apply(Compacting(over=True), 41)
    assert now.activity(41) == "thinking, 41 s"


def test_silence_is_called_waiting_unless_a_tool_runs() -> None:
    now = status(START)
    assert now.activity(9.9).startswith("thinking")
    assert now.activity(10) == "waiting for the model, 10 s"
    now.apply(ToolCallStarted(call=ToolCall(id="a", name="run_command", arguments={})), 11)
    assert now.activity(60).startswith("running run_command")


def test_a_retry_counts_down() -> None:
    now = status(START, Retrying(error="overloaded", delay=8), at=2)
    assert [now.activity(t) for t in (2, 7, 99)] == [
        "retry in 8 s: overloaded",
        "retry in 3 s: overloaded",
        "retry in 0 s: overloaded",
    ]
    now.apply(TextDelta(text="x"), 10)
    assert now.activity(10).startswith("answering")


def test_stopping_names_what_is_waited_for() -> None:
    now = status(START, ToolCallStarted(call=ToolCall(id="a", name="run_command", arguments={})))
    now.stopping = True
    assert now.activity(5) == "stopping: waiting for run_command"
    result = ToolResultMessage(tool_call_id="a", tool_name="run_command", content=())
    now.apply(ToolCallFinished(result=result, seconds=1), 6)
    assert now.activity(6) == "stopping"


def test_it_says_whether_something_changed() -> None:
    now = status(START)
    assert now.apply(TextDelta(text="a"), 1)
    assert not now.apply(TextDelta(text="b"), 1.1)


def test_step_and_tokens() -> None:
    usage = Usage(input_tokens=12_000, output_tokens=400)
    now = status(START, UsageUpdated(usage=usage, turn=usage, step=3))
    line = compose_line(now, 0, 100).plain
    assert "step 3 of 30" in line
    assert "12.4k tokens" in line


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
@pytest.mark.parametrize("place", ["shop (main)", "日本語 (枝)", "[/red]\x1b[2J"])
def test_the_line_is_its_width_and_keeps_the_mode(width: int, place: str) -> None:
    now = status(START, model="claude-opus-5-5", place=place, tokens=99_000, step=30, queued=3)
    line = compose_line(now, 50, width).plain
    assert width_of(line) == width
    assert line.startswith("ask")
    assert "\x1b" not in line


@pytest.mark.parametrize(("count", "shown"), [(812, "812"), (3_400, "3.4k"), (120_400, "120k")])
def test_counts(count: int, shown: str) -> None:
    assert thousands(count) == shown


# Themes

TEXTS = ("foreground", "primary", "secondary", "accent", "success", "warning", "error")
DERIVED = ("text-primary", "text-secondary", "text-accent", "text-success", "text-warning", "text-error")


@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["background", "surface", "panel", "block-cursor-background"])
def test_every_text_of_a_theme_can_be_read_on_every_ground(theme: object, ground: str) -> None:
    colours = theme.to_color_system().generate() | theme.variables  # type: ignore[attr-defined]
    behind = Color.parse(colours[ground])
    for name in (*TEXTS, *DERIVED):
        text = colours[name]
        assert contrast(Color.parse(text), behind) >= 4.5, (name, ground, text)
    quiet = behind.blend(Color.parse(colours["foreground"]), 0.7)
    assert contrast(quiet, behind) >= 4.5


def contrast(one: Color, other: Color) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Color) -> float:
    parts = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (colour.r / 255, colour.g / 255, colour.b / 255)
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize(
    ("wanted", "environ", "name"),
    [
        (None, {}, DARK.name),
        (None, {"COLORFGBG": "0;15"}, LIGHT.name),
        (None, {"COLORFGBG": "15;default;0"}, DARK.name),
        ("light", {}, LIGHT.name),
        ("dark", {"COLORFGBG": "0;15"}, DARK.name),
        ("nord", {}, "nord"),
    ],
)
def test_the_first_theme(wanted: str | None, environ: dict[str, str], name: str) -> None:
    assert first_theme(wanted, environ) == name
