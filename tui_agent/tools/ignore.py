"""Which paths git would ignore, by the `.gitignore` files of the folder. git itself is never run."""

from __future__ import annotations

import re

from pathspec import GitIgnoreSpec

from tui_agent.agent.errors import ToolError
from tui_agent.tools.workspace import Workspace

FILE = ".gitignore"
REPOSITORIES = (".git", ".hg", ".svn", ".jj")
"""Folders that belong to version control; always ignored."""
_MAX_BYTES = 1_000_000


class Ignore:
    """The rules from the root of the workspace down, read as they are needed, for a look into `base`.

    What was asked for by name is not ignored: neither `base` nor what is above it. If rules above would
    hide it, they don't count below it either.
    """

    def __init__(self, workspace: Workspace, base: str = ".") -> None:
        self.workspace = workspace
        self._specs: dict[str, GitIgnoreSpec | None] = {}
        self._top = ""
        self._below = 0
        if base != ".":
            if self.hides(f"{base}/"):
                self._top = base
            self._below = base.count("/") + 1

    @property
    def base_is_ignored(self) -> bool:
        return bool(self._top)

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether rules name this path itself; those above it are taken as entered. The deepest rule wins."""
        parent, _, name = path.rpartition("/")
        if name in REPOSITORIES:
            return True
        rest = f"{name}/" if folder else name
        while True:
            spec = self._spec(parent)
            decided = spec.check_file(rest).include if spec else None
            if decided is not None:
                return decided
            if parent == self._top:
                return False
            parent, _, last = parent.rpartition("/")
            rest = f"{last}/{rest}"

    def hides(self, path: str) -> bool:
        """Whether the file (or the folder, with a slash at its end) is ignored, or a folder on its way."""
        parts = path.split("/")
        folders = ["/".join(parts[:length]) for length in range(self._below + 1, len(parts))]
        return any(self.ignores(folder, folder=True) for folder in folders) or (
            parts[-1] != "" and self.ignores(path, folder=False)
        )

    def none_in(self, folder: str) -> None:
        """The folder was listed and has no rules of its own."""
        self._specs.setdefault("" if folder == "." else folder, None)

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            self._specs[folder] = self._read(f"{folder}/{FILE}" if folder else FILE)
        return self._specs[folder]

    def _read(self, path: str) -> GitIgnoreSpec | None:
        try:
            text = self.workspace.read_bytes(path, _MAX_BYTES).decode("utf-8-sig", "surrogateescape")
        except ToolError:
            return None
        lines = text.replace("\r\n", "\n").split("\n")
        try:
            return GitIgnoreSpec.from_lines(lines)
        except ValueError:
            return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


class Glob:
    """A `glob` argument: gitignore's rules, `{a,b}` for either, `!` in front for all others."""

    def __init__(self, glob: str) -> None:
        self.negated = glob.startswith("!")
        try:
            self._spec = GitIgnoreSpec.from_lines(expanded(glob.removeprefix("!")))
        except ValueError as error:
            raise ToolError(
                f"The glob {glob!r} is not valid: {error}. Use one like *.py or src/**/*.ts."
            ) from None

    def matches(self, path: str) -> bool:
        return self._spec.match_file(path) != self.negated


def expanded(glob: str) -> list[str]:
    """`{a,b}.py` as `a.py` and `b.py`; at most some hundred."""
    done: list[str] = []
    todo = [glob]
    while todo and len(done) + len(todo) < 500:
        pattern = todo.pop(0)
        found = re.search(r"\{([^{}]*)\}", pattern)
        if found is None:
            done.append(pattern)
        else:
            todo += [pattern[: found.start()] + part + pattern[found.end() :] for part in found[1].split(",")]
    return list(dict.fromkeys(done))
