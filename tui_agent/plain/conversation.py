"""The conversation by lines: prompts in, events out, questions answered by a word.

A run takes the place of the prompt until it ends; what is entered meanwhile waits and is sent then. Ctrl+C
stops the run and, as in every shell, never more than that; Ctrl+D, or the end of a pipe, quits.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tui_agent import paths
from tui_agent.agent import AgentEvent, Allow, Cancelled, CancelSignal, Deny
from tui_agent.permissions.broker import Question
from tui_agent.permissions.trust import project_files, trust, trusted
from tui_agent.plain import commands
from tui_agent.plain.console import Console
from tui_agent.plain.questions import choices, described, grantable, understood
from tui_agent.plain.transcript import Transcript, last_exchange
from tui_agent.runtime import Runtime
from tui_agent.session.store import SessionError
from tui_agent.settings import Mode, Settings, SettingsError
from tui_agent.slash import find
from tui_agent.text import one_line, visible
from tui_agent.tools.process import kill_all


def run(settings: Settings) -> int:
    async def conversation() -> int:
        return await Conversation(settings).run()

    return asyncio.run(conversation())


async def _closed(runtime: Runtime, warming: asyncio.Task[None]) -> None:
    warming.cancel()
    await runtime.close()


def _is_answer(line: str) -> bool:
    return bool(understood(line).word)


class Conversation:
    """What commands work on. `signal` stops what is done now; `leaving`: it is the last."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.console = Console(settings.credentials.redact, self._end_of_input)
        self.signal = CancelSignal()
        self.leaving = False
        self.runtime: Runtime
        self._transcript = Transcript()
        self._busy = False
        self._signalled = 0
        self._warming: asyncio.Task[None]

    async def run(self) -> int:
        with self._signals():
            try:
                opened = await self._open(self.settings)
            except Cancelled:
                opened = False
            if not opened:
                return self._code(2)
            try:
                while (text := await self.console.prompt()) is not None and not self._signalled:
                    if text.strip():
                        await self._obey(text.strip())
                    if self.leaving or self._signalled:
                        break
                    self._tell_notices()
            finally:
                await _closed(self.runtime, self._warming)
        self.console.say("")
        return self._code(0)

    def _code(self, otherwise: int) -> int:
        return 128 + self._signalled if self._signalled else otherwise

    # The session

    async def _open(self, settings: Settings) -> bool:
        """Open what the settings name and greet; False if it can't be, and why was said."""
        try:
            await self._ask_for_trust(settings.folder)
            runtime = await Runtime.open(settings, ask=self._ask, on_event=self._take)
        except (SettingsError, SessionError) as error:
            self.console.say(f"tui-agent: {visible(str(error))}")
            return False
        self.settings, self.runtime = settings, runtime
        self._warming = asyncio.create_task(self._warm(runtime))
        self._greet()
        return True

    async def reopen(self, resume: str | None, folder: Path | None = None) -> None:
        """Go on in another session, or in a new one. The present one goes on if that can't be opened."""
        before, warming = self.runtime, self._warming
        settings = replace(self.settings, resume=resume, folder=folder or self.settings.folder)
        if await self._open(settings):
            await _closed(before, warming)

    async def _warm(self, runtime: Runtime) -> None:
        await runtime.warm()
        await runtime.learn_window()

    def _greet(self) -> None:
        runtime = self.runtime
        model = "demo: scripted model, offline" if self.settings.demo else one_line(runtime.model_name)
        where = one_line(str(runtime.folder))
        self.console.say(f"tui-agent, mode {runtime.policy.mode}, {model}, in {where}. /help says more.")
        if self.settings.demo:
            from tui_agent.models.script import PROMPT

            self.console.say(f"Try: {PROMPT}")
        if self.settings.resume and (words := last_exchange(runtime.replay())):
            self.console.say(words)
        self._tell_notices()

    def _tell_notices(self) -> None:
        while self.runtime.notices:
            self.console.say(visible(self.runtime.notices.pop(0)))

    async def _take(self, event: AgentEvent) -> None:
        self.console.write(self._transcript.take(event))

    # What is entered

    async def _obey(self, text: str) -> None:
        """Do what a line says."""
        self.signal, self._busy = CancelSignal(), True
        try:
            called = find(text, commands.COMMANDS)
            if called is None:
                await self.turn(text)
            elif called.command is None:
                self.console.say(f"There is no command /{one_line(called.name)} here. /help lists them.")
            else:
                await called.command.action(self, called.argument)
        except Cancelled:
            self.console.say("[Stopped.]")
        finally:
            self._busy = False

    async def turn(self, text: str | None) -> None:
        """A turn with what was said; without, the one before goes on."""
        if text is None:
            await self.runtime.go_on(self.signal)
        else:
            await self.runtime.prompt(await self.signal.race(self.runtime.attach(text)), self.signal)

    def set_mode(self, mode: Mode) -> None:
        self.settings = replace(self.settings, mode=mode)
        self.runtime.set_mode(mode)

    # Questions

    async def _ask(self, questions: Sequence[Question], signal: CancelSignal) -> Sequence[Allow | Deny]:
        return [await signal.race(self._answer(question)) for question in questions]

    async def _answer(self, question: Question) -> Allow | Deny:
        console = self.console
        console.say(f"\n{described(question)}")
        while (line := await console.ask(choices(question), _is_answer)) is not None:
            said = understood(line)
            if said.word == "no":
                return Deny(said.reason)
            if said.word == "always" and (rule := grantable(question)):
                self.runtime.policy.grant(rule, "session")
                return Allow(question.pending.proposal, "rule")
            if said.word == "yes":
                return Allow(question.pending.proposal)
            console.say("Please answer yes or no; a reason may follow the no.")
        return Deny("nobody was there to ask", "mode", unanswered=True)

    async def ask(self, question: str, is_answer: Callable[[str], bool]) -> str | None:
        """What is answered to a command's question, None when nobody is there any more."""
        return await self.signal.race(self.console.ask(question, is_answer))

    async def confirm(self, question: str) -> bool:
        """Whether yes is the answer. Anything but yes and no is asked again."""
        while (line := await self.ask(question, _is_answer)) is not None:
            if said := understood(line).word:
                return said == "yes"
            self.console.say("Please answer yes or no.")
        return False

    async def _ask_for_trust(self, folder: Path) -> None:
        """Once for a folder that brings instructions or settings along."""
        console = self.console
        files = project_files(folder)
        if not files or trusted(folder, paths.state_folder()) or not console.is_terminal:
            return
        console.say(f"The folder {one_line(str(folder))} brings instructions or settings along:")
        for file in files:
            console.say(f"--- {one_line(file.name)}\n{visible(file.text) or file.problem}")
        if await self.confirm("Trust it, so that they count from now on? yes / no:"):
            trust(folder, paths.state_folder())

    # The end of input, and signals

    def _end_of_input(self) -> None:
        # A pipe ends when all was said, and the run goes on; a person who presses Ctrl+D wants to leave.
        if self._busy and self.console.is_terminal:
            self.signal.cancel("user")

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._ended_by, number)
        try:
            yield
        finally:
            kill_all()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    def _interrupted(self) -> None:
        if not self._busy:
            self.console.say("\nNothing runs. Ctrl+D quits.")
            self.console.write("> ")
        else:
            self.console.write("\n")  # the terminal has shown ^C
            self.signal.cancel("user")
            self.console.forget()

    def _ended_by(self, number: signal.Signals) -> None:
        self._signalled = number
        self.signal.cancel(number.name)
        self.console.end()
