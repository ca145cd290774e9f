"""Who decided what, as a stored session tells it."""

from __future__ import annotations

from typing import Any

from tui_agent.agent import AgentEvent, ApprovalDecided, ToolCall, ToolCallStarted
from tui_agent.permissions.decided import Decided, decided_in


def started(title: str, id: str = "a") -> ToolCallStarted:
    call = ToolCall(id=id, name="run_command", arguments={})
    return ToolCallStarted(call=call, kind="execute", title=title)


def decided(**fields: Any) -> ApprovalDecided:
    return ApprovalDecided(**({"call_id": "a", "decision": "allow", "by": "user"} | fields))


def log(*events: AgentEvent) -> list[tuple[str, str, str]]:
    return [(one.title, one.decision, one.who) for one in decided_in(events)]


def test_a_line_says_the_rule_or_the_mode() -> None:
    events = [
        *(started("Run make"), decided(by="rule", source="run_command(make)")),
        *(started("Run ls", "b"), decided(call_id="b", by="mode", source="auto")),
        *(started("Run rm"), decided(decision="deny")),  # an id may come again
    ]
    assert log(*events) == [
        ("Run make", "allow", "run_command(make)"),
        ("Run ls", "allow", "auto mode"),
        ("Run rm", "deny", "you"),
    ]
    assert [one.source for one in decided_in(events)] == ["run_command(make)", "auto", ""]


def test_what_the_person_changed_is_told_as_it_was_allowed() -> None:
    assert log(started("Run rm -r x"), decided(title="Run rm x")) == [("Run rm x", "allow", "you")]


def test_a_session_from_before_says_as_much_as_it_stored() -> None:
    assert log(started("Run make"), decided(by="rule"), started("Run ls"), decided(by="mode")) == [
        ("Run make", "allow", "a rule"),
        ("Run ls", "allow", "the mode"),
    ]


def test_a_decision_about_no_call_is_none() -> None:
    assert list(decided_in([decided()])) == []
    assert Decided("a", "t", "T", "deny", "rule", rule="x").source == "x"
