"""A repository whose own configuration starts programs makes git ask; checked against git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tui_agent.permissions import decide_command
from tui_agent.permissions.git_config import repository

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    make_repository(tmp_path / "work" / ".git")
    return tmp_path / "work"


def make_repository(git: Path) -> None:
    for name in ("objects", "refs", "hooks"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")


def configure(folder: Path, text: str) -> None:
    with (folder / ".git" / "config").open("a") as file:
        file.write(text)


def verdict(folder: Path, command: str = "git status") -> str:
    return decide_command(command, folder=folder).verdict


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n fsmonitor = ./x\n",
        "[CORE]\n FSMonitor=./x\n",
        "[core] fsmonitor = ./x\n",
        "[core]fsmonitor=./x",
        '[core ""]\n[core]\n\tfsmonitor = "./x"\n',
        "[user]\n name = a \\\n b\n[core]\n fsmonitor = ./x\n",
        "[user] ; note\n name = a # [core]\n[core] # x\n fsmonitor = ./x\n",
        "[core]\n fsmonitor\n",
        "[core]\n fsmonitor = true\n",
        "[core]\n pager = ./x\n",
        "[core]\n sshCommand = ./x\n",
        "[core]\n hooksPath = hooks\n",
        "[core]\n worktree = /etc\n",
        "[core]\n attributesFile = x\n",
        "[core]\n askPass = ./x\n",
        "[diff]\n external = ./x\n",
        '[diff "x"]\n textconv = ./x\n',
        '[diff "x"]\n command = ./x\n',
        "[diff.x]\n textconv = ./x\n",
        '[filter "x"]\n clean = ./x\n',
        '[filter "x"]\n process = ./x\n',
        "[include]\n path = ../evil\n",
        '[includeIf "gitdir:/"]\n path = ../evil\n',
        "[alias]\n status = !./x\n",
        "[pager]\n log = ./x\n",
        "[gpg]\n program = ./x\n",
        "[log]\n showSignature = true\n",
        '[remote "o"]\n promisor = true\n',
        "[format]\n pretty = %G?\n",
        "[pretty]\n mine = format:%h %GG\n",
        "[extensions]\n partialClone = o\n",
        '[remote "o"]\n uploadpack = ./x\n',
        "[credential]\n helper = !./x\n",
        '[merge "x"]\n driver = ./x\n',
        '[trailer "x"]\n command = ./x\n',
        "[unclosed\n",
        "[core]\n = x\n",
        "nonsense that is no configuration !\n",
        '[core]\n name = "open\n',
    ],
)
def test_a_configuration_that_starts_programs_asks(folder: Path, text: str) -> None:
    assert verdict(folder) == "allow"
    configure(folder, text)
    for command in ("git status", "git diff", "git log -p", "ls && git show HEAD", "git ls-files"):
        decision = decide_command(command, folder=folder)
        assert decision.verdict == "ask", command
        assert "configuration" in decision.reasons[0]


@pytest.mark.parametrize(
    "text",
    [
        '[remote "origin"]\n\turl = git@example.org:x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
        "[user]\n\tname = A\n\temail = a@b\n",
        "[core]\n\tautocrlf = input\n\tfsmonitor = false\n\tignorecase = true\n\tlogallrefupdates\n",
        '[diff "py"]\n\txfuncname = "^def"\n',
        "# fsmonitor = x\n; [core]\n",
        '[branch "fsmonitor"]\n\tnote = "core.pager = x"\n',
        "[format]\n\tpretty = oneline\n",
        "[color]\n\tui = auto\n[pull]\n\trebase = true\n[rerere]\n\tenabled = true\n",
        "\r\n[core]\r\n\tbare = false\r\n",
    ],
)
def test_an_ordinary_configuration_does_not(folder: Path, text: str) -> None:
    configure(folder, text)
    assert verdict(folder) == "allow"
    assert verdict(folder, "git diff") == "allow"


def test_a_change_of_the_configuration_is_seen_at_once(folder: Path) -> None:
    config = folder / ".git" / "config"
    plain = config.read_text()
    for _ in range(3):
        assert verdict(folder) == "allow"
        configure(folder, "[core]\n fsmonitor = ./x\n")
        assert verdict(folder) == "ask"
        config.write_text(plain)


def test_the_repository_above_counts(folder: Path) -> None:
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    assert verdict(inner) == "allow"
    configure(folder, "[diff]\n external = ./x\n")
    assert verdict(inner) == "ask"


def test_a_git_file_is_followed(folder: Path) -> None:
    tree = folder.parent / "tree"
    tree.mkdir()
    own = folder / ".git" / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/x\n")
    (own / "commondir").write_text("../..\n")
    (tree / ".git").write_text(f"gitdir: {own}\n")
    assert verdict(tree) == "allow"
    (own / "config.worktree").write_text("[core]\n fsmonitor = ./x\n")
    assert verdict(tree) == "ask"
    (own / "config.worktree").unlink()
    configure(folder, "[core]\n fsmonitor = ./x\n")
    assert verdict(tree) == "ask"
    (tree / ".git").write_text("gitdir: relative/evil\n")
    make_repository(tree / "relative" / "evil")
    (tree / "relative" / "evil" / "config").write_text("[core]\n fsmonitor = ./x\n")
    assert verdict(tree) == "ask"


def test_a_folder_that_is_itself_a_git_directory_asks(tmp_path: Path) -> None:
    make_repository(tmp_path / "bare")
    (tmp_path / "bare" / "config").write_text("[core]\n bare = true\n fsmonitor = ./x\n worktree = .\n")
    assert verdict(tmp_path / "bare") == "ask"
    make_repository(tmp_path / "bare2")
    assert verdict(tmp_path / "bare2") == "ask"


def test_hooks_that_reading_runs_ask(folder: Path) -> None:
    (folder / ".git" / "hooks" / "pre-commit").touch()
    assert verdict(folder) == "allow"
    (folder / ".git" / "hooks" / "post-index-change").touch()
    assert verdict(folder) == "ask"


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_CONFIG_COUNT"])
def test_a_repository_named_by_the_environment_asks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    assert verdict(folder) == "ask"


def test_without_a_repository_git_may_fail_by_itself(tmp_path: Path) -> None:
    assert repository(str(tmp_path)).starts is None
    assert verdict(tmp_path) == "allow"


def git(folder: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@needs_git
def test_submodules_ask_since_git_runs_inside_them(tmp_path: Path) -> None:
    work, inner = tmp_path / "work", tmp_path / "work" / "sub"
    inner.mkdir(parents=True)
    git(work, "init", "-q")
    git(inner, "init", "-q")
    git(inner, "commit", "-qm", "x", "--allow-empty")
    assert verdict(work) == "allow"
    git(work, "add", "sub")  # a link to another repository, without a .gitmodules
    assert verdict(work) == "ask"
    assert verdict(work, "git diff") == "ask"
    assert verdict(work, "git log") == "allow"
    assert verdict(work, "git status --ignore-submodules=all") == "allow"


@needs_git
@pytest.mark.parametrize(
    ("key", "attributes"),
    [
        ("core.fsmonitor", ""),
        ("diff.external", ""),
        ("diff.x.textconv", "*.txt diff=x\n"),
        ("filter.x.clean", "*.txt filter=x\n"),
    ],
)
def test_nothing_that_is_allowed_starts_a_program(tmp_path: Path, key: str, attributes: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    (work / "a.txt").write_text("1\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "x")
    (work / "a.txt").write_text("2\n")
    (work / ".gitattributes").write_text(attributes)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    git(work, "config", key, str(program))
    ran_one = False
    for command in ("git status", "git diff", "git log -p", "git show", "git blame a.txt", "git ls-files -m"):
        allowed = decide_command(command, folder=work).verdict == "allow"
        subprocess.run(command.split(), cwd=work, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        ran = (tmp_path / "ran").exists()
        (tmp_path / "ran").unlink(missing_ok=True)
        ran_one = ran_one or ran
        assert not (ran and allowed), command
    assert ran_one, "the trap works"
