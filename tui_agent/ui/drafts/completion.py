"""Completion in the prompt: commands after `/`, files after `@`.

It opens only while somebody types; what was put into the box whole (an earlier prompt) opens nothing. While
it is open it takes Up, Down, Tab, Enter and Escape before the prompt does, and Escape closes nothing else.
Files come from the thread of their index; until it answers, its last answer is narrowed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from textual.content import Content

from tui_agent.slash import Command
from tui_agent.ui import safe
from tui_agent.ui.commands import COMMANDS
from tui_agent.ui.drafts.file_index import Answer, FileIndex
from tui_agent.ui.drafts.matching import contains, letters
from tui_agent.ui.drafts.pasted_path import mention

if TYPE_CHECKING:
    from tui_agent.ui.app import TuiApp
    from tui_agent.ui.widgets.prompt import Prompt

_NAME = 14
_FILE = re.compile(r"""(?:^|(?<=[\s(\[{"'`,]))@(?:"([^"\n]*)|([^\s"]*))$""")
_HINT = "Tab takes it, Escape closes"


class Popup(Protocol):
    """Where the completions are shown."""

    chosen: int
    keep: Literal["head", "tail"]

    def offer(self, rows: Sequence[Content], chosen: int = 0, hint: str = "") -> None: ...
    def move(self, by: int) -> None: ...
    def open(self, is_open: bool) -> None: ...


@dataclass(frozen=True)
class Wanted:
    """What is being typed: from column `start` of the cursor's row to the cursor."""

    kind: Literal["command", "file"]
    start: int
    query: str


@dataclass(frozen=True)
class Offer:
    """`text` replaces what was typed; `runs`: it is whole, so Enter sends it."""

    text: str
    row: Content
    runs: bool = False


def wanted_at(line: str, column: int, *, first_line: bool) -> Wanted | None:
    """What the text before the cursor asks for."""
    before = line[:column]
    if first_line and before.startswith("/") and not re.search(r"[\s/]", before[1:]):
        return Wanted("command", 0, before[1:])
    if found := _FILE.search(before):
        return Wanted("file", found.start(), found[1] if found[1] is not None else found[2])
    return None


class Completion:
    def __init__(self, prompt: Prompt, popup: Popup, on_loop: Callable[..., object]) -> None:
        """`on_loop` calls a function on the event loop, from any thread."""
        self._prompt = prompt
        self._popup = popup
        self._on_loop = on_loop
        self._index: FileIndex | None = None
        self._answer = Answer("", (), 0)
        self._wanted: Wanted | None = None
        self._closed: tuple[str, int] | None = None
        self.offers: Sequence[Offer] = ()

    @property
    def is_open(self) -> bool:
        return bool(self.offers)

    def look_in(self, folder: Path) -> None:
        """Whose files are completed."""
        self._index = FileIndex(folder)
        self._answer = Answer("", (), 0)
        self.changed()  # something may have been typed meanwhile

    def changed(self) -> None:
        """The text or the cursor is another: offer what fits now."""
        wanted = self._now()
        if wanted is None or (wanted.kind, wanted.start) != self._closed:
            self._closed = None
        if wanted is None or self._closed or self._prompt.text == self._prompt.placed:
            self._show(None, ())
        elif wanted.kind == "command":
            self._show(wanted, _commands(wanted.query))
        elif self._index is not None:
            self._index.ask(wanted.query, self._answered)
            self._show(wanted, self._files(wanted.query))

    def moved(self) -> None:
        """The cursor went elsewhere: close, unless it is where it was."""
        if self.is_open and self._now() != self._wanted:
            self._show(None, ())

    def close(self) -> bool:
        """Close it until something else is typed; False if it was not open."""
        if not self.is_open or self._wanted is None:
            return False
        self._closed = (self._wanted.kind, self._wanted.start)
        self._show(None, ())
        return True

    def take_key(self, key: str) -> bool:
        if not self.is_open:
            return False
        match key:
            case "up" | "down":
                self._popup.move(-1 if key == "up" else 1)
            case "tab":
                self.accept()
            case "enter" if not self._is_typed():
                offer = self.offers[self._popup.chosen]
                self.accept()
                if offer.runs:
                    self._prompt.submit()
            case _:
                return False
        return True

    def accept(self) -> None:
        """Write the chosen completion."""
        if self._wanted is None:
            return
        offer = self.offers[self._popup.chosen]
        prompt = self._prompt
        row, column = prompt.cursor_location
        result = prompt.replace(offer.text, (row, self._wanted.start), (row, column))
        prompt.move_cursor(result.end_location)
        if not offer.text.endswith("/"):
            self._show(None, ())

    def _is_typed(self) -> bool:
        """Whether the chosen one stands there already: Enter then sends."""
        wanted, offer = self._wanted, self.offers[self._popup.chosen]
        if wanted is None:
            return True
        line = self._prompt.document.get_line(self._prompt.cursor_location[0])
        return line[wanted.start : self._prompt.cursor_location[1]] == offer.text.rstrip(" ")

    def _now(self) -> Wanted | None:
        prompt = self._prompt
        if not prompt.selection.is_empty:
            return None
        row, column = prompt.cursor_location
        line = prompt.document.get_line(row)
        return wanted_at(line, column, first_line=row == 0 and prompt.document.line_count == 1)

    def _show(self, wanted: Wanted | None, offers: Sequence[Offer], total: int = 0) -> None:
        if not offers and not self.offers:  # most keys: nothing is laid out for them
            self._wanted = wanted
            return
        same = wanted is not None and wanted == self._wanted and len(offers) > self._popup.chosen
        chosen = self._popup.chosen if same else 0
        self._wanted, self.offers = wanted, offers
        hint = f"{_HINT}, {total:,} match" if total > len(offers) else _HINT
        self._popup.keep = "tail" if wanted is not None and wanted.kind == "file" else "head"
        self._popup.offer([offer.row for offer in offers], chosen, hint if offers else "")
        self._popup.open(bool(offers))

    def _answered(self, answer: Answer) -> None:
        self._on_loop(self._take, answer)

    def _take(self, answer: Answer) -> None:
        if not self._prompt.is_attached:
            return
        self._answer = answer
        wanted = self._now()
        if wanted is None or wanted.kind != "file" or self._closed:
            return
        if self._prompt.text != self._prompt.placed:
            total = answer.total if answer.query == wanted.query else 0
            self._show(wanted, self._files(wanted.query), total)

    def _files(self, query: str) -> Sequence[Offer]:
        lowered = query.lower()
        return [
            _file(path, letters(lowered, path.lower()))
            for path in self._answer.paths
            if contains(lowered, path.lower())
        ]


def _commands(query: str) -> Sequence[Offer]:
    starting = [command for command in COMMANDS if command.name.startswith(query)]
    others = [command for command in COMMANDS if command not in starting and contains(query, command.name)]
    return [_command(command) for command in (*starting, *others)]


def _command(command: Command[TuiApp]) -> Offer:
    row = Content.assemble((command.call.ljust(_NAME), "bold"), "  ", (command.help, "$text-muted"))
    return Offer(f"/{command.name}{' ' if command.argument else ''}", row, runs=not command.argument)


def _file(path: str, columns: Sequence[int]) -> Offer:
    row = safe.title(path)
    for column in columns:
        row = row.stylize("bold $text-accent", column, column + 1)
    # A folder goes on to what is in it, so its quote stays open.
    return Offer(mention(path).removesuffix('"') if path.endswith("/") else f"{mention(path)} ", row)
