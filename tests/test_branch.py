from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui_agent.branch import branch_of


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")
    return tmp_path


def test_the_branch_of_a_folder_and_of_those_below(repository: Path) -> None:
    (repository / "a" / "b").mkdir(parents=True)
    assert branch_of(repository) == branch_of(repository / "a" / "b") == "feature/x"


def test_a_detached_head_is_its_commit(repository: Path) -> None:
    (repository / ".git" / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
    assert branch_of(repository) == "0123456789"


def test_a_worktree_names_its_git_folder(repository: Path) -> None:
    other = repository / "w"
    other.mkdir()
    (other / "real").mkdir()
    (other / "real" / "HEAD").write_text("ref: refs/heads/other\n")
    (other / ".git").write_text("gitdir: real\n")
    assert branch_of(other) == "other"


@pytest.mark.parametrize("head", [b"", b"\n", b"\xff\xfe", b"x" * 10_000])
def test_odd_heads_are_no_branch(tmp_path: Path, head: bytes) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(head)
    assert branch_of(tmp_path) is None


def test_a_fifo_does_not_hang(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert branch_of(tmp_path) is None
