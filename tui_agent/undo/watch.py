"""What commands change: the folder is looked at before and after each, from outside.

Only files whose content this session knows are read before a command; only those that look otherwise after
it, and only so much of them. What was not read is told as changed all the same, its content as unknown.

What a background job changes later counts for the command that runs then, or for nobody.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tui_agent.agent.calling import call, in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.agent.events import UNKNOWN, FileChanged
from tui_agent.agent.tool import AgentTool, Content, Proposal, current_call_id
from tui_agent.session.checkpoints import Checkpoints
from tui_agent.session.ledger import State
from tui_agent.tools.details import digest
from tui_agent.tools.ignore import Ignore
from tui_agent.tools.stamps import Look, Stamp, differing, look
from tui_agent.tools.workspace import Workspace

KNOWN = 1_000
"""Files that are read before a command, at most."""
LISTED = 500
"""Changed files of one command that are told."""
LARGEST = 4_000_000
"""Bytes of one file that are read."""
MOST = 50_000_000
"""Bytes that are read before a command, and again after it."""


@dataclass(frozen=True)
class Before:
    """The folder before a command: `known` are the states of the files whose content is held."""

    look: Look
    ignore: Ignore
    known: dict[str, State]


class Watch:
    """`paths` gives the files that the session read or wrote; `notify` hears what was left out."""

    def __init__(
        self,
        workspace: Workspace,
        checkpoints: Checkpoints,
        paths: Callable[[], Iterable[str]],
        notify: Callable[[str], None],
    ) -> None:
        self._workspace = workspace
        self._checkpoints = checkpoints
        self._paths = paths
        self._notify = notify
        self._held: dict[str, tuple[Stamp, str]] = {}
        self._told = False

    def before(self) -> Before:
        """Look, and hold what is known. Takes a while on large folders: not for the loop."""
        ignore = Ignore(self._workspace)
        found = look(self._workspace, ignore)
        if not found.whole and not self._told:
            self._told = True
            self._notify(
                "This folder is too large to be compared around commands: "
                "files that they make or remove are not listed as changes."
            )
        known: dict[str, State] = {}
        room = MOST
        for path, _ in zip(self._paths(), range(KNOWN), strict=False):
            was = self._held.get(path)
            stamp, content_hash = self._hold(path, min(LARGEST, room))
            if stamp is not None:
                room -= 0 if self._held.get(path) is was else stamp.size
                found.files[path] = stamp  # also one that git would ignore
                known[path] = State(content_hash or UNKNOWN, stamp.mode)
            elif path not in found.files:
                known[path] = State(None)
        return Before(found, ignore, known)

    def after(self, before: Before) -> list[FileChanged]:
        """What looks otherwise by now, without a call id."""
        found = look(self._workspace, before.ignore)
        paths = {path for path in differing(before.look, found) if not before.ignore.hides(path)}
        for path, state in before.known.items():
            stamp, _ = self._read(path, 0)
            if stamp is not None:
                found.files[path] = stamp
            now, was = found.files.get(path), before.look.files.get(path)
            # Its times may have been set back, all but one; and a cut look has not seen all.
            if now != was and (state.hash != UNKNOWN or not (now and was and now.is_like(was))):
                paths.add(path)
            else:
                paths.discard(path)
        if len(paths) > LISTED:
            self._notify(f"A command changed {len(paths):,} files; {LISTED} of them are listed as changes.")
        return [change for change in self._changes(sorted(paths)[:LISTED], before, found) if change]

    def _changes(self, paths: list[str], before: Before, found: Look) -> Iterator[FileChanged | None]:
        room = MOST
        for path in paths:
            was = before.known.get(path) or _unknown(before.look.files.get(path))
            seen = found.files.get(path)
            if seen is None:
                yield _told(path, was, State(None))
                continue
            stamp, content_hash = self._hold(path, min(LARGEST, room))
            room -= seen.size if content_hash else 0
            yield _told(path, was, State(content_hash or UNKNOWN, (stamp or seen).mode))

    def _hold(self, path: str, limit: int) -> tuple[Stamp | None, str | None]:
        """The stamp of a file and the hash of its content, which is held from now on."""
        stamp, data = self._read(path, limit)
        if stamp is None:
            return None, None
        if data is None:
            known = self._held.get(path)
            return stamp, known[1] if known and known[0] == stamp else None
        content_hash = self._checkpoints.keep(data, durable=False) or digest(data) or UNKNOWN
        self._held[path] = (stamp, content_hash)
        return stamp, content_hash

    def _read(self, path: str, limit: int) -> tuple[Stamp | None, bytes | None]:
        """How a file looks, and its bytes if they are not known by its looks and not more than `limit`.

        Nothing if it is not there, is no plain file any more, or may not be read.
        """
        try:
            with self._workspace.open_read(path) as opened:
                stamp = Stamp.of(opened.stat)
                if opened.path != path:
                    return None, None  # a link by now
                known = self._held.get(path)
                if stamp.size > limit or (known and known[0] == stamp):
                    return stamp, None
                with open(opened.fd, "rb", closefd=False) as file:
                    data = file.read(limit + 1)
                return stamp, data if len(data) == stamp.size else None
        except (ToolError, OSError):
            return None, None


def _unknown(stamp: Stamp | None) -> State:
    return State(None) if stamp is None else State(UNKNOWN, stamp.mode)


def _told(path: str, was: State, now: State) -> FileChanged | None:
    if was.is_like(now) or was.hash is now.hash is None:
        return None
    return FileChanged(path=path, before=was.hash, after=now.hash, before_mode=was.mode, after_mode=now.mode)


class WatchedTool(AgentTool):
    """A tool as it is, and the folder looked at around each run. `tell` gets what a call changed."""

    def __init__(self, tool: AgentTool, watch: Watch, tell: Callable[[str, list[FileChanged]], None]) -> None:
        super().__init__(tool.name, tool.description, tool.parameters, kind=tool.kind)
        self._tool = tool
        self._watch = watch
        self._tell = tell

    async def execute(self, parameters: Any, signal: CancelSignal) -> Content:
        return await (await self.prepare(parameters, signal)).run(signal)

    async def prepare(self, parameters: Any, signal: CancelSignal) -> Proposal:
        proposal: Proposal = await call(self._tool.prepare, parameters, signal)
        return self._watched(proposal)

    def _watched(self, proposal: Proposal) -> Proposal:
        amend = proposal.amend
        return replace(
            proposal,
            run=partial(self._run, proposal.run),
            amend=amend and (lambda details: self._watched(amend(details))),
        )

    async def _run(self, run: Callable[[CancelSignal], Awaitable[Content]], signal: CancelSignal) -> Content:
        signal.raise_if_cancelled()
        before = await in_thread(self._watch.before)
        try:
            return await run(signal)
        finally:
            self._tell(current_call_id(), await in_thread(self._watch.after, before))
