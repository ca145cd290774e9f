"""Commands in bubblewrap: they read the system, write the working folder only, and reach no network.

What stays closed inside the folder: the parts of `.git` that start programs, and our own settings. A path
that is closed and does not exist yet is covered by an empty read-only folder, since otherwise it could be
created. Homes of keys are hidden, and so are `/run` and `/tmp` with their sockets.

The wrapped command line goes to the process runner, which keeps the supervision it always has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui_agent import paths
from tui_agent.permissions.reach import within

if TYPE_CHECKING:
    from tui_agent.settings import Settings

_PLACES = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap")
_HINT = "install it (Debian, Ubuntu: apt install bubblewrap), or start without --sandbox"
_CHECK_SECONDS = 5.0

_GIT_CLOSED = ("hooks", "config", "config.worktree", "info", "modules", "worktrees")
# Names another place for the configuration. It can't be covered while it is missing, since git reads it.
_POINTER = ".git/commondir"
_FOLDER_CLOSED = (".tui-agent", ".vscode", ".idea", ".envrc", ".mcp.json", ".github/workflows")
_HIDDEN_FOLDERS = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".password-store",
    ".config/gh",
    ".config/gcloud",
    ".mozilla",
    ".local/share/keyrings",
]
_HIDDEN_FILES = [
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".config/git/credentials",
]


class SandboxError(Exception):
    """The sandbox can't be had. `cause` says why, `hint` what to do."""

    def __init__(self, cause: str, hint: str = _HINT) -> None:
        super().__init__(f"the sandbox can't be used: {cause}")
        self.cause = cause
        self.hint = hint


def find_bwrap() -> str | None:
    """bubblewrap at its system path; never one from the working folder."""
    return next((path for path in _PLACES if os.access(path, os.X_OK)), None)


class Sandbox:
    """Wraps argument lists for one working folder. `hide` adds own folders, such as settings and sessions."""

    def __init__(self, folder: str | Path, net: bool = False, *, hide: Iterable[str | Path] = ()) -> None:
        self.folder = os.path.realpath(folder)
        self.net = net
        self._hide = tuple(os.path.realpath(path) for path in hide)
        self._covered: set[str] = set()
        self._no_pointer = False

    @property
    def words(self) -> str:
        """What it holds, for the person."""
        network = "network" if self.net else "no network"
        return f"changes in this folder only, {network}, no keys of yours"

    def check(self) -> None:
        """Run nothing in it once; raises `SandboxError` with the cause if that fails."""
        argv = self.wrap([shutil.which("true", path="/usr/bin:/bin") or "/bin/true"])
        try:
            ended = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_CHECK_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SandboxError(str(error)) from error
        finally:
            self.tidy()
        if ended.returncode != 0:
            said = ended.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(said or f"bwrap ended with {ended.returncode}", _hint_for(said))

    def wrap(self, argv: list[str]) -> list[str]:
        """`argv`, to run inside. Looks at the folder as it is now; raises `SandboxError`."""
        bwrap = find_bwrap()
        if bwrap is None:
            raise SandboxError("bubblewrap (bwrap) is not installed")
        if self.folder in ("/", os.path.realpath(os.path.expanduser("~"))):
            raise SandboxError(
                f"the working folder is {self.folder} itself",
                "start in a project folder, or without --sandbox",
            )
        return [
            bwrap,
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *(() if self.net else ("--unshare-net",)),
            *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *(
                "--ro-bind",
                "/",
                "/",
                "--dev",
                "/dev",
                "--proc",
                "/proc",
                "--tmpfs",
                "/tmp",
                "--tmpfs",
                "/run",
            ),
            *("--tmpfs", "/dev/shm"),
            *(self._names_resolver() if self.net else ()),
            *self._hidden(),
            *("--bind", self.folder, self.folder),
            *self._closed(),
            *("--chdir", self.folder, "--", *argv),
        ]

    def tidy(self) -> None:
        """Undo what a run leaves: the empty folders under closed paths, and a planted pointer of git's.

        Call it when nothing runs inside any more: a path that is removed is no longer closed.
        """
        pointer = os.path.join(self.folder, _POINTER)
        if self._no_pointer and os.path.lexists(pointer) and not os.path.isdir(pointer):
            os.unlink(pointer)
        for path in sorted(self._covered, key=len, reverse=True):
            try:
                os.rmdir(path)
            except OSError:
                continue
        self._covered.clear()
        self._no_pointer = False

    def _names_resolver(self) -> Iterator[str]:
        target = os.path.realpath("/etc/resolv.conf")
        if target.startswith("/run/") and os.path.exists(target):
            yield from ("--ro-bind", target, target)

    def _hidden(self) -> Iterator[str]:
        home = os.path.realpath(os.path.expanduser("~"))
        for path in [*(os.path.join(home, name) for name in _HIDDEN_FOLDERS), *self._hide]:
            real = os.path.realpath(path)
            if os.path.isdir(real) and not within(self.folder, real):
                yield from ("--tmpfs", real)
        for name in _HIDDEN_FILES:
            real = os.path.realpath(os.path.join(home, name))
            if os.path.isfile(real):
                yield from ("--ro-bind", "/dev/null", real)

    def _closed(self) -> Iterator[str]:
        git = os.path.join(self.folder, ".git")
        names = list(_FOLDER_CLOSED)
        self._refuse_links(git)
        if os.path.isdir(git):
            yield from ("--bind", git, git)  # otherwise it could be renamed, and a new one put in its place
            names += [f".git/{name}" for name in _GIT_CLOSED]
            pointer = os.path.join(self.folder, _POINTER)
            if os.path.lexists(pointer):
                names.append(_POINTER)
            else:
                self._no_pointer = True
        elif os.path.lexists(git):
            yield from ("--ro-bind", git, git)
        else:
            names.append(".git")
        for name in names:
            path = os.path.join(self.folder, name)
            self._refuse_links(path)
            if os.path.lexists(path):
                yield from ("--ro-bind", path, path)
            else:
                yield from ("--perms", "0555", "--tmpfs", path, "--remount-ro", path)
                self._covered |= {path, *self._missing_parents(path)}

    def _missing_parents(self, path: str) -> Iterator[str]:
        while not os.path.lexists(path := os.path.dirname(path)):
            yield path

    def _refuse_links(self, path: str) -> None:
        relative = os.path.relpath(path, self.folder)
        step = self.folder
        for part in relative.split("/"):
            step = os.path.join(step, part)
            if os.path.islink(step):
                raise SandboxError(
                    f"{os.path.relpath(step, self.folder)} is a link, so it can't be closed",
                    "replace the link by what it points to, or start without --sandbox",
                )


def sandbox_of(settings: Settings) -> Sandbox:
    """As the settings want it; our own folders, with every session in them, are hidden."""
    hidden = (paths.config_folder(), paths.state_folder())
    return Sandbox(settings.folder, settings.sandbox_net, hide=hidden)


def _hint_for(said: str) -> str:
    if "namespace" in said or "Operation not permitted" in said or "uid map" in said:
        return (
            "user namespaces are switched off here (see user.max_user_namespaces,"
            " kernel.unprivileged_userns_clone, or AppArmor's rule for bwrap);"
            " switch them on, or start without --sandbox"
        )
    return _HINT
