from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.draft_file import DraftFile

WRITER = """
import sys, time
from pathlib import Path
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.draft_file import DraftFile
file = DraftFile(Path(sys.argv[1]))
for text in sys.argv[2:]:
    file.write(Draft(text))
print("written", flush=True)
time.sleep(60)
"""


def start_writer(folder: Path, *texts: str) -> subprocess.Popen[str]:
    run = [sys.executable, "-c", WRITER, str(folder), *texts]
    writer = subprocess.Popen(run, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "written\n"
    return writer


def kill(writer: subprocess.Popen[str]) -> None:
    writer.send_signal(signal.SIGKILL)
    writer.communicate()


def test_the_draft_of_a_killed_program_is_taken_over_once(tmp_path: Path) -> None:
    writer = start_writer(tmp_path, "a longer first text", "half a thought")
    file = DraftFile(tmp_path)
    assert file.take_over() == []  # it is still being written
    kill(writer)
    assert file.take_over() == [Draft("half a thought")]
    assert file.take_over() == []
    assert list(file.place.iterdir()) == []


def test_drafts_of_several_programs_come_oldest_first(tmp_path: Path) -> None:
    one, two = start_writer(tmp_path, "one"), start_writer(tmp_path, "two")
    place = DraftFile(tmp_path).place
    os.utime(place / f"{one.pid}.json", (1, 1))
    kill(two)
    kill(one)
    assert DraftFile(tmp_path).take_over() == [Draft("one"), Draft("two")]


def test_a_blank_draft_leaves_no_file(tmp_path: Path) -> None:
    file = DraftFile(tmp_path)
    file.write(Draft("text"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in file.place.iterdir()] == [0o600]
    file.write(Draft(" \n"))
    assert list(file.place.iterdir()) == []
    file.write(Draft("again"))
    file.close()
    assert DraftFile(tmp_path).take_over() == [Draft("again")]


def test_pastes_survive(tmp_path: Path) -> None:
    draft = Draft("see [pasted 1 line, 2 B]", {"[pasted 1 line, 2 B]": "\x1bé"})
    file = DraftFile(tmp_path)
    file.write(draft)
    file.close()
    assert DraftFile(tmp_path).take_over() == [draft]


def test_two_in_one_process_keep_apart(tmp_path: Path) -> None:
    one, two = DraftFile(tmp_path), DraftFile(tmp_path)
    one.write(Draft("one"))
    two.write(Draft("two"))
    one.close()
    two.close()
    assert {draft.text for draft in DraftFile(tmp_path).take_over()} == {"one", "two"}


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"text":3}', b"\xff" * 100])
def test_a_damaged_file_is_no_draft(tmp_path: Path, junk: bytes) -> None:
    file = DraftFile(tmp_path)
    file.place.mkdir(parents=True)
    (file.place / "1.json").write_bytes(junk)
    assert file.take_over() == []


def test_what_a_crash_left_behind_a_draft_is_passed_over(tmp_path: Path) -> None:
    file = DraftFile(tmp_path)
    file.place.mkdir(parents=True)
    (file.place / "1.json").write_bytes(b'{"text":"new"} older and longer"}')
    assert file.take_over() == [Draft("new")]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    file = DraftFile(tmp_path)
    file.place.mkdir(parents=True)
    (tmp_path / "other").write_text('{"text":"theirs"}')
    (file.place / "1.json").symlink_to(tmp_path / "other")
    assert file.take_over() == []
    assert (tmp_path / "other").exists()
