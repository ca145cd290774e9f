"""`write_file`: create a file, or replace all of one that the model knows."""

from __future__ import annotations

import re

from pydantic import Field

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.agent.tool import Proposal
from tui_agent.text import plural, size_text
from tui_agent.tools.arguments import Arguments, FileText, PathText
from tui_agent.tools.change import ChangeTool, base_of, counts, propose
from tui_agent.tools.details import NOT_READ, FileChange
from tui_agent.tools.lines import BINARY, encoding_of, has_mark, line_ends, split_lines
from tui_agent.tools.trouble import shown

_SOFT_END = re.compile(b"(?<!\r)\n")


class WriteFileArguments(Arguments):
    path: PathText
    content: FileText = Field(description="The whole new content.")


class WriteFile(ChangeTool):
    name = "write_file"
    description = (
        "Create a file (and the folders on its way) or replace all of an existing one, as UTF-8. Read a file "
        "before you replace it; to change a part use edit_file."
    )
    parameters = WriteFileArguments

    async def prepare(self, parameters: WriteFileArguments, signal: CancelSignal) -> Proposal:
        base = await base_of(self.workspace, parameters.path, signal, may_be_new=True)
        path, before = base.path, base.data
        after, adapted = await in_thread(_content, path, parameters.content, before)
        if after == before:
            raise ToolError(f"Nothing would change: {shown(path)} holds exactly that content already.")
        facts = adapted if base.seen else (*adapted, NOT_READ)

        def told(change: FileChange) -> str:
            if before is not None:
                return f"Replaced {shown(path)} ({counts(change)})."
            return f"Created {shown(path)} ({plural(change.added, 'line')}, {size_text(len(after))})."

        title = f"{'Create' if before is None else 'Replace'} {path}"
        return await propose(self.workspace, title, base, after, facts, told=told, whole=True)


def _content(path: str, text: str, before: bytes | None) -> tuple[bytes, tuple[str, ...]]:
    """The bytes to write, and what is adapted to the file that is there, or lost of it."""
    data, facts = text.encode(), []
    if not before:
        return data, ()
    encoding = encoding_of(before)
    if encoding == BINARY:
        raise ToolError(
            f"{shown(path)} is not text, and no diff could show what would be lost; it is untouched. "
            "Choose another name, or remove it with run_command first."
        )
    if line_ends(split_lines(before, encoding), encoding) == "CRLF" and _SOFT_END.search(data):
        data = _SOFT_END.sub(b"\r\n", data)
        facts.append("line ends written as CRLF, as the file has them")
    if encoding not in ("utf-8", encoding_of(data)):
        facts.append(f"was {encoding}, is UTF-8 now")
    elif has_mark(before) and not has_mark(data):
        facts.append("byte order mark dropped")
    return data, tuple(facts)
