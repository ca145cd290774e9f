"""What the loop itself costs: 1,000 steps with a model and a tool that do nothing.

    python tests/bench/bench_loop.py

Prints milliseconds a call, and the growth from the first to the last tenth of a long turn.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from tui_agent.agent import Agent, AgentTool, AssistantMessage, MessageDone, ModelRequest, ToolCall

STEPS = 1000


class Caller:
    name = "caller"

    def __init__(self) -> None:
        self.stamps: list[float] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        self.stamps.append(time.perf_counter())
        n = len(self.stamps)
        call = ToolCall(id=f"c{n}", name="nothing", arguments={"n": n})
        yield MessageDone(message=AssistantMessage(content=(call,), stop_reason="tool_use"))


async def main() -> None:
    async def nothing(parameters: Any, signal: Any) -> str:
        return str(parameters["n"])

    model = Caller()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tool = AgentTool("nothing", "Does nothing.", schema, execute=nothing)
    await Agent(model=model, tools=[tool], max_steps=STEPS).prompt("go")
    gaps = [b - a for a, b in zip(model.stamps, model.stamps[1:], strict=False)]
    tenth = len(gaps) // 10
    first, last = sum(gaps[:tenth]) / tenth, sum(gaps[-tenth:]) / tenth
    print(f"loop overhead a call: {sum(gaps) / len(gaps) * 1e3:.2f} ms mean, {max(gaps) * 1e3:.2f} ms worst")
    print(f"last tenth / first tenth of {STEPS} calls: {last * 1e3:.2f} / {first * 1e3:.2f} ms = {last / first:.1f}")


if __name__ == "__main__":
    asyncio.run(main())
