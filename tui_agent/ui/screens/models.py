"""Which model answers, how hard it tries, and whether it thinks. The list is the server's, if it has one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from tui_agent.settings import EFFORTS
from tui_agent.ui import safe
from tui_agent.ui.screens.picker import Picker, Words
from tui_agent.ui.status import thousands
from tui_agent.ui.widgets.row_list import Row

if TYPE_CHECKING:
    from tui_agent.models.catalogue import ModelInfo


class ModelChoice(NamedTuple):
    """`effort` and `thinking` are None where the model decides."""

    name: str
    effort: str | None = None
    thinking: bool | None = None


_EFFORTS: tuple[str | None, ...] = (None, *EFFORTS)
_THINKING: dict[bool | None, str] = {None: "as the model does", True: "on", False: "off"}


class _Name(Words):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.close", show=False),
        Binding("ctrl+e", "screen.effort", show=False),
        Binding("ctrl+t", "screen.thinking", show=False),
    ]


class ModelScreen(Picker[ModelChoice]):
    """What is typed filters the list, and is itself a name to take. `listed` asks the server."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+e", "effort", show=False),
        Binding("ctrl+t", "thinking", show=False),
    ]
    AUTO_FOCUS = "Input"

    def __init__(self, now: ModelChoice, listed: Callable[[], Awaitable[Sequence[ModelInfo]]]) -> None:
        super().__init__("Model", "Enter  use it    Ctrl+E  effort    Ctrl+T  thinking    Escape  leave it")
        self._now = now
        self._effort, self._thinking = now.effort, now.thinking
        self._listed = listed
        self._models: Sequence[ModelInfo] = ()
        self._names: list[str] = []
        self._asking = True
        self._words = _Name(placeholder="type to filter, or the name of a model", compact=True)

    def above(self) -> Iterable[Widget]:
        return (self._words,)

    def on_mount(self) -> None:
        self._show()
        self._ask()

    @work
    async def _ask(self) -> None:
        self._models = await self._listed()
        self._asking = False
        self._show()

    def taken(self, index: int) -> ModelChoice | None:
        if index >= len(self._names):
            return None
        return ModelChoice(self._names[index], self._effort, self._thinking)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.action_open()

    def _show(self) -> None:
        typed = self._words.value.strip()
        infos = {info.id: info for info in self._models}
        names = [self._now.name, *(name for name in infos if name != self._now.name)]
        self._names = [name for name in names if typed.lower() in name.lower()]
        if typed and typed not in self._names:
            self._names.append(typed)
        self.list.show([self._row(name, infos.get(name)) for name in self._names], 0)
        self.fit()
        self._describe()

    def _row(self, name: str, info: ModelInfo | None) -> Row:
        facts = ["now"] if name == self._now.name else []
        if info is not None and info.window:
            facts.append(f"window {thousands(info.window)}")
        title = f"{name}  {info.display_name}" if info and info.display_name != name else name
        return Row(title, "  ".join(facts) or ("" if info else "as typed"))

    def _describe(self) -> None:
        about = (
            "asking for the list …" if self._asking else "" if self._models else "This server has no list."
        )
        effort = self._effort or "as the model does"
        self.note(
            Content.assemble(
                safe.title(f"effort: {effort}    thinking: {_THINKING[self._thinking]}"), "\n", about
            )
        )

    def action_effort(self) -> None:
        at = _EFFORTS.index(self._effort) if self._effort in _EFFORTS else 0
        self._effort = _EFFORTS[(at + 1) % len(_EFFORTS)]
        self._describe()

    def action_thinking(self) -> None:
        order = list(_THINKING)
        self._thinking = order[(order.index(self._thinking) + 1) % len(order)]
        self._describe()
