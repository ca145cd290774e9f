"""`list_files`: the tree of a folder, folders first, with sizes."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.tool import ToolOutput
from tui_agent.text import plural, size_text
from tui_agent.tools.arguments import Arguments, PathText, Whole
from tui_agent.tools.clean import name_to_model
from tui_agent.tools.details import FileRead
from tui_agent.tools.read_tool import ReadTool
from tui_agent.tools.trouble import shown
from tui_agent.tools.truncate import LIMIT
from tui_agent.tools.walk import Entry, Walk

_ENTRIES = 1_000
_SECONDS = 5.0


class ListFilesArguments(Arguments):
    path: PathText = "."
    depth: Whole = Field(default=1, ge=1, le=1000, description="1 lists the folder itself.")


class ListFiles(ReadTool):
    name = "list_files"
    description = (
        "List a folder, with its sub-folders down to `depth`. Ignored trees (.gitignore) are named but not "
        "listed, links are shown and not followed. At most 1,000 entries."
    )
    parameters = ListFilesArguments
    of_files = False

    def title(self, parameters: ListFilesArguments, path: str) -> str:
        return f"List {path}"

    async def execute(self, parameters: ListFilesArguments, signal: CancelSignal) -> ToolOutput:
        output: ToolOutput = await in_thread(self._list, parameters, signal)
        return output

    def _list(self, parameters: ListFilesArguments, signal: CancelSignal) -> ToolOutput:
        base = self.workspace.resolve(parameters.path)
        walk = Walk(
            self.workspace,
            base,
            depth=parameters.depth,
            limit=_ENTRIES,
            seconds=_SECONDS,
            check=signal.raise_if_cancelled,
        )
        rows: list[str] = []
        length = 0
        denied = 0
        for entry in walk:
            if not self.workspace.may_read(entry.path):
                denied += 1
                continue
            row = _row(entry)
            length += len(row) + 1
            if length > LIMIT:
                walk.stopped = f"stopped after {LIMIT:,} characters"
                break
            rows.append(row)
        notes = list(_notes(walk))
        if denied:
            notes.append(f"{plural(denied, 'entry')} left out because a rule of the user's denies them")
        if not rows:
            notes.insert(0, "the folder is empty")
        text = "\n".join([*rows, *(f"[{note}]" for note in notes)])
        return ToolOutput(
            text,
            FileRead(
                path=shown(self.workspace.named(base)), lines=len(rows), summary=plural(len(rows), "entry")
            ),
        )


def _row(entry: Entry) -> str:
    name = "  " * (entry.depth - 1) + name_to_model(entry.name)
    if entry.kind == "folder":
        return f"{name}/" + (f"  ({entry.note})" if entry.note else "")
    if entry.kind == "link":
        return f"{name} -> {name_to_model(entry.note)}"
    return f"{name}  {size_text(entry.size)}" if entry.kind == "file" else f"{name}  ({entry.note})"


def _notes(walk: Walk) -> Iterator[str]:
    if walk.stopped:
        yield f"not complete: {walk.stopped}; list a sub-folder, or find files by text with search_files"
    if walk.unreadable:
        yield f"{plural(walk.unreadable, 'folder')} could not be read"
