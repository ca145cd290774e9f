"""`job`: what a background command has printed since, or its end."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.tool import AgentTool, Content, ToolOutput
from tui_agent.tools.arguments import Arguments
from tui_agent.tools.details import CommandResult
from tui_agent.tools.jobs import Job, Jobs
from tui_agent.tools.words import leftovers


class JobArguments(Arguments):
    id: str = Field(description="As run_command(background=true) returned it.")
    action: Literal["read", "stop"] = "read"


class JobTool(AgentTool):
    name = "job"
    description = (
        "Read what a background command printed since the last read, and whether it still runs; or stop it "
        "with everything it started."
    )
    parameters = JobArguments
    kind = "read"  # it touches only what an approved command started

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._jobs = jobs

    async def execute(self, parameters: JobArguments, signal: CancelSignal) -> Content:
        from tui_agent.agent.calling import in_thread

        job = self._jobs.get(parameters.id)
        if parameters.action == "stop" and job.running:
            job.stop()
            await job.wait()
        output: str = await in_thread(job.take)  # it may wait for a write to a slow disk
        return _result(job, output)


def _result(job: Job, output: str) -> ToolOutput:
    notes = leftovers(job.ended) if job.ended else []
    if output.strip():
        text = "\n".join([output.removesuffix("\n"), *notes, f"[{job.id}: {job.state}]"])
    else:
        text = "\n".join([*notes, f"(no new output) {job.id}: {job.state}"])
    details = CommandResult(
        command=job.command,
        output=text,
        exit_code=job.ended.code if job.ended else None,
        ended=job.state,
        seconds=job.ended.seconds if job.ended else 0.0,
        spill=str(job.spill) if job.spill else None,
        job=job.id,
    )
    return ToolOutput(text, details)


def job_tool(jobs: Jobs) -> JobTool:
    return JobTool(jobs)
