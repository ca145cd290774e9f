"""bubblewrap for real: what a command can't do inside."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui_agent.permissions import Sandbox, SandboxError, sandbox


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("the key")
    (home / ".netrc").write_text("the password")
    (home / ".config" / "own").mkdir(parents=True)
    (home / ".config" / "own" / "settings.toml").write_text("own")
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def box(home: Path, tmp_path: Path) -> Iterator[Sandbox]:
    folder = tmp_path / "work"
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n")
    (folder / "a.txt").write_text("one\n")
    box = Sandbox(folder, hide=[home / ".config" / "own"])
    try:
        box.check()
    except SandboxError as error:
        pytest.skip(f"bubblewrap can't be used here: {error.cause}")
    yield box
    box.tidy()


def run(box: Sandbox, command: str) -> tuple[int, str]:
    argv = box.wrap(["/bin/bash", "-c", command])
    ended = subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False
    )
    box.tidy()
    return ended.returncode, ended.stdout + ended.stderr


def test_the_folder_is_writable_and_nothing_else(box: Sandbox, tmp_path: Path) -> None:
    assert run(box, "echo two >> a.txt && mkdir d && rm -r d")[0] == 0
    assert Path(box.folder, "a.txt").read_text() == "one\ntwo\n"
    for target in map(Path, (tmp_path / "x", "/usr/x", "/etc/x", Path.home() / "x")):
        _, said = run(box, f"echo x > {target}")
        assert not target.exists(), target
        # /tmp is empty and private inside, so writing there is no error
        assert "Read-only" in said or str(target).startswith("/tmp/"), target
    assert run(box, "pwd") == (0, f"{box.folder}\n")


def test_git_cannot_be_taught_to_start_programs(box: Sandbox) -> None:
    git = Path(box.folder, ".git")
    for command in (
        "echo x > .git/hooks/pre-commit",
        "echo x >> .git/config",
        "rm .git/config",
        "mv .git/hooks .git/h2",
        "mv .git .g2",
        "rm -rf .git",
        "mkdir .git/modules/x",
        "echo x > .git/config.worktree",
        "mkdir .git/info/x",
    ):
        assert run(box, command)[0] != 0, command
    run(box, "echo .. > .git/commondir")
    assert run(box, "echo 'ref: refs/heads/x' > .git/HEAD && touch .git/index")[0] == 0
    assert sorted(path.name for path in git.iterdir()) == ["HEAD", "config", "hooks", "index"]
    assert (git / "config").read_text() == "[core]\n"


def test_git_itself_works_inside(box: Sandbox) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    shutil.rmtree(Path(box.folder, ".git"))
    subprocess.run(["git", "init", "-q", box.folder], check=True)
    commit = "git -c user.name=a -c user.email=a@b commit -qm one"
    code, said = run(box, f"git add -A && {commit} && git status --short && git log --oneline")
    assert code == 0, said
    assert said.endswith("one\n")


@pytest.mark.parametrize("name", [".tui-agent", ".vscode", ".idea", ".envrc", ".mcp.json"])
def test_what_is_missing_cannot_be_made(box: Sandbox, name: str) -> None:
    assert run(box, f"mkdir -p {name} && echo x > {name}/x")[0] != 0
    assert run(box, f"echo x > {name}")[0] != 0
    assert not Path(box.folder, name).exists()


def test_a_folder_without_git_cannot_become_a_repository(home: Path, tmp_path: Path, box: Sandbox) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    other = Sandbox(plain)
    assert run(other, "mkdir -p .git/hooks && echo x > .git/hooks/x")[0] != 0
    assert list(plain.iterdir()) == []


def test_workflows_are_closed_also_when_missing(box: Sandbox) -> None:
    github = Path(box.folder, ".github")
    assert run(box, "mkdir -p .github/workflows && echo x > .github/workflows/x")[0] != 0
    assert not github.exists()
    (github / "workflows").mkdir(parents=True)
    assert run(box, "echo x > .github/workflows/x")[0] != 0
    assert run(box, "echo x > .github/notes")[0] == 0


def test_secrets_are_not_there(box: Sandbox) -> None:
    code, said = run(
        box, "cat ~/.ssh/id_rsa ~/.netrc ~/.config/own/settings.toml; ls -A ~/.ssh ~/.config/own"
    )
    assert code == 0
    assert "the key" not in said
    assert "the password" not in said
    assert "own\n" not in said.replace(str(Path.home()), "").replace("/.config/own", "")


def test_no_network_and_no_sockets(box: Sandbox, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert run(box, f"exec 3<>/dev/tcp/127.0.0.1/{port}")[0] != 0
        open_net = Sandbox(box.folder, net=True)
        assert run(open_net, f"exec 3<>/dev/tcp/127.0.0.1/{port}")[0] == 0
    assert run(box, "ls -A /run /tmp")[1].split() == ["/run:", "/tmp:"] or str(tmp_path).startswith("/tmp")
    assert run(box, "test -e /run/docker.sock || test -S /var/run/docker.sock")[0] != 0


def test_a_daemon_ends_with_the_command(box: Sandbox) -> None:
    marker = "471.25731"
    assert run(box, f"setsid -f sleep {marker}; echo started") == (0, "started\n")
    left = [
        pid
        for pid in os.listdir("/proc")
        if pid.isdigit() and marker.encode() in _command_line(pid)
    ]  # fmt: skip
    assert left == []


def _command_line(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return b""


def test_capabilities_are_dropped(box: Sandbox) -> None:
    said = run(box, "grep -E '^(CapEff|NoNewPrivs)' /proc/self/status")[1].split()
    assert said == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1"]
    assert run(box, "mount -t tmpfs x /mnt")[0] != 0
    assert run(box, f"kill -0 {os.getpid()}")[0] != 0


def test_without_bubblewrap_nothing_is_wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_PLACES", (str(tmp_path / "bwrap"),))
    with pytest.raises(SandboxError) as error:
        Sandbox(tmp_path).check()
    assert "not installed" in error.value.cause
    assert "apt install bubblewrap" in error.value.hint


def test_a_failing_bubblewrap_tells_its_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text(
        "#!/bin/sh\necho 'bwrap: Creating new namespace failed: No space left on device' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sandbox, "_PLACES", (str(program),))
    with pytest.raises(SandboxError) as error:
        Sandbox(tmp_path).check()
    assert "Creating new namespace failed" in error.value.cause
    assert "user namespaces" in error.value.hint


def test_a_link_at_a_closed_path_refuses(box: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(box.folder, ".vscode").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SandboxError, match=r"\.vscode is a link"):
        box.wrap(["true"])


@pytest.mark.parametrize("where", ["/", "~"])
def test_home_and_root_are_no_working_folder(home: Path, where: str) -> None:
    if sandbox.find_bwrap() is None:
        pytest.skip("bubblewrap is not installed")
    with pytest.raises(SandboxError, match="working folder"):
        Sandbox(os.path.expanduser(where)).wrap(["true"])
