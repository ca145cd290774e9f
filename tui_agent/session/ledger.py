"""What a session did to files, as a fold of its events: step by step, file by file, turn by turn.

A step takes a file from one state to another. An undo is a step, too: it takes the steps that it takes back
off the `live` ones, and when it is undone itself, they are live again. So a turn that was taken back counts
as such however often one goes back and forth.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent, FileChanged

UNKNOWN = "?"
"""As in `agent.events`, which the first paint can't wait for."""

Origin = Literal["tool", "command", "undo"]
UNDO = "undo-"
"""How the ids of undos begin."""


class State(NamedTuple):
    """`hash` is None where there is no file; `mode` is None if nobody looked."""

    hash: str | None
    mode: int | None = None

    def is_like(self, other: State) -> bool:
        """Surely the same content, and no difference in mode that anyone knows of."""
        same_mode = self.mode == other.mode or None in (self.mode, other.mode)
        return same_mode and self.hash == other.hash != UNKNOWN


@dataclass(frozen=True)
class Step:
    path: str
    before: State
    after: State
    call_id: str
    turn: int
    origin: Origin


@dataclass(frozen=True)
class Work:
    """A call that may have changed files, or an undo: where it belongs and what it is called."""

    id: str
    turn: int
    name: str
    title: str
    origin: Origin


@dataclass
class Trail:
    """The steps of one file. `live` are those that were not taken back."""

    path: str
    start: State
    steps: list[Step] = field(default_factory=list)
    live: list[Step] = field(default_factory=list)
    _taken_back: list[tuple[Step, list[Step]]] = field(default_factory=list)

    @property
    def now(self) -> State:
        """How the last step left it."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def is_changed(self) -> bool:
        return not self.now.is_like(self.start)

    def before(self, turn: int) -> State:
        """How it was when that turn began, as far as the session knows."""
        return next((step.before for step in self.live if step.turn >= turn), self.now)

    def add(self, step: Step) -> None:
        self.steps.append(step)
        if step.origin != "undo":
            self.live.append(step)
        elif self._taken_back and _reverses(step, self._taken_back[-1][0]):
            self.live += self._taken_back.pop()[1]
        else:
            self._take_back(step)

    def _take_back(self, undo: Step) -> None:
        for at in range(len(self.live) - 1, -1, -1):
            if self.live[at].before.is_like(undo.after):
                self._taken_back.append((undo, self.live[at:]))
                del self.live[at:]
                return
        self.live.append(undo)  # a part of a step: what is left of it stays live


def _reverses(step: Step, other: Step) -> bool:
    return step.after.is_like(other.before) and step.before.is_like(other.after)


class Ledger:
    """`files` in the order in which they first changed; `turn` is the number of the latest turn, from 1.

    `folders` are those that were made for files and are still there, as far as the session knows.
    """

    def __init__(self) -> None:
        self.turn = 0
        self.files: dict[str, Trail] = {}
        self.works: dict[str, Work] = {}
        self.undos = 0
        self.folders: set[str] = set()

    def apply(self, event: AgentEvent) -> bool:
        """Take in one event; returns whether a file changed."""
        if event.type == "turn_started":
            self.turn += 1
        elif event.type == "tool_call_started" and event.kind != "read":
            origin: Origin = "command" if event.kind == "execute" else "tool"
            work = Work(event.call.id, self.turn, event.call.name, event.title, origin)
            self.works[event.call.id] = work
        elif event.type == "file_changed":
            self._add(event)
            return True
        return False

    def _add(self, event: FileChanged) -> None:
        before, after = State(event.before, event.before_mode), State(event.after, event.after_mode)
        work = self._work(event)
        trail = self.files.setdefault(event.path, Trail(event.path, before))
        trail.add(Step(event.path, before, after, work.id, work.turn, work.origin))
        if after.hash is None:
            self.folders.difference_update(event.folders)
        else:
            self.folders.update(event.folders)

    def _work(self, event: FileChanged) -> Work:
        identity = event.call_id or f"{UNDO}{self.undos}"
        if identity not in self.works:
            if identity.startswith(UNDO):
                self.undos += 1
                self.works[identity] = Work(identity, self.turn, "undo", identity, "undo")
            else:  # its start was not stored
                self.works[identity] = Work(identity, self.turn, "a call", identity, "tool")
        return self.works[identity]

    @property
    def next_undo(self) -> str:
        return f"{UNDO}{self.undos + 1}"

    def of_call(self, identity: str) -> list[Step]:
        """The steps of a call that are live; those of an undo as it was done."""
        undone = self.works[identity].origin == "undo" if identity in self.works else False
        return [
            step
            for trail in self.files.values()
            for step in (trail.steps if undone else trail.live)
            if step.call_id == identity
        ]

    def of_turn(self, turn: int) -> list[Step]:
        """What that turn did and nobody took back."""
        return [
            step
            for trail in self.files.values()
            for step in trail.live
            if step.turn == turn and step.origin != "undo"
        ]

    def since(self, turn: int) -> list[Step]:
        """What that turn and all later ones did and nobody took back."""
        return [
            step
            for trail in self.files.values()
            for step in trail.live
            if step.turn >= turn and step.origin != "undo"
        ]

    def of_file(self, path: str, turn: int | None = None) -> list[Step]:
        """What was done to a file, in all or since a turn began."""
        trail = self.files.get(path)
        return [step for step in trail.live if turn is None or step.turn >= turn] if trail else []

    @property
    def last_turn(self) -> int | None:
        """The latest turn of which something is left to take back."""
        turns = [s.turn for trail in self.files.values() for s in trail.live if s.origin != "undo"]
        return max(turns, default=None)

    def written(self, turn: int) -> list[str]:
        """The files that a turn changed, as they stand now."""
        steps = self.of_turn(turn)
        return list(dict.fromkeys(s.path for s in steps if not s.before.is_like(s.after)))


def chained(steps: list[Step]) -> Step | None:
    """Steps of one file as one, if each goes on where the one before ended."""
    if any(not a.after.is_like(b.before) for a, b in pairwise(steps)):
        return None
    return replace(steps[-1], before=steps[0].before)
