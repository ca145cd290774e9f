"""What `list_files`, `read_file` and `search_files` share: where they look, and who must have allowed it.

Inside the working folder a proposal to read is only a title. Outside it names the real path, and runs only
after a person or a rule of theirs allowed it: no mode does, and neither does the absence of a gate.
"""

from __future__ import annotations

import errno
from typing import Any, ClassVar

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.tool import Content, Kind, Proposal, approved_by
from tui_agent.tools.change import FileTool
from tui_agent.tools.outside import Outside, look_outside
from tui_agent.tools.trouble import Beyond, explained, shown


class ReadTool(FileTool):
    kind: Kind = "read"
    of_files: ClassVar[bool] = True
    of_folders: ClassVar[bool] = True

    def title(self, parameters: Any, path: str) -> str:
        """`path` is real, and drawn."""
        raise NotImplementedError

    async def prepare(self, parameters: Any, signal: CancelSignal) -> Proposal:
        try:
            path = await in_thread(self.workspace.resolve, parameters.path)
        except Beyond as beyond:
            return await self._prepare_outside(parameters, beyond)

        async def run(signal: CancelSignal) -> Content:
            return await self.execute(parameters, signal)

        return Proposal(self.title(parameters, shown(path)), self.kind, (path,), None, run)

    async def _prepare_outside(self, parameters: Any, beyond: Beyond) -> Proposal:
        found: Outside = await in_thread(look_outside, self.workspace, parameters.path, beyond)
        if not (self.of_folders if found.is_folder else self.of_files):
            raise explained(OSError(errno.EISDIR if found.is_folder else errno.ENOTDIR, ""), parameters.path)

        async def run(signal: CancelSignal) -> Content:
            if approved_by() not in ("user", "rule"):
                raise beyond
            with await in_thread(found.open, self.workspace) as there:
                inside = parameters.model_copy(update={"path": found.name})
                return await type(self)(there).execute(inside, signal)

        return Proposal(self.title(parameters, shown(found.path)), self.kind, (found.path,), None, run)

    async def execute(self, parameters: Any, signal: CancelSignal) -> Content:
        raise NotImplementedError
