"""The branch of a folder, read from `.git/HEAD` by hand.

Git itself is never started for this: a folder's git configuration can name programs to run.
"""

from __future__ import annotations

from pathlib import Path

from tui_agent.paths import read_small


def branch_of(folder: Path) -> str | None:
    """`main`, or the first characters of a detached commit, or None outside a repository."""
    for place in (folder, *folder.parents):
        try:
            head = _head(place / ".git")
        except (OSError, ValueError):
            continue
        name = head.removeprefix("ref:").strip()
        return name.removeprefix("refs/heads/") if head.startswith("ref:") else name[:10]
    return None


def _head(git: Path) -> str:
    if git.is_file():  # a worktree or submodule: "gitdir: PATH"
        text = read_small(git, 4096).decode()
        if not text.startswith("gitdir:"):
            raise ValueError(f"{git} names no git folder")
        git = git.parent / text.removeprefix("gitdir:").strip()
    head = read_small(git / "HEAD", 4096).decode()
    if not head.strip():
        raise ValueError(f"{git}/HEAD is empty")
    return head.splitlines()[0]
