"""`search_files`: a regular expression over files, by ripgrep or, without it, by a process of our own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from pydantic import Field

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.agent.tool import ToolOutput
from tui_agent.text import plural
from tui_agent.tools import plain_search, ripgrep
from tui_agent.tools.arguments import Arguments, PathText, Text
from tui_agent.tools.clean import name_to_model, to_model
from tui_agent.tools.details import FileRead
from tui_agent.tools.read_tool import ReadTool
from tui_agent.tools.search import Found, Query
from tui_agent.tools.sniff import HEAD, text_encoding
from tui_agent.tools.trouble import shown
from tui_agent.tools.truncate import LIMIT, clip_line


class SearchFilesArguments(Arguments):
    pattern: Text = Field(description="Regular expression, matched line by line.", max_length=10_000)
    path: PathText = "."
    glob: Text | None = Field(
        default=None, max_length=500, description="Which files: *.py, src/**/*.{ts,tsx}, !*.min.js"
    )
    ignore_case: bool = False


class SearchFiles(ReadTool):
    name = "search_files"
    description = (
        "Search file contents; returns `path:line: text`. Ignored (.gitignore), binary and linked files are "
        "skipped; a path inside an ignored tree is searched when you name it. Use the common part of regular "
        "expressions: no look-around, no back-references. At most 1,000 lines, 50,000 characters, 20 s."
    )
    parameters = SearchFilesArguments

    def title(self, parameters: SearchFilesArguments, path: str) -> str:
        where = "" if path == "." else f" in {path}"
        return f"Search {clip_line(to_model(parameters.pattern), 60)}{where}"

    async def execute(self, parameters: SearchFilesArguments, signal: CancelSignal) -> ToolOutput:
        output: ToolOutput = await in_thread(self._search, parameters, signal)
        return output

    def _search(self, parameters: SearchFilesArguments, signal: CancelSignal) -> ToolOutput:
        for name, text in (("pattern", parameters.pattern), ("glob", parameters.glob or "*")):
            if not text or "\0" in text or "\n" in text:
                raise ToolError(
                    f"The {name} is empty or holds a NUL or a line end; lines are matched one by one. "
                    "Send one for a single line."
                )
        base = self.workspace.resolve(parameters.path)
        query = Query(
            parameters.pattern,
            base,
            not self.workspace.is_folder(base),
            parameters.glob,
            parameters.ignore_case,
            passes_over=self._passed_over(base),
        )
        if query.is_file:
            with self.workspace.open_read(base) as opened:  # or it says why it can't be searched
                if text_encoding(os.pread(opened.fd, HEAD, 0), complete=False) is None:
                    raise ToolError(f"{shown(base)} is not text, so it is not searched. Use run_command.")
        program = ripgrep.ripgrep_for(self.workspace)
        if program:
            found = ripgrep.search(self.workspace, program, query, signal)
        else:
            found = plain_search.search(self.workspace, query, signal)
        if found.error:
            raise ToolError(f"The pattern is not valid, nothing was searched: {to_model(found.error)}")
        return _output(query, found, self.workspace.named)

    def _passed_over(self, base: str) -> Callable[[str], bool]:
        """Files that may hold secrets, unless the search was sent to them; denied ones always."""
        may_read, hides = self.workspace.may_read, self.workspace.hides
        return (lambda path: not may_read(path)) if hides(base) else hides


def _output(query: Query, found: Found, named: Callable[[str], str]) -> ToolOutput:
    rows, length = [], 0
    for hit in found.hits:
        row = f"{name_to_model(named(hit.path))}:{hit.line}: {hit.text}"
        length += len(row) + 1
        if length > LIMIT:
            break
        rows.append(row)
    base = shown(named(query.base))
    notes = list(_notes(query, found, base, len(found.hits) - len(rows)))
    text = "\n".join([*rows, *(f"[{note}]" for note in notes)])
    return ToolOutput(text, FileRead(path=base, lines=len(rows), summary=plural(len(found.hits), "match")))


def _notes(query: Query, found: Found, base: str, left_out: int) -> Iterator[str]:
    where = "the folder" if base == "." else base
    if not found.hits:
        files = f" (files {to_model(query.glob)})" if query.glob else ""
        yield f"no match in {where}{files}{' so far' if found.stopped else ''}"
    if left_out:
        yield f"{plural(left_out, 'more match')} left out; search a sub-folder or a narrower pattern"
    if found.stopped:
        yield f"not complete: {found.stopped}; search a sub-folder, a glob or a narrower pattern"
    if found.passed_over:
        yield f"{plural(found.passed_over, 'file')} not searched: denied by a rule, or likely to hold secrets"
