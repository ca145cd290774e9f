"""What an undo would do, before it does anything: files to restore, or the reasons why it must not.

Pure: the ledger says what was done, `present` how files are now, `content` which earlier bytes are held. A
file is restored only if it is exactly as the steps that are taken back left it; whoever changed it since is
never overwritten. Several files are restored together or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

from tui_agent.agent.events import UNKNOWN
from tui_agent.session.ledger import Ledger, State, Step, chained
from tui_agent.tools.details import digest
from tui_agent.tools.hunks import Diff, Key
from tui_agent.tools.trouble import shown

Present = Callable[[str], State]
Content = Callable[[str | None], bytes | None]


@dataclass(frozen=True)
class OfFile:
    """All that was done to a file; with `turn`, since that turn began."""

    path: str
    turn: int | None = None


@dataclass(frozen=True)
class OfCall:
    """What one call did, or one undo: its id."""

    id: str


@dataclass(frozen=True)
class OfTurn:
    turn: int


@dataclass(frozen=True)
class SinceTurn:
    """What this turn and all later ones did."""

    turn: int


@dataclass(frozen=True)
class OfHunk:
    """Changed lines of the diff from `before` to `after`, by their hashes, that a person has on screen."""

    path: str
    before: str | None
    after: str | None
    keys: frozenset[Key]
    turn: int | None = None


Target = OfFile | OfCall | OfTurn | SinceTurn | OfHunk


@dataclass(frozen=True)
class Restore:
    """`path`, which is `present` now, becomes `wanted`: `data`, or no file."""

    path: str
    present: State
    wanted: State
    data: bytes | None


@dataclass(frozen=True)
class Conflict:
    """Why a file can't be restored. `expected` is how the steps left it, None if that is not the point."""

    path: str
    reason: str
    expected: State | None = None


@dataclass(frozen=True)
class Plan:
    """`left` are files that stay as they are, each with the reason."""

    title: str
    restores: tuple[Restore, ...]
    left: tuple[Conflict, ...] = ()


@dataclass(frozen=True)
class Refusal:
    title: str
    reason: str
    conflicts: tuple[Conflict, ...] = ()


def title_of(target: Target, ledger: Ledger) -> str:
    """What the target is called, as in "Undo …"."""
    match target:
        case OfFile(path, None):
            return f"all changes of {shown(path)}"
        case OfFile(path, turn):
            return f"the changes of {shown(path)} since turn {turn} began"
        case OfHunk(path):
            return f"this hunk of {shown(path)}"
        case OfTurn(turn):
            return f"turn {turn}"
        case SinceTurn(turn):
            return f"what happened since turn {turn} began"
        case OfCall(identity):
            work = ledger.works.get(identity)
            if work is None or work.origin == "undo":
                return identity
            return f"the call {work.name} ({work.title}) of turn {work.turn}"


def meant(words: str, ledger: Ledger) -> Target | None:
    """What a person names: a file, the id of a call or an undo, `turn 3`."""
    for path in (words, words.removeprefix("./")):
        if path in ledger.files:
            return OfFile(path)
    if words in ledger.works:
        return OfCall(words)
    number = words.removeprefix("turn").strip()
    return OfTurn(int(number)) if number.isdecimal() and 1 <= int(number) <= ledger.turn else None


def becomes(restore: Restore, ledger: Ledger, content: Content) -> str:
    """What will happen to the file, in words."""
    if restore.data is None:
        made = restore.path.rpartition("/")[0] in ledger.folders
        return f"is deleted: it was made by this{', as was its folder, which goes if empty' if made else ''}"
    if restore.present.hash is None:
        return "comes back"
    if restore.present.hash == restore.wanted.hash:
        return f"gets its mode {restore.wanted.mode or 0:04o} back"
    present = content(restore.present.hash)
    diff = None if present is None else Diff(present, restore.data)
    counts = f" (+{diff.added} −{diff.removed})" if diff and not diff.binary else ""
    return f"changes back{counts}"


def plan(target: Target, ledger: Ledger, present: Present, content: Content) -> Plan | Refusal:
    title = title_of(target, ledger)
    if isinstance(target, OfHunk):
        results = [_hunk(target, ledger, present, content)]
    else:
        results = [_restore(steps, ledger, present, content) for steps in _selected(target, ledger)]
    conflicts = [r for r in results if isinstance(r, Conflict)]
    if changed := tuple(conflict for conflict in conflicts if conflict.expected is not None):
        return Refusal(title, "Nothing was undone: it would overwrite later changes.", changed)
    restores = tuple(result for result in results if isinstance(result, Restore))
    if restores:
        return Plan(title, restores, tuple(conflicts))
    if conflicts:
        return Refusal(title, "It can't be undone.", tuple(conflicts))
    return Refusal(title, "There is nothing left of it to undo.")


def _selected(target: OfFile | OfCall | OfTurn | SinceTurn, ledger: Ledger) -> Iterable[list[Step]]:
    """The steps to take back, file by file."""
    match target:
        case OfFile(path, turn):
            steps = ledger.of_file(path, turn)
        case OfCall(identity):
            steps = ledger.of_call(identity)
        case OfTurn(turn):
            steps = ledger.of_turn(turn)
        case SinceTurn(turn):
            steps = ledger.since(turn)
    return (list(group) for _, group in groupby(steps, key=lambda step: step.path))


def _restore(
    steps: list[Step], ledger: Ledger, present: Present, content: Content
) -> Restore | Conflict | None:
    first, last = steps[0], steps[-1]
    path, now = first.path, present(first.path)
    before, after = first.before, last.after
    if before.mode == after.mode:  # then it is nothing to us if somebody gave it another one
        before, after = State(before.hash), State(after.hash)
    if now.is_like(before):
        return None  # it is so already
    if chained(steps) is None:
        return Conflict(path, "it was changed in between, by you or another program", last.after)
    if not now.is_like(after):
        return Conflict(path, _who(steps, ledger), last.after)
    data = content(before.hash)
    if data is None and before.hash is not None:
        return Conflict(path, "its earlier content is not held")
    return Restore(path, now, State(before.hash, _mode(data, before, now)), data)


def _mode(data: bytes | None, before: State, now: State) -> int | None:
    """The mode that a restored file gets: its earlier one, if it is known."""
    return None if data is None else now.mode if before.mode is None else before.mode


def _who(steps: list[Step], ledger: Ledger) -> str:
    """Who changed the file after these steps, as far as the session knows."""
    live = ledger.of_file(steps[-1].path)
    later = live[live.index(steps[-1]) + 1 :] if steps[-1] in live else []
    if later:
        work = ledger.works[later[-1].call_id]
        return f"it was changed again by {work.name} in turn {work.turn}: undo that first"
    return "it was changed since, by you or another program"


def _hunk(target: OfHunk, ledger: Ledger, present: Present, content: Content) -> Restore | Conflict | None:
    path, now = target.path, present(target.path)
    steps = ledger.of_file(path, target.turn)
    whole = chained(steps) if steps else None
    if whole is None or whole.before.hash != target.before:
        return Conflict(path, "it was changed in between, by you or another program", State(target.after))
    if now.hash != target.after or now.hash == UNKNOWN:
        return Conflict(path, "it was changed since, by you or another program", State(target.after))
    before, after = content(target.before), content(target.after)
    for hash_, data in ((target.before, before), (target.after, after)):
        if hash_ is not None and data is None:
            return Conflict(path, "its content is not held")
    data = Diff(before, after).apply(target.keys)
    mode = _mode(data, whole.before if now.hash is None else now, now)
    return Restore(path, now, State(digest(data), mode), data) if data != after else None
