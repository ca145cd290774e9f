"""`edit_file`: replace a fragment of a file that is in its present bytes exactly once."""

from __future__ import annotations

from pydantic import Field

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.tool import Proposal
from tui_agent.text import plural
from tui_agent.tools.arguments import Arguments, FileText, PathText, Text
from tui_agent.tools.change import ChangeTool, base_of, counts, propose
from tui_agent.tools.details import FileChange
from tui_agent.tools.splice import Spliced, splice
from tui_agent.tools.trouble import shown


class EditFileArguments(Arguments):
    path: PathText
    old: Text = Field(description="Exact text of the file, without line numbers; unique in it.")
    new: FileText = Field(description="Its replacement.")
    replace_all: bool = Field(default=False, description="Replace every place, not just a unique one.")


class EditFile(ChangeTool):
    name = "edit_file"
    description = (
        "Replace one exact fragment of a text file. Blanks and tabs count; the encoding, line ends and every "
        "other byte of the file stay as they are. If `old` is missing or not unique, nothing changes and you "
        "are told where the nearest text is. Several edits of one file may be sent in one reply."
    )
    parameters = EditFileArguments

    async def prepare(self, parameters: EditFileArguments, signal: CancelSignal) -> Proposal:
        base = await base_of(self.workspace, parameters.path, signal, may_be_new=False)
        before, path = base.data or b"", base.path
        result: Spliced = await in_thread(
            lambda: splice(path, before, parameters.old, parameters.new, replace_all=parameters.replace_all)
        )

        def told(change: FileChange) -> str:
            where = f"at line {result.line}" if result.places == 1 else f"in {plural(result.places, 'place')}"
            return f"Edited {shown(path)} {where} ({counts(change)})."

        return await propose(self.workspace, f"Edit {path}", base, result.data, told=told, whole=False)
