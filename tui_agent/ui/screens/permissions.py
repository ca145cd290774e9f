"""What is allowed and by whom: the rules with their origin and use, and a log of who decided what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tui_agent.permissions.rules import ORIGINS
from tui_agent.ui import safe
from tui_agent.ui.screens.picker import Picker
from tui_agent.ui.widgets.row_list import Row

if TYPE_CHECKING:
    from tui_agent.permissions.decided import Decided
    from tui_agent.permissions.policy import Policy
    from tui_agent.permissions.rules import Rule

_STAYS = {
    "user": "It is gone for this session. Your settings file still has it.",
    "command line": "It is gone for this session.",
}
_RULES_KEYS = "d  revoke    Tab  who decided what    Escape  close"
_LOG_KEYS = "Tab  rules    Escape  close"


class PermissionsScreen(Picker[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d,delete", "revoke", show=False),
        Binding("tab,shift+tab", "turn", show=False),
    ]

    def __init__(self, policy: Policy) -> None:
        super().__init__("Permissions", _RULES_KEYS)
        self._policy = policy
        self._log = False
        self._rules: Sequence[Rule] = ()
        self._decided: Sequence[Decided] = ()
        self._said = ""

    def on_mount(self) -> None:
        self._show()

    def taken(self, index: int) -> None:
        """Nothing is chosen here."""

    def _show(self, cursor: int = 0) -> None:
        policy = self._policy
        self._rules, self._decided = policy.rules, policy.log[::-1]
        view = "Who decided what, the latest first" if self._log else "Rules and grants"
        self.head(f"{view} · {policy.mode.value} mode")
        self.show_keys(_LOG_KEYS if self._log else _RULES_KEYS)
        rows = map(_decided_row, self._decided) if self._log else map(self._row, self._rules)
        self.list.show(list(rows), cursor)
        self.fit()

    def _row(self, rule: Rule) -> Row:
        return Row(f"{rule.verdict:5}  {rule.text}", self._facts(rule))

    def _facts(self, rule: Rule) -> str:
        used = self._policy.uses(rule)
        return f"{ORIGINS[rule.origin]} · " + (f"used {used:,}×" if used else "not used")

    def on_row_list_moved(self) -> None:
        self._describe()

    def _describe(self) -> None:
        """What was just done; else all of the row under the cursor, which may be longer."""
        at = self.list.cursor
        if self._said:
            text, self._said = self._said, ""
        elif self._log:
            text = _told(self._decided[at]) if at < len(self._decided) else "Nothing was decided yet."
        elif at < len(self._rules):
            rule = self._rules[at]
            text = f"{rule.verdict} {rule.text} · {self._facts(rule)}"
        else:
            text = "There are no rules: the mode decides. An approval offers one with `a`."
        self.note(safe.title(text))

    def action_turn(self) -> None:
        self._log = not self._log
        self._show()

    def action_revoke(self) -> None:
        at = self.list.cursor
        if self._log or at >= len(self._rules):
            return
        rule = self._rules[at]
        if rule.verdict != "allow":
            self.note(safe.title(f"It makes things stricter. Take it out of {ORIGINS[rule.origin]}."))
            return
        from tui_agent.permissions.state_file import StateFileError

        try:
            self._policy.revoke(rule)
        except StateFileError as error:
            self._said = f"It is gone for this session only: {error}"
        else:
            self._said = _STAYS.get(rule.origin, f"Revoked: {rule.text}.")
        self._show(min(at, max(0, len(self._rules) - 2)))


def _decided_row(decided: Decided) -> Row:
    return Row(f"{'ran' if decided.decision == 'allow' else 'refused':7}  {decided.title}", decided.who)


def _told(decided: Decided) -> str:
    word = "allowed" if decided.decision == "allow" else "refused"
    return f"{decided.tool}: {decided.title} · {word} by {decided.who}"
