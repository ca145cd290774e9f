"""The conversation by lines: prompts in, events out, questions answered by a word.

A run takes the place of the prompt until it ends; what is entered meanwhile waits and is sent then. Ctrl+C
stops the run and, as in every shell, never more than that; Ctrl+D, or the end of a pipe, quits.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tui_agent import paths
from tui_agent.agent import AgentEvent, Allow, Cancelled, CancelSignal, Deny
from tui_agent.permissions.broker import Question
from tui_agent.permissions.trust import project_files, trust, trusted
from tui_agent.plain.console import Console
from tui_agent.plain.questions import choices, described, grantable, understood
from tui_agent.plain.transcript import Transcript, last_exchange
from tui_agent.runtime import Runtime
from tui_agent.session.store import SessionError
from tui_agent.settings import MODES, Settings, SettingsError
from tui_agent.text import one_line, visible
from tui_agent.tools.process import kill_all

HELP = """\
Write what to do and press Enter; a line that ends with \\ goes on in the next one.
Ctrl+C stops a run, Ctrl+D quits. A question is answered with yes, no, or no and a reason.
/mode NAME   what runs without asking: plan, ask, accept-edits or auto
/continue    go on after a stop, a limit or an error
/quit        leave"""


def run(settings: Settings) -> int:
    async def conversation() -> int:
        return await _Conversation(settings).run()

    return asyncio.run(conversation())


def _is_answer(line: str) -> bool:
    return bool(understood(line).word)


class _Conversation:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._console = Console(settings.credentials.redact, self._end_of_input)
        self._transcript = Transcript()
        self._signal: CancelSignal | None = None
        self._signalled = 0
        self._runtime: Runtime

    async def run(self) -> int:
        say = self._console.say
        with self._signals():
            try:
                await self._ask_for_trust()
                self._runtime = await Runtime.open(self._settings, ask=self._ask, on_event=self._take)
            except (SettingsError, SessionError) as error:
                say(f"tui-agent: {visible(str(error))}")
                return 2
            warming = asyncio.create_task(self._warm(self._runtime))
            try:
                self._greet()
                while (text := await self._console.prompt()) is not None and not self._signalled:
                    if text.strip() and not await self._obey(text.strip()):
                        break
                    self._tell_notices()
            finally:
                warming.cancel()
                await self._runtime.close()
        say("")
        return 128 + self._signalled if self._signalled else 0

    async def _warm(self, runtime: Runtime) -> None:
        await runtime.warm()
        await runtime.learn_window()

    def _greet(self) -> None:
        runtime = self._runtime
        model = "demo: scripted model, offline" if self._settings.demo else one_line(runtime.model_name)
        where = one_line(str(runtime.folder))
        self._console.say(f"tui-agent, mode {runtime.policy.mode}, {model}, in {where}. /help says more.")
        if self._settings.demo:
            from tui_agent.models.script import PROMPT

            self._console.say(f"Try: {PROMPT}")
        if self._settings.resume and (words := last_exchange(runtime.replay())):
            self._console.say(words)
        self._tell_notices()

    def _tell_notices(self) -> None:
        while self._runtime.notices:
            self._console.say(visible(self._runtime.notices.pop(0)))

    async def _take(self, event: AgentEvent) -> None:
        self._console.write(self._transcript.take(event))

    # What is entered

    async def _obey(self, text: str) -> bool:
        """Do what a line says. False: leave."""
        word, _, argument = text.partition(" ")
        match word:
            case "/quit":
                return False
            case "/help":
                self._console.say(HELP)
            case "/mode":
                self._set_mode(argument.strip())
            case "/continue":
                await self._turn(None)
            case _ if word[:1] == "/" and word[1:].isalpha():
                self._console.say(f"There is no command {one_line(word)} here. /help lists them.")
            case _:
                await self._turn(text)
        return not self._signalled

    def _set_mode(self, name: str) -> None:
        if name and name not in MODES:
            self._console.say(f"There is no mode {one_line(name)}. Modes: {', '.join(MODES)}.")
            return
        mode = self._runtime.set_mode(name) if name else self._runtime.policy.mode
        self._console.say(f"The mode is {mode}.")

    async def _turn(self, text: str | None) -> None:
        stop = self._signal = CancelSignal()
        try:
            if text is None:
                await self._runtime.go_on(stop)
            else:
                await self._runtime.prompt(await stop.race(self._runtime.attach(text)), stop)
        except Cancelled:
            self._console.say("[Stopped.]")
        finally:
            self._signal = None

    # Questions

    async def _ask(self, questions: Sequence[Question], signal: CancelSignal) -> Sequence[Allow | Deny]:
        return [await signal.race(self._answer(question)) for question in questions]

    async def _answer(self, question: Question) -> Allow | Deny:
        console = self._console
        console.say(f"\n{described(question)}")
        while (line := await console.ask(choices(question), _is_answer)) is not None:
            said = understood(line)
            if said.word == "no":
                return Deny(said.reason)
            if said.word == "always" and (rule := grantable(question)):
                self._runtime.policy.grant(rule, "session")
                return Allow(question.pending.proposal, "rule")
            if said.word == "yes":
                return Allow(question.pending.proposal)
            console.say("Please answer yes or no; a reason may follow the no.")
        return Deny("nobody was there to ask", "mode", unanswered=True)

    async def _ask_for_trust(self) -> None:
        """Once for a folder that brings instructions or settings along."""
        folder, console = self._settings.folder, self._console
        files = project_files(folder)
        if not files or trusted(folder, paths.state_folder()) or not console.is_terminal:
            return
        console.say(f"The folder {one_line(str(folder))} brings instructions or settings along:")
        for file in files:
            console.say(f"--- {one_line(file.name)}\n{visible(file.text) or file.problem}")
        line = await console.ask("Trust it, so that they count from now on? yes / no:", _is_answer)
        if line is not None and understood(line).word == "yes":
            trust(folder, paths.state_folder())

    # The end of input, and signals

    def _end_of_input(self) -> None:
        # A pipe ends when all was said, and the run goes on; a person who presses Ctrl+D wants to leave.
        if self._signal is not None and self._console.is_terminal:
            self._signal.cancel("user")

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
        if self._signal is None:
            self._console.say("\nNothing runs. Ctrl+D quits.")
            self._console.write("> ")
        else:
            self._console.write("\n")  # the terminal has shown ^C
            self._signal.cancel("user")
            self._console.forget()

    def _ended_by(self, number: signal.Signals) -> None:
        self._signalled = number
        if self._signal is not None:
            self._signal.cancel(number.name)
        self._console.end()
