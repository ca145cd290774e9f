"""The tools that a coding agent gets, and the jail that they work in.

`coding_tools(Workspace(path))` is the whole list. A new tool is one file and one line here. Everything is
loaded on first use: the start of the program needs only `orphans`, long before any tool.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_agent.agent.tool import AgentTool
    from tui_agent.tools.details import NOT_READ
    from tui_agent.tools.jobs import Jobs
    from tui_agent.tools.workspace import Workspace

__all__ = ["NOT_READ", "Workspace", "coding_tools"]


def __getattr__(name: str) -> object:
    if name == "Workspace":
        from tui_agent.tools.workspace import Workspace

        return Workspace
    if name == "NOT_READ":
        from tui_agent.tools.details import NOT_READ

        return NOT_READ
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def coding_tools(
    workspace: Workspace,
    *,
    on_output: Callable[[str, str], None] | None = None,
    jobs: Jobs | None = None,
    spill_folder: Path | None = None,
    wrap: Callable[[list[str]], list[str]] | None = None,
    sandbox: str = "",
    env_pass: Collection[str] = (),
    scrub: Callable[[bytes], bytes] = bytes,
) -> list[AgentTool]:
    """All tools, for an `Agent`. What is not about files is for commands, see `run_command.Surroundings`."""
    from tui_agent.tools.edit_file import EditFile
    from tui_agent.tools.job import job_tool
    from tui_agent.tools.jobs import Jobs
    from tui_agent.tools.list_files import ListFiles
    from tui_agent.tools.read_file import ReadFile
    from tui_agent.tools.run_command import run_command_tool
    from tui_agent.tools.search_files import SearchFiles
    from tui_agent.tools.write_file import WriteFile

    jobs = jobs or Jobs()
    return [
        ListFiles(workspace),
        ReadFile(workspace),
        SearchFiles(workspace),
        EditFile(workspace),
        WriteFile(workspace),
        run_command_tool(
            workspace,
            on_output=on_output,
            spill_folder=spill_folder,
            jobs=jobs,
            wrap=wrap,
            sandbox=sandbox,
            env_pass=env_pass,
            scrub=scrub,
        ),
        job_tool(jobs),
    ]
