"""Values of files that hold secrets, hidden where nobody needs them: in panes, in copies and in exports.

The review shows everything, since what is seen there is what is written. Elsewhere each value becomes a
number, and equal values equal numbers, so that a masked diff still has the lines of the real one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tui_agent.text import plural

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent, AssistantMessage, ToolCall, ToolResultMessage
    from tui_agent.tools.details import FileChange

HIDDEN = "Values are hidden: this file is of a kind that holds secrets."

_PATHS = ("path", "pattern", "glob")
"""Arguments that say where, not what."""
_ASSIGNED = re.compile(
    r"""(?P<before>\s* (?:[#;]\s*)? (?:-\s+)? (?:export\s+)?
        ["']? [\w.\-/:@]{1,60} ["']? \s* (?:=|:(?!//)) \s*)
    (?P<value>[^=].*?|=.+?) (?P<after>\s*,?\s*)""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[\s{}\[\](),;]*|\s*\[[^\]]*\]\s*|-----[A-Z ]+-----\s*|\s*[#;][^=:]*")
"""Lines that say nothing: brackets, headings, comments without a value."""


def hides(path: str) -> bool:
    from tui_agent.permissions.places import is_secret

    return is_secret(path)


class Mask:
    """The numbers of one file's values."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def text(self, text: str) -> str:
        return "\n".join(map(self._line, text.split("\n")))

    def data(self, data: bytes | None) -> bytes | None:
        from tui_agent.tools.lines import BINARY, encoding_of

        if data is None or (encoding := encoding_of(data)) == BINARY:  # what isn't text is not shown anyway
            return data
        text = data.decode(encoding)
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{mark}{self.text(text.removeprefix(mark))}".encode(encoding)

    def diff(self, text: str) -> str:
        """A unified diff of the file."""
        head, mark, body = text.partition("@@")
        lines = f"{mark}{body}".split("\n")
        return head + "\n".join(
            line[:1] + self._line(line[1:]) if line[:1] in ("+", "-", " ") else line for line in lines
        )

    def _line(self, line: str) -> str:
        if _PLAIN.fullmatch(line):
            return line
        if (match := _ASSIGNED.fullmatch(line)) is not None and match["value"] not in "{[|>":
            return f"{match['before']}{self._number(match['value'])}{match['after']}"
        indent = line[: len(line) - len(line.lstrip())]
        return indent + self._number(line.strip()) + ("\r" if line.endswith("\r") else "")

    def _number(self, value: str) -> str:
        return f"[hidden {self._numbers.setdefault(value, len(self._numbers) + 1)}]"


def masked_change(change: FileChange) -> FileChange:
    """`change` as it may lie about; the same one if its file holds no secrets."""
    if not hides(change.path):
        return change
    mask = Mask()
    return change.model_copy(
        update={
            "before": mask.data(change.before),
            "after": mask.data(change.after),
            "diff": mask.diff(change.diff),
        }
    )


def masked_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call; those of a call about a file with secrets without its values."""
    if not about_secrets(arguments):
        return arguments
    mask = Mask()
    return {
        name: mask.text(value) if isinstance(value, str) and name not in _PATHS else value
        for name, value in arguments.items()
    }


def about_secrets(arguments: dict[str, Any], details: Any = None) -> bool:
    """Whether a call with these arguments, or a result with these details, is about a file with secrets."""
    told = details.get("path") if isinstance(details, dict) else getattr(details, "path", None)
    return any(isinstance(path, str) and hides(path) for path in (arguments.get("path"), told))


def masked_text(text: str) -> str:
    """What stands for the result of a call about such a file."""
    return f"{plural(len(text), 'character')} of a file that holds secrets, not shown here" if text else ""


def masked_events(events: Iterable[AgentEvent]) -> Iterator[AgentEvent]:
    """The events of a session, for an export."""
    secret: set[str] = set()
    for event in events:
        match event.type:
            case "assistant_message_done":
                secret |= {call.id for call in event.message.calls if about_secrets(call.arguments)}
                yield event.model_copy(update={"message": _message(event.message)})
            case "tool_call_started":
                update = {"call": _call(event.call), "details": _details(event.details)}
                yield event.model_copy(update=update)
            case "tool_call_finished" if event.result.tool_call_id in secret or about_secrets(
                {}, event.result.details
            ):
                yield event.model_copy(update={"result": _result(event.result)})
            case _:
                yield event


def _message(message: AssistantMessage) -> AssistantMessage:
    blocks = tuple(_call(block) if block.type == "tool_call" else block for block in message.content)
    return message.model_copy(update={"content": blocks})


def _call(call: ToolCall) -> ToolCall:
    return call.model_copy(update={"arguments": masked_arguments(call.arguments)})


def _result(result: ToolResultMessage) -> ToolResultMessage:
    from tui_agent.agent import TextContent

    content = (TextContent(text=masked_text(result.text)),)
    return result.model_copy(update={"content": content, "details": _details(result.details)})


def _details(details: Any) -> Any:
    from tui_agent.tools.details import FileChange, revive

    change = revive(details)
    return masked_change(change) if isinstance(change, FileChange) else details
