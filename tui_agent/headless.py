"""`tui-agent -p`: one turn without a screen, for scripts.

stdout carries the answer, or the JSON, and nothing else; what a person should know goes to stderr. Nobody
can be asked here: a call that needs an approval is answered as not run, the turn goes on, and the exit code
says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from tui_agent.agent import AgentEvent, Cancelled, CancelSignal, ToolCall, TurnEnded
from tui_agent.runtime import Runtime
from tui_agent.session.store import SessionError
from tui_agent.settings import Settings, SettingsError
from tui_agent.terminal import put
from tui_agent.text import visible
from tui_agent.tools.process import kill_all

Format = Literal["text", "json", "stream-json"]
FORMATS: tuple[Format, ...] = ("text", "json", "stream-json")

OK, FAILED, REFUSED_START, UNAPPROVED, LIMIT = range(5)
_BY_ITSELF = ("end_turn", "stop_sequence")
_LIMITS = ("step_limit", "stuck")


def exit_code(stop_reason: str, *, unapproved: bool, signalled: int = 0) -> int:
    """Of a turn that began. A signal counts most, then errors, then limits, then missing approvals."""
    if signalled:
        return 128 + signalled
    if stop_reason in _LIMITS:
        return LIMIT
    if stop_reason not in _BY_ITSELF:
        return FAILED
    return UNAPPROVED if unapproved else OK


def run(settings: Settings, prompt: str, output: Format) -> int:
    return asyncio.run(Headless(settings, output).run(prompt))


@dataclass
class Report:
    """The turn as `--output-format json` tells it."""

    text: str = ""
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    denied: list[dict[str, Any]] = field(default_factory=list)

    def take(self, event: AgentEvent) -> None:
        match event.type:
            case "assistant_message_done":
                self.text = event.message.text if event.message.text.strip() else self.text
                for call in event.message.calls:
                    self.calls.setdefault(call.id, _call(call))
            case "tool_call_started":
                self.calls.setdefault(event.call.id, _call(event.call))["title"] = event.title
            case "approval_decided" if event.decision == "deny":
                asked = self.calls.get(event.call_id, {})
                denied = {"id": event.call_id, "name": asked.get("name"), "title": asked.get("title")}
                self.denied.append(denied | {"by": event.by, "reason": event.reason})
            case "tool_call_finished" if event.result.tool_call_id in self.calls:
                self.calls[event.result.tool_call_id] |= {
                    "is_error": event.result.is_error,
                    "seconds": round(event.seconds, 3),
                }

    def as_json(self, runtime: Runtime, ended: TurnEnded, code: int) -> dict[str, Any]:
        return {
            "session": runtime.session.id,
            "stop_reason": ended.stop_reason,
            "error": ended.error,
            "text": self.text,
            "usage": ended.usage.model_dump(),
            "calls": list(self.calls.values()),
            "denied": self.denied,
            "exit_code": code,
        }


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


class Headless:
    def __init__(self, settings: Settings, output: Format) -> None:
        self._settings = settings
        self._output = output
        self._report = Report()
        self._signal = CancelSignal()
        self._signalled = 0

    async def run(self, prompt: str) -> int:
        with self._signals():
            try:
                runtime = await Runtime.open(self._settings, on_event=self._take)
            except (SettingsError, SessionError) as error:
                self._say(str(error))
                return 128 + self._signalled if self._signalled else REFUSED_START
            try:
                ended = await self._turn(runtime, prompt)
            finally:
                await runtime.close()
            return self._finish(runtime, ended)

    async def _turn(self, runtime: Runtime, prompt: str) -> TurnEnded:
        self._tell_notices(runtime)
        with suppress(Cancelled):  # then the prompt ends at once, too
            await self._signal.race(runtime.warm())
        learning = asyncio.create_task(runtime.learn_window())  # nothing waits for it
        try:
            return await runtime.prompt(prompt, self._signal)
        finally:
            learning.cancel()

    def _finish(self, runtime: Runtime, ended: TurnEnded) -> int:
        code = exit_code(ended.stop_reason, unapproved=bool(runtime.unanswered), signalled=self._signalled)
        if self._output == "json":
            self._write(json.dumps(self._report.as_json(runtime, ended, code)) + "\n")
        elif self._output == "text" and self._report.text:
            text = self._report.text.rstrip("\n") + "\n"
            self._write(visible(text) if sys.stdout.isatty() else text)
        self._tell_notices(runtime)
        self._tell_end(runtime, ended)
        return code

    def _tell_end(self, runtime: Runtime, ended: TurnEnded) -> None:
        for pending in runtime.unanswered:
            call, title = pending.call, pending.proposal.title
            self._say(
                f"not run, nobody could approve it: {call.name} {title}. Allow it with --allow or --mode."
            )
        if ended.error:
            self._say(f"{ended.error}{f' {ended.hint}' if ended.hint else ''}")
        elif ended.stop_reason not in _BY_ITSELF:
            self._say(_ENDINGS.get(ended.stop_reason, f"the answer ended with {ended.stop_reason!r}."))

    def _tell_notices(self, runtime: Runtime) -> None:
        while runtime.notices:
            self._say(runtime.notices.pop(0))

    async def _take(self, event: AgentEvent) -> None:
        self._report.take(event)
        if self._output == "stream-json":
            self._write(json.dumps(event.model_dump(mode="json")) + "\n")
        if event.type == "retrying":
            self._say(f"{event.error} Trying again in {event.delay:.0f} s.")

    # the two outputs

    def _write(self, text: str) -> None:
        try:
            put(sys.stdout, self._settings.credentials.redact(text))
        except BrokenPipeError:  # whoever read it has gone: stop, and keep Python from complaining at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._signal.cancel("the output was closed")

    def _say(self, text: str) -> None:
        try:
            put(sys.stderr, f"tui-agent: {visible(self._settings.credentials.redact(text))}\n")
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    # signals

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first signal cancels the run and lets it end in order; a second one ends it at once."""
        loop = asyncio.get_running_loop()
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
        # What the caller had ignored (nohup, a background job) stays ignored.
        numbers = [n for n in numbers if signal.getsignal(n) is not signal.SIG_IGN]
        for number in numbers:
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def _stop(self, number: signal.Signals) -> None:
        if self._signalled:
            kill_all()
            os._exit(128 + self._signalled)
        self._signalled = number
        self._signal.cancel(number.name)


_ENDINGS = {
    "cancelled": "stopped.",
    "refusal": "the model declined to answer.",
    "max_tokens": "the answer was cut by the output limit.",
    "model_context_window_exceeded": "the conversation does not fit the model's window any more.",
    "step_limit": "the step limit is reached. Go on with --continue, or raise it with --max-steps.",
    "stuck": "the model went in circles.",
}
