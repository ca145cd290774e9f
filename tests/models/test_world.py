"""The loop against the world: whatever a reply is and wherever it breaks, the next request is accepted.

Random replies over real HTTP, cancelled at random moments, from an API that refuses what the real one does.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from server.messages_api import MessagesAPI, Reply, call, error, page, redacted, reply, text, thinking

from tui_agent.agent import Allow, CancelSignal, Deny
from tui_agent.agent.agent import Agent
from tui_agent.agent.history import History, check
from tui_agent.agent.messages import AssistantMessage
from tui_agent.agent.tool import AgentTool
from tui_agent.models import retry
from tui_agent.models.anthropic import AnthropicModel
from tui_agent.models.retry import RetryingModel

BLOCKS = st.one_of(
    st.sampled_from(["", " \n", "Looking.", "odd \u202e", "<b>"]).map(text),
    st.sampled_from(["", "hm", "so\n"]).map(thinking),
    st.just(thinking("never signed", "")),
    st.just(redacted()),
    st.just({"type": "from_the_future", "x": [None]}),
    st.builds(
        call,
        st.sampled_from(["echo", "fail", "echo", "unknown", "functions.echo", ""]),
        st.sampled_from(
            ['{"say": "x"}', "{}", "", '{"say": 5}', '{"say": "x', "null", "[]", '{"say": "\\ud800"}']
        ),
        st.sampled_from([None, None, None, "toolu_same"]),
    ),
)
STOPS = st.sampled_from(
    [None, None, None, "end_turn", "max_tokens", "refusal", "pause_turn", "odd", "tool_use"]
)


def answer_of(blocks: list[Any], stop: str | None, after: int | None, how: Any) -> Reply:
    return Reply(tuple(blocks), stop_reason=stop, after=after, how=how if after else "done")


REPLIES = st.builds(
    answer_of,
    st.lists(BLOCKS, max_size=5),
    STOPS,
    st.sampled_from([None, None, None, 1, 4, -1, -2]),
    st.sampled_from(["eof", "abort", "error"]),
)
ANSWERS = st.one_of(
    REPLIES,
    REPLIES,
    REPLIES,
    st.sampled_from([error(529), error(400), error(413), page("<html>"), page(None)]),
)


def echo(parameters: dict[str, Any], signal: CancelSignal) -> str:
    return str(parameters["say"])


def fail(parameters: dict[str, Any], signal: CancelSignal) -> str:
    raise ValueError("no")


SCHEMA = {"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]}
TOOLS = [
    AgentTool("echo", "Says it.", SCHEMA, execute=echo),
    AgentTool("fail", "Fails.", SCHEMA, execute=fail),
]


NOTHING_TO_SEND = {"there is no message", "the last message is a reply: there is nothing to answer"}


class Moody:
    """Cancels the run at the `stop_at`th question, declines every third."""

    def __init__(self, signal: CancelSignal, stop_at: int) -> None:
        self.signal, self.stop_at, self.asked = signal, stop_at, 0

    async def decide(self, batch: Any, signal: CancelSignal) -> list[Allow | Deny]:
        self.asked += 1
        if self.asked == self.stop_at:
            self.signal.cancel()
        return [Deny("no") if self.asked % 3 == 0 else Allow(pending.proposal) for pending in batch]


async def talk(answers: list[Any], stop_after: int, stop_at: int) -> tuple[list[str], Agent]:
    """Prompts until the script is used up, each cancelled somewhere; then one that must be answered."""
    rest = iter(answers)
    final = {"now": False}

    def script(request: Any) -> Any:
        return "the end" if final["now"] else next(rest, reply("enough"))

    async with MessagesAPI(script) as api:
        model = RetryingModel(AnthropicModel("claude-opus-5-5", api_key="key", base_url=api.url))
        history = History()
        for number in range(2):
            signal = CancelSignal()
            told = 0

            async def emit(event: Any, signal: CancelSignal = signal) -> None:
                nonlocal told
                told += 1
                if told == stop_after:
                    signal.cancel()
                await asyncio.sleep(0)

            gate = Moody(signal, stop_at)
            agent = Agent(model=model, tools=TOOLS, gate=gate, max_steps=6, messages=history)
            await agent.prompt(f"prompt {number}", signal=signal, emit=emit)
            assert set(check(agent.messages)) <= NOTHING_TO_SEND
            assert agent.history.open_calls == ()
            # A session gives back what was stored: the same conversation, typed anew.
            stored = [type(m).model_validate_json(m.model_dump_json()) for m in agent.messages]
            history = History(stored)
        final["now"] = True
        agent = Agent(model=model, tools=TOOLS, messages=history)
        await agent.prompt("and now?")
        await model.close()
        return api.refused, agent


@pytest.fixture(scope="module", autouse=True)
def _impatient() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retry, "FIRST_WAIT", 0.0)
        yield


def hold(answers: list[Any], stop_after: int, stop_at: int) -> None:
    refused, agent = asyncio.run(talk(answers, stop_after, stop_at))
    assert refused == []
    last = agent.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.text == "the end"


CONVERSATIONS = {
    "answers": st.lists(ANSWERS, min_size=1, max_size=6),
    "stop_after": st.integers(1, 60),
    "stop_at": st.integers(1, 12),
}


@settings(max_examples=40, deadline=None)
@given(**CONVERSATIONS)
def test_the_next_request_is_accepted(answers: list[Any], stop_after: int, stop_at: int) -> None:
    hold(answers, stop_after, stop_at)


@pytest.mark.heavy
@settings(max_examples=600, deadline=None)
@given(**CONVERSATIONS)
def test_the_next_request_is_accepted_at_length(answers: list[Any], stop_after: int, stop_at: int) -> None:
    hold(answers, stop_after, stop_at)
