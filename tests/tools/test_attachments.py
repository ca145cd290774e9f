from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.agent import ImageContent, TextContent
from tui_agent.tools import Workspace, attachments
from tui_agent.tools.attachments import mentioned, with_attachments

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / "src" / "a.py").write_text("print(1)\n")
    (place / "my file.txt").write_text("blank\n")
    (place / "notes.").write_text("odd name\n")
    return place


async def attached(folder: Path, text: str) -> list[str]:
    """The first lines of what a text attaches."""
    with Workspace(folder) as workspace:
        words, *rest = await with_attachments(workspace, text)
    assert words == TextContent(text=text)
    return [b.text.partition("\n")[0] if isinstance(b, TextContent) else b.media_type for b in rest]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see @a.py and @b/c", ["a.py", "b/c"]),
        ('"@a b" @"c d"', ["a", "c d"]),
        ("@a @a", ["a"]),
        ("mail me@example.org, or a@b", []),
        ("(@x), `@y`", ["x),", "y`"]),
        ("@", []),
        ("line\n@next\t@tab", ["next", "tab"]),
    ],
)
def test_mentions(text: str, paths: list[str]) -> None:
    assert mentioned(text) == paths


async def test_files_folders_and_punctuation(folder: Path) -> None:
    text = 'compare @src/a.py, (@src/a.py) with @"my file.txt"; list @src/ and @notes.'
    assert await attached(folder, text) == [
        "[attached file src/a.py]",
        "[attached file my file.txt]",
        "[attached folder src/]",
        "[attached file notes.]",
    ]


async def test_a_file_comes_with_its_content_and_counts_as_read(folder: Path) -> None:
    with Workspace(folder) as workspace:
        blocks = await with_attachments(workspace, "@src/a.py")
        assert isinstance(blocks[1], TextContent)
        assert "print(1)" in blocks[1].text
        assert "src/a.py" in workspace.seen


async def test_what_does_not_exist_is_just_text(folder: Path) -> None:
    assert await attached(folder, "use @dataclass and @/components/Button, @~nobody, @src/b.py") == []


async def test_pictures_inside_and_outside(folder: Path, tmp_path: Path) -> None:
    (folder / "in.png").write_bytes(PNG)
    (tmp_path / "out.dat").write_bytes(PNG)
    found = await attached(folder, f"@in.png @{tmp_path / 'out.dat'}")
    assert found == [
        "[attached file in.png]",
        "image/png",
        f"[attached picture {tmp_path / 'out.dat'}, image/png, 2×3 pixels]",
        "image/png",
    ]


async def test_only_pictures_come_from_outside(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    found = await attached(folder, f"@{tmp_path / 'secret.txt'} @link @../secret.txt")
    assert len(found) == 3
    assert all(line.startswith("[not attached: ") for line in found)
    with Workspace(folder) as workspace:
        blocks = await with_attachments(workspace, f"@{tmp_path / 'secret.txt'} @link")
    assert not any("secret\n" in getattr(block, "text", "").partition("\n")[2] for block in blocks)


async def test_a_picture_that_is_too_wide_is_not_sent(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "wide.png").write_bytes(PNG[:16] + b"\0\1\0\0" + PNG[20:])
    (found,) = await attached(folder, f"@{tmp_path / 'wide.png'}")
    assert "8,000 pixels" in found


async def test_a_denied_file_is_not_attached(folder: Path) -> None:
    with Workspace(folder) as workspace:
        workspace.may_read = lambda path: path != "src/a.py"
        blocks = await with_attachments(workspace, "@src/a.py")
    assert isinstance(blocks[1], TextContent)
    assert blocks[1].text.startswith("[not attached: src/a.py: ")
    assert "print" not in blocks[1].text


async def test_there_is_a_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(22):
        (folder / f"f{number}").write_text("x\n")
    found = await attached(folder, " ".join(f"@f{number}" for number in range(22)))
    assert [line.startswith("[not attached") for line in found] == [False] * 20 + [True] * 2
    monkeypatch.setattr(attachments, "CHARACTERS", 40)
    found = await attached(folder, " ".join(f"@f{number}" for number in range(4)))
    assert found[-1].startswith("[not attached: f3")


@given(st.text(alphabet=st.sampled_from(list("@\"'./ab ~\n\\\0é")), max_size=40))
@settings(max_examples=60, deadline=None)
async def test_no_text_breaks_it(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    place = tmp_path_factory.mktemp("any")
    (place / "a").write_text("x")
    with Workspace(place) as workspace:
        words, *rest = await with_attachments(workspace, text)
    assert words == TextContent(text=text)
    assert all(isinstance(block, TextContent | ImageContent) for block in rest)
