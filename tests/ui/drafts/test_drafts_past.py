from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.ui.drafts import past as past_module
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.past import Past, PastFile

TEXTS = st.text(min_size=1).filter(str.strip)
DRAFTS = st.builds(Draft, TEXTS, st.dictionaries(st.text(min_size=1, max_size=5), st.text(), max_size=2)).map(
    Draft.stripped
)


def test_walking_keeps_the_draft() -> None:
    past = Past()
    for text in ("a", "a", "b", "a"):
        past.add(Draft(text))
    assert [past.older(Draft("draft")) for _ in range(4)] == [Draft("a"), Draft("b"), Draft("a"), None]
    assert [past.newer() for _ in range(4)] == [Draft("b"), Draft("a"), Draft("draft"), None]


def test_what_the_file_had_comes_before_and_moves_nobody() -> None:
    past = Past()
    past.add(Draft("mine"))
    past.add(Draft("both"))
    assert past.older(Draft("draft")) == Draft("both")
    past.begin_with([Draft("old"), Draft("both")])
    assert [draft.text for draft in past.entries] == ["old", "both", "mine"]
    assert past.newer() == Draft("draft")


def test_the_search_wants_every_word_and_gives_the_newest_first() -> None:
    past = Past()
    for text in ("fix the Tests", "fix docs", "test it, fix it", "fix docs"):
        past.add(Draft(text))
    assert [draft.text for draft in past.found("FIX")] == ["fix docs", "test it, fix it", "fix the Tests"]
    assert [draft.text for draft in past.found("test fix")] == ["test it, fix it", "fix the Tests"]
    assert past.found("nothing") == []


@given(st.lists(DRAFTS, max_size=12))
@settings(max_examples=50, deadline=None)
def test_prompts_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, drafts: list[Draft]
) -> None:
    file = PastFile(tmp_path_factory.mktemp("folder"))
    file.path = tmp_path_factory.mktemp("state") / "past.jsonl"
    for draft in drafts:
        file.append(draft)
    expected = [draft for draft, before in zip(drafts, [None, *drafts], strict=False) if draft != before]
    assert file.read() == expected


@given(st.lists(DRAFTS, min_size=1, max_size=6), st.binary(max_size=60), st.data())
@settings(max_examples=60, deadline=None)
def test_damage_costs_no_more_than_the_lines_it_hit(
    tmp_path_factory: pytest.TempPathFactory, drafts: list[Draft], junk: bytes, data: st.DataObject
) -> None:
    file = PastFile(tmp_path_factory.mktemp("folder"))
    file.path = tmp_path_factory.mktemp("state") / "past.jsonl"
    for draft in drafts:
        file.append(draft)
    lines = file.path.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines)))
    file.path.write_bytes(b"".join([*lines[:at], junk.replace(b"\n", b"") + b"\n", *lines[at:]]))
    file.append(Draft("the last"))
    assert file.read()[-1] == Draft("the last")
    assert {draft.text for draft in file.read()} >= {draft.text for draft in drafts}


def test_a_line_that_was_cut_does_not_spoil_the_next(tmp_path: Path) -> None:
    file = PastFile(tmp_path)
    file.append(Draft("one"))
    with file.path.open("ab") as opened:
        opened.write(b'{"text":"cut')
    file.append(Draft("two"))
    assert file.read() == [Draft("one"), Draft("two")]


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = PastFile(tmp_path)
        file.append(Draft("secret"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


def test_each_folder_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    PastFile(tmp_path / "a").append(Draft("here"))
    assert PastFile(tmp_path / "b").read() == []
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert PastFile(tmp_path / "link").read() == [Draft("here")]


def test_it_is_shortened_from_its_old_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_module, "LARGEST", 4000)
    file = PastFile(tmp_path)
    for number in range(300):
        file.append(Draft(f"prompt {number}"))
    kept = file.read()
    assert file.path.stat().st_size <= 4000
    assert kept[-1] == Draft("prompt 299")
    assert [draft.text for draft in kept] == [f"prompt {n}" for n in range(300 - len(kept), 300)]
    assert len(list(file.path.parent.iterdir())) == 1


def test_a_prompt_that_is_too_large_is_left_out(tmp_path: Path) -> None:
    file = PastFile(tmp_path)
    file.append(Draft("x" * past_module.LARGEST_ENTRY))
    assert file.read() == []


WRITER = """
import sys
from pathlib import Path
from tui_agent.ui.drafts import past
from tui_agent.ui.drafts.draft import Draft
past.LARGEST = int(sys.argv[3])
file = past.PastFile(Path(sys.argv[1]))
for number in range(100):
    file.append(Draft(f"{sys.argv[2]} {number} " + "x" * 50))
"""


@pytest.mark.parametrize("largest", [8_000_000, 9_000])
def test_sessions_that_write_at_once_lose_nothing(tmp_path: Path, largest: int) -> None:
    run = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*run, name, str(largest)]) for name in ("a", "b", "c")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    file = PastFile(tmp_path)
    lines = [json.loads(line)["text"].split() for line in file.path.read_text().splitlines()]
    for name in ("a", "b", "c"):
        numbers = [int(number) for writer, number, _ in lines if writer == name]
        assert (
            numbers == list(range(100 - len(numbers), 100))
            if largest > 10_000
            else numbers == sorted(numbers)
        )
    assert len(lines) == 300 if largest > 10_000 else 20 < len(lines) < 300
