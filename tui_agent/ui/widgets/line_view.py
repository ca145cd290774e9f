"""A virtual list of rows: the base of the transcript, the tool log, diffs and lists.

A subclass says how many rows there are and draws one (`row_count`, `row_strip`); only visible rows are
ever drawn. After its rows changed it calls `changed(first, last)`. That compares the rows now in view with
those last painted and repaints the ones that differ: no layout, no repaint of the whole widget, however
many rows there are. Textual's own way (assigning `virtual_size` and `scroll_y`) makes a layout of the
screen each time, so both are set behind its back and the view scrolls itself.

The view follows the end while `following`; scrolling up releases it, and coming back to the end by one's
own action (never by growth) follows again, if `may_follow` allows.

Limits: no border, no padding (rows are handed to the compositor directly).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

from rich.style import Style as RichStyle
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.theme import Theme
from textual.widget import Widget

from tui_agent import crash
from tui_agent.ui.widgets.strips import build, highlight, lean, text_of

WHEEL = 3
"""Rows for one step of the wheel."""


class LineView(ScrollView, can_focus=True):
    DEFAULT_CSS = """
    LineView {
        height: 1fr;
        overflow: hidden hidden;
        scrollbar-size: 0 0;
        padding: 0;
        border: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_rows(-1)", "Up", show=False),
        Binding("down,j", "scroll_rows(1)", "Down", show=False),
        Binding("pageup", "scroll_pages(-1)", "Page up", show=False),
        Binding("pagedown", "scroll_pages(1)", "Page down", show=False),
        Binding("home,g", "scroll_to_start", "Start", show=False),
        Binding("end,G", "scroll_to_end", "End", show=False),
    ]

    def __init__(self, *, following: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.may_follow = following
        self.following = following
        self._top = 0
        self._arranged = 0
        self._strips: dict[int, Strip] = {}
        self._looks: dict[str, RichStyle] = {}
        self._painted: list[Strip] = []
        self._holding = False
        self._reported = False

    # What a subclass gives ---------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        raise NotImplementedError

    def row_strip(self, y: int, width: int) -> Strip:
        """Row `y` in exactly `width` cells (`strips.build`). Kept until `changed` names the row."""
        raise NotImplementedError

    def rewrap(self, width: int) -> None:
        """The width is new: rows may be counted anew. Called before rows of that width are asked for."""

    def row_copy(self, y: int) -> tuple[int, str, str]:
        """For copying: characters of gutter to leave out, the text, what separates it from the next row."""
        return 0, text_of(self._strip(y)).rstrip(), "\n"

    def decorate(self, strips: list[Strip]) -> list[Strip]:
        """A last word on the rows in view, for marks that lie over them."""
        return strips

    # What a subclass uses ----------------------------------------------------------------------------

    def look(self, style: str) -> RichStyle:
        """A style such as `"bold $text-accent"` over the widget's own colours."""
        try:
            return self._looks[style]
        except KeyError:
            own = self.visual_style
            look = (own + Style.parse(style) if style else own).rich_style
            return self._looks.setdefault(style, look)

    def changed(self, first: int = 0, last: int | None = None) -> None:
        """Rows `first` up to, not including, `last` (None: and all after) are other ones now."""
        if first <= 0 and last is None:
            self.forget()
        else:
            for y in [y for y in self._strips if y >= first and (last is None or y < last)]:
                del self._strips[y]
        self.sync()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Many changes at once: the screen is brought up to date at their end."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
            self.sync()

    def sync(self) -> None:
        """Bring the screen up to date with rows, scroll position and selection."""
        if self._holding or not self.is_mounted or not self.size:
            return
        painted, strips = self._painted, self._view()
        height = len(strips)
        if len(painted) != height:
            self.refresh()
            return
        spans: list[Region] = []
        for y, (old, new) in enumerate(zip(painted, strips, strict=True)):
            if old is new or old._segments == new._segments:
                continue
            if spans and spans[-1].bottom == y:
                spans[-1] = spans[-1].grow((0, 0, 1, 0))
            else:
                spans.append(Region(0, y, self.size.width, 1))
        if spans:
            self.refresh(*spans)

    @property
    def top(self) -> int:
        """The first row in view."""
        return self._top

    @top.setter
    def top(self, row: int) -> None:
        self._top = row

    @property
    def last_top(self) -> int:
        return max(0, self.row_count - self.size.height)

    @property
    def at_end(self) -> bool:
        return self._top >= self.last_top

    def scroll_to_row(self, row: int) -> None:
        """By the person's action: row `row` becomes the first in view, as far as there are rows below."""
        self.top = max(0, min(row, self.last_top))
        self.following = self.may_follow and self.at_end
        self.sync()

    def reveal(self, row: int) -> None:
        """Scroll as little as needed to have `row` in view."""
        if row < self._top:
            self.scroll_to_row(row)
        elif self.size.height and row >= self._top + self.size.height:
            self.scroll_to_row(row - self.size.height + 1)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following = self.may_follow
        self.top = self.last_top
        self.sync()

    def forget(self) -> None:
        """Drop the strips that are kept: width or colours are others now."""
        self._strips.clear()

    # Painting ----------------------------------------------------------------------------------------

    def _strip(self, y: int) -> Strip:
        """Row `y`, drawn once and kept."""
        strip = self._strips.get(y)
        if strip is None:
            if len(self._strips) > 4 * self.size.height + 200:
                self._strips.clear()
            strip = self._strips[y] = self.guarded(partial(self.row_strip, y, self.size.width))
        return strip

    def guarded(self, draw: Callable[[], Strip]) -> Strip:
        """What `draw` gives. If it fails, a row that says so: the rest of the screen lives on."""
        try:
            return self._filtered(draw())
        except Exception as error:
            return self._fault(error)

    def _fault(self, error: Exception) -> Strip:
        if not self._reported:
            self._reported = True  # one report of a view: a fault in each row would be thousands
            crash.report(error, getattr(self.app, "redact", str))
        words = f"✗ This can't be drawn ({type(error).__name__}): a fault of the program."
        return build(((words, "bold $text-error"),), self.size.width, self.look)

    def _filtered(self, strip: Strip) -> Strip:
        """NO_COLOR and the like, which the styles cache that we go around would apply."""
        for line_filter in self.app.get_line_filters():
            strip = strip.apply_filter(line_filter, self.background_colors[1])
        return lean(strip)

    def _view(self) -> list[Strip]:
        """The rows in view, now; remembered as what is painted."""
        try:
            self._painted = self.rows_in_view()
        except Exception as error:
            blank = Strip.blank(self.size.width, self.look(""))
            self._painted = [self._fault(error), *[blank] * (self.size.height - 1)][: self.size.height]
        return self._painted

    def rows_in_view(self) -> list[Strip]:
        """Find the place of the view in its rows, and draw those."""
        width, height = self.size
        if width != self._arranged:
            if self._arranged and self.text_selection is not None:
                self.screen.clear_selection()
            self._arranged = width
            self.forget()
            self.rewrap(width)
        count = self.row_count
        last_top = max(0, count - height)
        self._top = last_top if self.following else max(0, min(self._top, last_top))
        self.set_reactive(Widget.virtual_size, Size(width, count))
        self.set_reactive(Widget.scroll_y, float(self._top))
        self.set_reactive(Widget.scroll_target_y, float(self._top))
        strips = [self._strip(y) for y in range(self._top, min(self._top + height, count))]
        if (selection := self.text_selection) is not None:
            strips = [self._selected(strip, self._top + y, selection) for y, strip in enumerate(strips)]
        if len(strips) < height:
            strips += [self._filtered(Strip.blank(width, self.look("")))] * (height - len(strips))
        return self.decorate(strips)

    def _selected(self, strip: Strip, y: int, selection: Selection) -> Strip:
        if (span := selection.get_span(y)) is None:
            return strip
        start, end = span
        gutter, text, _ = self.row_copy(y)
        stop = len(text) if end < 0 else min(end, len(text))
        style = self.screen.get_component_rich_style("screen--selection")
        return highlight(strip, max(start, gutter), stop, style) if stop > start else strip

    def render_lines(self, crop: Region) -> list[Strip]:
        if len(self._painted) != self.size.height or self._arranged != self.size.width:
            self._view()
        strips: Sequence[Strip] = self._painted[crop.y : crop.bottom]
        if crop.x or crop.width != self.size.width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return list(strips)

    def render_line(self, y: int) -> Strip:
        """For the hit test of a selection only; painting goes through `render_lines`."""
        if not 0 <= y < len(self._painted) or self._top + y >= self.row_count:
            return Strip.blank(self.size.width)
        return self._painted[y].apply_offsets(0, self._top + y)

    def _restyle(self, _theme: Theme | None = None) -> None:
        self._looks.clear()
        self.forget()
        self._painted = []
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._restyle()

    # Selection ---------------------------------------------------------------------------------------

    def selection_updated(self, selection: Selection | None) -> None:
        self.sync()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        start, end = selection.start or Offset(0, 0), selection.end
        count = self.row_count
        parts: list[str] = []
        for y in range(start.y, min(count, count if end is None else end.y + 1)):
            if (span := selection.get_span(y)) is None:
                continue
            gutter, text, after = self.row_copy(y)
            first, last = max(span[0], gutter), len(text) if span[1] < 0 else span[1]
            parts += [text[first:last], after]
        return ("".join(parts[:-1]), "\n") if parts else None

    # Keys, wheel and size ----------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._restyle)

    def on_resize(self, event: events.Resize) -> None:
        self.sync()

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.prevent_default()
        event.stop()
        self.action_scroll_rows(WHEEL)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.prevent_default()
        event.stop()
        self.action_scroll_rows(-WHEEL)

    def action_scroll_rows(self, rows: int) -> None:
        self.scroll_to_row(self._top + rows)

    def action_scroll_pages(self, pages: int) -> None:
        self.scroll_to_row(self._top + pages * max(1, self.size.height - 1))

    def action_scroll_to_start(self) -> None:
        self.scroll_to_row(0)

    def action_scroll_to_end(self) -> None:
        self.scroll_to_row(self.last_top)
