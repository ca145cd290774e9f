from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tui_agent.session.checkpoints import FOLDER, Checkpoints


def test_equal_contents_are_one_private_file_that_a_new_opener_finds(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    name = kept.keep(b"content")
    assert name is not None
    assert kept.keep(b"content") == name
    assert kept.keep(b"") != name
    assert Checkpoints(tmp_path).get(name) == b"content"
    files = list((tmp_path / FOLDER).iterdir())
    assert len(files) == 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700


def test_names_that_are_no_hash_give_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    kept = Checkpoints(tmp_path)
    kept.keep(b"content")
    for name in (None, "?", "", "../secret", "0" * 64):
        assert kept.get(name) is None


def test_damaged_and_torn_contents_are_not_given_and_are_kept_anew(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path)
    name = kept.keep(b"content")
    assert name is not None
    (kept.folder / name).write_bytes(b"CONTENT")
    assert kept.get(name) is None
    (kept.folder / name).write_bytes(b"con")
    assert kept.get(name) is None
    assert kept.keep(b"content") == name
    assert kept.get(name) == b"content"


def test_caps_are_said_once_each(tmp_path: Path) -> None:
    told: list[str] = []
    kept = Checkpoints(tmp_path, told.append, largest=10, most=15)
    assert kept.keep(b"x" * 11) is None
    assert kept.keep(b"y" * 11) is None
    assert kept.keep(b"1" * 10) is not None
    assert Checkpoints(tmp_path, told.append, largest=10, most=15).keep(b"2" * 10) is None
    assert kept.keep(b"1" * 10) is not None
    assert len(told) == 2
    assert "over 10 B" in told[0]
    assert "15 B" in told[1]


def test_a_disk_that_takes_nothing_is_said_and_leaves_no_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    told: list[str] = []
    kept = Checkpoints(tmp_path, told.append)
    monkeypatch.setattr(os, "fsync", full)
    assert kept.keep(b"content") is None
    assert list(kept.folder.iterdir()) == []
    assert "No space left" in told[0]


def test_a_copy_of_a_session_holds_what_the_first_one_held(tmp_path: Path) -> None:
    first, copy = Checkpoints(tmp_path / "first"), Checkpoints(tmp_path / "copy")
    name = first.keep(b"content")
    copy.adopt(tmp_path / "first")
    copy.adopt(tmp_path / "none")
    assert copy.get(name) == b"content"


def test_what_is_secret_is_never_kept(tmp_path: Path) -> None:
    told: list[str] = []
    kept = Checkpoints(tmp_path, told.append, secret=lambda data: b"key" in data)
    assert kept.keep(b"a key") is None
    assert kept.keep(b"the key") is None
    assert told == ["Files that hold the key are not kept, so their changes can't be undone."]
    assert kept.keep(b"other") is not None
    assert [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()] == [b"other"]
