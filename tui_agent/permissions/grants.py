"""What a person allowed for good: `grants.json` in the state folder, by the working folder's real path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tui_agent.permissions.rules import Rule, RuleError, parse_rule
from tui_agent.permissions.state_file import StateFileError, read_state, update_state


class Grants:
    """The saved allow rules of one folder. Without a state folder nothing is saved or loaded."""

    def __init__(self, folder: str | Path, state_folder: str | Path | None) -> None:
        self._key = os.path.realpath(folder)
        self._path = None if state_folder is None else Path(state_folder) / "grants.json"

    def load(self) -> tuple[Rule, ...]:
        """The saved rules; what can't be read any more grants nothing."""
        if self._path is None:
            return ()
        try:
            state = read_state(self._path)
        except StateFileError:
            return ()  # the person hears of it when a grant is to be saved
        rules = []
        for text in _texts(state, self._key):
            try:
                rules.append(parse_rule("allow", text, "grant"))
            except RuleError:
                continue
        return tuple(rules)

    def add(self, rule: Rule) -> None:
        def change(state: dict[str, Any]) -> None:
            texts = _texts(state, self._key)
            state.setdefault("folders", {})[self._key] = [
                *texts,
                *([] if rule.text in texts else [rule.text]),
            ]

        if self._path is not None:
            update_state(self._path, change)

    def remove(self, rule: Rule) -> None:
        def change(state: dict[str, Any]) -> None:
            left = [text for text in _texts(state, self._key) if text != rule.text]
            folders = state.setdefault("folders", {})
            if left:
                folders[self._key] = left
            else:
                folders.pop(self._key, None)

        if self._path is not None:
            update_state(self._path, change)


def _texts(state: dict[str, Any], key: str) -> list[str]:
    folders = state.get("folders")
    texts = folders.get(key) if isinstance(folders, dict) else None
    return [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
