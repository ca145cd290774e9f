"""The tool calls of a session, as a fold of its events. Pure: the tool log draws it.

A call is first heard of while the model writes it (`writing`), is looked at (`running`), may wait for an
answer (`asks`), and ends `done`, `failed`, `declined` or `stopped`. One that left a command in the background
is a `job` until that ends. Texts are kept as they came; they become something to show in the drawing code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tui_agent.text import size_text
from tui_agent.ui.status import OWN

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent, ToolCall, ToolResultMessage
    from tui_agent.tools.jobs import Job

State = Literal["writing", "asks", "running", "job", "done", "failed", "declined", "stopped"]
GLYPHS: dict[State, str] = {
    "writing": "…",
    "asks": "?",
    "running": "›",
    "job": "&",
    "done": "✓",
    "failed": "✗",
    "declined": "–",
    "stopped": "■",
}
OPEN_STATES = frozenset({"writing", "asks", "running"})

TAIL_LINES = 3
"""Lines of live output that a running call shows."""
TAIL = 4000
"""Characters of live output that are kept."""
IN_BACKGROUND = "in the background"
"""How a call ended that left its command running."""

_MAIN = ("command", "pattern", "path")
_BY = {"user": "you", "rule": "rule", "mode": "mode"}


@dataclass
class Call:
    """One call. `subject` is the path, pattern or command it is about; `by` is who decided.

    `number` is its place among all calls, which is the same in every fold of the same events; ids may come
    again in a later reply. `details` are those of its proposal, then of its result, without the bytes of
    files. `job` is the id of the command that it left in the background.
    """

    id: str
    name: str
    number: int = 0
    state: State = "writing"
    subject: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    bytes: int = 0
    seconds: float | None = None
    by: str = ""
    reason: str = ""
    tail: str = ""
    result: ToolResultMessage | None = None
    details: Any = None
    job: str = ""
    denied: bool = False
    stopping: bool = False

    @property
    def running(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def stoppable(self) -> bool:
        return self.state in ("running", "job") and not self.stopping

    @property
    def size(self) -> int:
        return 0 if self.result is None else sum(len(getattr(b, "text", "")) for b in self.result.content)

    @property
    def tail_lines(self) -> list[str]:
        live = self.running or self.state == "job"
        return self.tail.rstrip().split("\n")[-TAIL_LINES:] if live and self.tail.strip() else []

    def about(self) -> str:
        """The main argument, or how much of the arguments has come."""
        if self.state == "writing" and self.bytes:
            return f"{self.subject} {size_text(self.bytes)}".strip()
        return self.subject

    def matches(self, words: list[str]) -> bool:
        """Whether each of the (lower case) words is in the state, the name or the main argument."""
        text = f"{self.state} {self.name} {self.subject} {self.by} {self.job}".lower()
        return all(word in text for word in words)


class Calls:
    """All calls in order. `apply` returns the calls that an event touched."""

    def __init__(self) -> None:
        self.all: list[Call] = []
        self._by_id: dict[str, Call] = {}
        self._jobs: dict[str, Call] = {}

    @property
    def jobs(self) -> list[Call]:
        """The calls whose commands run in the background."""
        return list(self._jobs.values())

    def numbered(self, number: int) -> Call | None:
        return self.all[number] if 0 <= number < len(self.all) else None

    def apply(self, event: AgentEvent) -> list[Call]:
        match event.type:
            case "tool_call_progress":
                call = self._open_call(event.call_id, event.name)
                call.bytes, call.subject = event.bytes, event.subject
            case "tool_call_started":
                call = self._open_call(event.call.id, event.call.name)
                call.name, call.state = event.call.name, "running"
                call.arguments, call.details = event.call.arguments, _light(event.details)
                call.subject = subject_of(event.call) or event.title.partition(" ")[2]
            case "approval_requested":
                call = self._call(event.call_id, event.title)
                call.state = "asks"
                call.reason = event.reason
            case "approval_decided":
                call = self._call(event.call_id, "")
                call.by = _BY[event.by]
                call.reason = event.reason
                call.denied = event.decision == "deny"
                call.state = "running"
            case "tool_progress":
                call = self._call(event.call_id, "")
                call.tail = event.text[-TAIL:]
            case "tool_call_finished":
                call = self._call(event.result.tool_call_id, event.result.tool_name)
                call.details = _light(event.result.details) or call.details
                call.result = event.result.model_copy(update={"details": None})
                call.seconds, call.tail = event.seconds, ""
                call.state = self._end_of(call, event.result, event.skipped)
            case "turn_ended":
                return self._end_all()
            case _:
                return []
        return [call]

    def _open_call(self, call_id: str, name: str) -> Call:
        """The call that begins or is under way; some servers count their ids anew in each reply."""
        if (call := self._by_id.get(call_id)) is not None and not call.running:
            del self._by_id[call_id]
        return self._call(call_id, name)

    def _call(self, call_id: str, name: str) -> Call:
        call = self._by_id.get(call_id)
        if call is None:
            call = self._by_id[call_id] = Call(call_id, name, len(self.all))
            self.all.append(call)
        return call

    def _end_of(self, call: Call, result: ToolResultMessage, skipped: bool) -> State:
        if call.denied:
            return "declined"
        ended, job = fact(result.details, "ended"), fact(result.details, "job")
        if job and ended == IN_BACKGROUND:
            call.job = job
            self._jobs[job] = call
            return "job"
        if skipped or call.stopping or (ended in ("cancelled", "stopped") and not job):
            return "stopped"
        return "failed" if result.is_error else "done"

    def look_at(self, jobs: Iterable[Job]) -> list[Call]:
        """Take in how the background commands are now; returns the calls that look otherwise."""
        touched = []
        for job in jobs:
            if (call := self._jobs.get(job.id)) is None:
                continue
            before = call.tail
            if job.running:
                call.tail = job.latest()[-TAIL:]
            else:
                call.state, call.tail = _end_of_job(job), ""
                call.seconds = job.ended.seconds if job.ended else call.seconds
                del self._jobs[job.id]
            if call.state != "job" or call.tail != before:
                touched.append(call)
        return touched

    def end_jobs(self) -> list[Call]:
        """The program that these commands ran under has ended, and they with it."""
        touched = self.jobs
        for call in touched:
            call.state, call.tail = "stopped", ""
        self._jobs.clear()
        return touched

    def _end_all(self) -> list[Call]:
        """A reply that was cut leaves calls that were only half written."""
        touched = [call for call in self.all[-200:] if call.running and call.name != OWN]
        for call in touched:
            call.state, call.tail = "stopped", ""
        return touched


def subject_of(call: ToolCall) -> str:
    """The one argument that says what the call is about."""
    arguments = call.arguments
    for name in _MAIN:
        if isinstance(value := arguments.get(name), str) and value:
            return value
    return next((value for value in arguments.values() if isinstance(value, str) and value), "")


def fact(details: Any, name: str) -> str:
    """A word of details as they are in a run, or as a session gives them back."""
    value = details.get(name) if isinstance(details, dict) else getattr(details, name, None)
    return value if isinstance(value, str) else ""


def _light(details: Any) -> Any:
    """Details without the bytes of a file: what can be shown of it is fetched again when it is asked for."""
    if fact(details, "type") == "file_change" and not isinstance(details, dict):
        return details.model_copy(update={"before": None, "after": None})
    return details


def _end_of_job(job: Job) -> State:
    if job.ended is None:
        return "failed"
    if job.ended.how == "stopped":
        return "stopped"
    return "done" if job.ended.code == 0 else "failed"
