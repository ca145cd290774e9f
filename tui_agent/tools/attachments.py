"""What a person's words mention with `@path`: the file, folder or picture itself, for the model.

The words stay as they are; what they mention follows, each part begun by a line that says what it is. Files
are read by the tools that the model has, so jail, caps, encodings and rules are theirs. Only a picture may
lie outside the working folder, since the person named it. A mention of nothing that exists is just text.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.agent.messages import ImageContent, TextContent, blocks_of
from tui_agent.agent.tool import ToolOutput
from tui_agent.paths import read_small
from tui_agent.tools.list_files import ListFiles, ListFilesArguments
from tui_agent.tools.read_file import ReadFile, ReadFileArguments
from tui_agent.tools.sniff import MAX_IMAGE, MAX_SIDE, image_of
from tui_agent.tools.trouble import Missing, shown

if TYPE_CHECKING:
    from tui_agent.tools.workspace import Workspace

Blocks = list[TextContent | ImageContent]
What = Literal["file", "folder", "outside"]

MOST = 20
"""Things that one message attaches."""
CHARACTERS = 200_000
"""Characters of attached text in one message."""

_MENTION = re.compile(r"""(?<![^\s(\[{"'`,])@(?:"([^"\n]+)"|([^\s"]{1,1000}))""")
_AFTER_WORDS = ".,;:!?)]}'`"


def mentioned(text: str) -> list[str]:
    """The paths that may be meant, in order, each once. Punctuation at the end is still on them."""
    return list(dict.fromkeys(quoted or bare for quoted, bare in _MENTION.findall(text)))


async def with_attachments(workspace: Workspace, text: str) -> Blocks:
    """The words, and after them what they attach."""
    blocks: Blocks = [TextContent(text=text)]
    attached: set[str] = set()
    room = CHARACTERS
    for mention in mentioned(text):
        try:
            found = await in_thread(_look, workspace, mention)
            if found is None or found[0] in attached:
                continue
            if len(attached) == MOST or room <= 0:
                raise ToolError("the message has enough; read it with a tool")
            attached.add(found[0])
            new = await _blocks_for(workspace, *found)
        except ToolError as error:
            new = [TextContent(text=f"[not attached: {shown(mention)}: {error}]")]
        room -= sum(len(block.text) for block in new if isinstance(block, TextContent))
        blocks += new
    return blocks


def _look(workspace: Workspace, mention: str) -> tuple[str, What] | None:
    """What is there: by the name as it was written, else without the punctuation after it."""
    for path in _readings(mention):
        try:
            return path, "folder" if workspace.is_folder(path) else "file"
        except ToolError as error:
            if path.startswith(("/", "~/")):
                if Path(path).expanduser().is_file():
                    return path, "outside"
            elif not isinstance(error, Missing):
                raise
    return None


def _readings(mention: str) -> Iterator[str]:
    yield mention
    while mention and mention[-1] in _AFTER_WORDS:
        mention = mention[:-1]
        if mention:
            yield mention


async def _blocks_for(workspace: Workspace, path: str, what: What) -> Sequence[TextContent | ImageContent]:
    if what == "outside":
        pictured: Sequence[TextContent | ImageContent] = await in_thread(_picture_outside, path)
        return pictured
    if what == "folder":
        output = await ListFiles(workspace).execute(ListFilesArguments(path=path), CancelSignal())
    else:
        output = await ReadFile(workspace).execute(ReadFileArguments(path=path), CancelSignal())
    return _marked(f"{what} {shown(path)}", output)


def _marked(what: str, output: ToolOutput) -> Sequence[TextContent | ImageContent]:
    first, *rest = blocks_of(output.content if isinstance(output.content, str) else list(output.content))
    assert isinstance(first, TextContent)  # a picture comes after a line about it
    return [TextContent(text=f"[attached {what}]\n{first.text}"), *rest]


def _picture_outside(path: str) -> Sequence[TextContent | ImageContent]:
    try:
        data = read_small(Path(path).expanduser(), MAX_IMAGE)
    except OSError as error:
        raise ToolError(f"it can't be read ({error.strerror or error})") from None
    image = image_of(data)
    if image is None:
        raise ToolError("it lies outside the working folder, where only pictures are attached")
    if max(image.width, image.height) > MAX_SIDE or min(image.width, image.height) == 0:
        raise ToolError(f"the picture has more than {MAX_SIDE:,} pixels a side")
    facts = f"{image.media_type}, {image.width}×{image.height} pixels"
    return [
        TextContent(text=f"[attached picture {shown(path)}, {facts}]"),
        ImageContent(data=base64.b64encode(data).decode("ascii"), media_type=image.media_type),
    ]
