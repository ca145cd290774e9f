"""A session as a document: Markdown to read, JSON to work with. Keys are left out of both."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from tui_agent import paths
from tui_agent.agent import AgentEvent, AssistantMessage, ToolCall, ToolResultMessage
from tui_agent.session.entries import Header
from tui_agent.session.index import summarise
from tui_agent.session.store import SessionStore

Format = Literal["md", "json"]
FORMATS: tuple[Format, ...] = ("md", "json")


class ExportError(Exception):
    """A file that can't be written, with the next step."""


def export(header: Header, title: str, events: Sequence[AgentEvent], form: Format) -> str:
    if form == "json":
        document = {"session": header.model_dump(), "events": [e.model_dump(mode="json") for e in events]}
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    parts = [f"# {title}", f"Session {header.id}, in `{header.folder}`.", *_markdown(events)]
    return "\n\n".join(parts) + "\n"


def write(
    store: SessionStore,
    events: Iterable[AgentEvent],
    words: str,
    folder: Path,
    redact: Callable[[str], str],
) -> Path:
    """Write what `[md|json] [PATH]` asks for, a path as seen from `folder`; returns where it is."""
    form, path = _form_and_path(words)
    summary = summarise(store.place)
    title = (summary and summary.title) or store.id
    text = export(store.header, title, list(events), form)
    if not path:
        return beside(store.place, form, text, redact)
    target = folder / Path(path).expanduser()
    save(target, text, redact)
    return target


def _form_and_path(words: str) -> tuple[Format, str]:
    """A path that ends as a format does names it, too."""
    first, _, rest = words.partition(" ")
    for form in FORMATS:
        if first == form:
            return form, rest.strip()
    return next((form for form in FORMATS if words.endswith(f".{form}")), FORMATS[0]), words


def save(path: Path, text: str, redact: Callable[[str], str]) -> None:
    """Into a new file that only its owner may read; nothing that is there is overwritten."""
    data = redact(text).encode("utf-8", "replace")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, 0o600)
    except FileExistsError:
        raise ExportError(f"{path} exists already. Name another file.") from None
    except OSError as error:
        raise ExportError(f"{path} can't be written: {error.strerror or error}. Name another file.") from None
    with os.fdopen(fd, "wb") as file:
        os.fchmod(fd, 0o600)
        file.write(data)


def beside(place: Path, form: Format, text: str, redact: Callable[[str], str]) -> Path:
    """Into the session's own folder, in the place of an earlier export."""
    path = place / f"export.{form}"
    paths.replace_private(path, redact(text).encode("utf-8", "replace"))
    return path


def _markdown(events: Iterable[AgentEvent]) -> Iterator[str]:
    for event in events:
        match event.type:
            case "turn_started" if event.prompt:
                yield f"## Prompt\n\n{_words(event.prompt)}"
            case "note_added":
                words = _words(event.content)
                yield f"## Prompt\n\n{words}" if event.by == "user" else _quote(words)
            case "assistant_message_done":
                yield from _reply(event.message)
            case "approval_decided" if event.decision == "deny":
                yield f"*Declined by {event.by}{f': {event.reason}' if event.reason else ''}*"
            case "tool_call_finished":
                yield _result(event.result)
            case "model_chosen":
                yield f"*From here on: {event.words}*"
            case "compacted":
                yield f"*The conversation was shortened to this summary:*\n\n{event.summary}"
            case "history_rewritten":
                yield f"*{event.reason}*"
            case "turn_ended" if event.error:
                yield f"*Ended: {event.error}*"


def _reply(message: AssistantMessage) -> Iterator[str]:
    for block in message.content:
        match block.type:
            case "text" if block.text.strip():
                yield block.text.strip()
            case "thinking" if block.thinking.strip():
                yield _quote(block.thinking)
            case "tool_call":
                yield _call(block)


def _call(call: ToolCall) -> str:
    return f"**{call.name}**\n\n{_fenced(json.dumps(call.arguments, ensure_ascii=False, indent=1), 'json')}"


def _result(result: ToolResultMessage) -> str:
    return f"{'Error' if result.is_error else 'Result'} of {result.tool_name}:\n\n{_fenced(result.text)}"


def _fenced(text: str, language: str = "") -> str:
    """In a fence that nothing in `text` can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _words(blocks: Iterable[object]) -> str:
    return "\n\n".join(getattr(block, "text", "[image]") for block in blocks)


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
