"""`read_file`: a page of a text with line numbers, an image, or one line about anything else.

A file of ordinary size is read whole, so that its hash and its number of lines are known. A larger one is
streamed from its start and left as soon as the page is full.
"""

from __future__ import annotations

import base64
import codecs

from pydantic import Field

from tui_agent.agent.calling import in_thread
from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import ToolError
from tui_agent.agent.messages import ImageContent, TextContent
from tui_agent.agent.tool import ToolOutput
from tui_agent.text import plural, size_text
from tui_agent.tools.arguments import Arguments, PathText, Whole
from tui_agent.tools.details import FileRead, digest
from tui_agent.tools.file_io import chunks, read_whole
from tui_agent.tools.pager import Pager
from tui_agent.tools.read_tool import ReadTool
from tui_agent.tools.sniff import MAX_IMAGE, MAX_SIDE, image_of, kind_of, text_encoding
from tui_agent.tools.trouble import shown
from tui_agent.tools.workspace import MAX_BYTES, Opened


class ReadFileArguments(Arguments):
    path: PathText
    offset: Whole = Field(default=1, ge=1, le=10**9, description="First line.")
    limit: Whole = Field(default=2000, ge=1, le=100_000, description="Lines at most.")


class ReadFile(ReadTool):
    name = "read_file"
    description = (
        "Read a text file, or look at an image. Lines come as `number|text` with real tabs; a page holds at "
        "most 50,000 characters and says how to go on. Long lines are cut with a mark."
    )
    parameters = ReadFileArguments
    of_folders = False

    def title(self, parameters: ReadFileArguments, path: str) -> str:
        return f"Read {path}"

    async def execute(self, parameters: ReadFileArguments, signal: CancelSignal) -> ToolOutput:
        with await in_thread(self.workspace.open_read, parameters.path) as opened:
            pager = Pager(parameters.offset, parameters.limit)
            if opened.stat.st_size > MAX_BYTES:
                return await self._stream(opened, pager, signal)
            data = await read_whole(opened, signal)
            output: ToolOutput = await in_thread(self._whole, opened.path, data, pager)
            return output

    def _whole(self, real: str, data: bytes, pager: Pager) -> ToolOutput:
        path, content_hash = self.workspace.named(real), digest(data)
        assert content_hash is not None
        image = image_of(data)
        encoding = text_encoding(data, complete=True)
        if image and encoding != "utf-8":
            return _image(path, data, image.media_type, (image.width, image.height))
        if encoding is None:
            return _not_text(path, data, len(data))
        text = data.decode(encoding, "replace").removeprefix("\ufeff")
        notes = _encoding_notes(encoding)
        if "\r" in text and "\n" not in text:
            text = text.replace("\r", "\n")
            notes.append("lines end with CR alone")
        pager.feed(text)
        pager.finish()
        total = text.count("\n") + (not text.endswith("\n") and text != "")
        if pager.offset > max(total, 1):
            raise ToolError(
                f"{shown(path)} has {plural(total, 'line')}; offset {pager.offset:,} is past its end."
            )
        self.workspace.mark_seen(real, content_hash)
        if not text:
            notes.append("the file is empty")
        elif pager.next_line <= total:
            notes.append(f"{_lines(pager)} of {total:,}; go on with offset={pager.next_line}")
        elif not text.endswith("\n"):
            notes.append("no newline at the end of the file")
        return _page(path, pager, notes, content_hash)

    async def _stream(self, opened: Opened, pager: Pager, signal: CancelSignal) -> ToolOutput:
        path = self.workspace.named(opened.path)
        decoder: codecs.IncrementalDecoder | None = None
        notes: list[str] = []
        async for data in chunks(opened, signal):
            if decoder is None:
                encoding = text_encoding(data, complete=False)
                if encoding is None or image_of(data):
                    return _not_text(path, data, opened.stat.st_size)
                notes = _encoding_notes(encoding)
                decoder = codecs.getincrementaldecoder(encoding)("replace")
                pager.feed(decoder.decode(data).removeprefix("\ufeff"))
            else:
                pager.feed(decoder.decode(data))
            if pager.full:
                break
        pager.finish()
        if not pager.rows:
            raise _past_the_end(path, pager.lines, pager)
        large = f"the file is {size_text(opened.stat.st_size)}"
        more = f"{_lines(pager)}; {large}; go on with offset={pager.next_line}"
        notes.append(more if pager.full else f"{_lines(pager)}, the last ones; {large}")
        return _page(path, pager, notes, None)


def _past_the_end(path: str, lines: int, pager: Pager) -> ToolError:
    has = plural(lines, "line")
    return ToolError(
        f"{shown(path)} has {has}, so offset {pager.offset:,} is past its end. Use a smaller one."
    )


def _lines(pager: Pager) -> str:
    last = pager.next_line - 1
    return f"line {last}" if last == pager.offset else f"lines {pager.offset}-{last}"


def _encoding_notes(encoding: str) -> list[str]:
    if encoding == "latin-1":
        return ["not UTF-8: shown as latin-1, one character a byte"]
    return [] if encoding == "utf-8" else [f"the file is {encoding.upper()}"]


def _page(path: str, pager: Pager, notes: list[str], content_hash: str | None) -> ToolOutput:
    if pager.ends >= {"\n", "\r\n"}:
        notes.append("line ends are mixed, LF and CRLF")
    elif "\r\n" in pager.ends:
        notes.append("lines end with CRLF")
    if pager.cut:
        notes.append(f"{plural(pager.cut, 'line')} cut; find text in them with search_files")
    text = "\n".join([*pager.rows, *(f"[{note}]" for note in notes)])
    summary = plural(len(pager.rows), "line")
    return ToolOutput(
        text, FileRead(path=shown(path), hash=content_hash, lines=len(pager.rows), summary=summary)
    )


def _not_text(path: str, head: bytes, length: int) -> ToolOutput:
    image = image_of(head)
    kind = f"an image ({image.media_type})" if image else kind_of(head)
    facts = f"{kind}, {size_text(length)}"
    text = f"{shown(path)} is {facts}; there is no text to show. Use run_command to look into it."
    return ToolOutput(text, FileRead(path=shown(path), summary=facts))


def _image(path: str, data: bytes, media_type: str, sides: tuple[int, int]) -> ToolOutput:
    facts = f"{media_type}, {sides[0]}×{sides[1]} pixels, {size_text(len(data))}"
    details = FileRead(path=shown(path), hash=digest(data), summary=facts)
    if len(data) > MAX_IMAGE or max(sides) > MAX_SIDE or min(sides) == 0:
        limit = f"{size_text(MAX_IMAGE)} or {MAX_SIDE:,} pixels a side"
        text = f"{shown(path)} ({facts}) is over the limit of {limit}. Make a smaller copy with run_command."
        return ToolOutput(text, details)
    image = ImageContent(data=base64.b64encode(data).decode("ascii"), media_type=media_type)
    return ToolOutput([TextContent(text=f"{shown(path)} ({facts})"), image], details)
