"""What the tests of the file tools share: a folder with its tools, and another user."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tui_agent.agent import AgentTool, CancelSignal, Proposal, ToolOutput
from tui_agent.agent.tool import _earlier
from tui_agent.tools import Workspace, coding_tools

NOBODY = 65534


class Host:
    """The tools of one folder, called as the loop calls them: arguments as JSON, checked by the model."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = Workspace(root)
        self.tools: dict[str, AgentTool] = {tool.name: tool for tool in coding_tools(self.workspace)}
        self.signal = CancelSignal()

    def put(self, name: str, data: bytes | str = b"") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def get(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def arguments(self, name: str, arguments: dict[str, Any]) -> Any:
        parameters = self.tools[name].parameters
        assert isinstance(parameters, type)
        return parameters.model_validate(arguments)

    async def call(self, name: str, **arguments: Any) -> ToolOutput:
        output = await self.tools[name].execute(self.arguments(name, arguments), self.signal)
        assert isinstance(output, ToolOutput)
        return output

    async def text(self, name: str, **arguments: Any) -> str:
        content = (await self.call(name, **arguments)).content
        assert isinstance(content, str)
        content.encode()  # it can be sent
        assert "\0" not in content
        return content

    async def prepare(self, name: str, *earlier: Proposal, **arguments: Any) -> Proposal:
        mark = _earlier.set(earlier)
        try:
            proposal = await self.tools[name].prepare(self.arguments(name, arguments), self.signal)
        finally:
            _earlier.reset(mark)
        assert isinstance(proposal, Proposal)
        return proposal

    def tree(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")}


def as_nobody(work: Callable[[], None]) -> None:
    """Run `work` in a process that has no privileges; its failure is ours."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(read)
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            work()
            status = 0
        except BaseException:
            os.write(write, traceback.format_exc().encode()[-60_000:])
        finally:
            os._exit(status)
    os.close(write)
    with open(read, "rb") as pipe:
        told = pipe.read().decode()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, told
