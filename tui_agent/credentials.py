"""The credentials of this run, and the one filter that keeps their values out of every sink.

They are taken out of the environment when they are read, so that no child inherits them, and have no
representation. `redact` replaces a value and its usual encodings in whatever is stored, logged or printed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
REDACTED = "[redacted]"


@dataclass(frozen=True)
class Credentials:
    api_key: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls) -> Credentials:
        """Read and remove them. Blank values count as unset, as people write `KEY= tui-agent`."""
        key, token = (os.environ.pop(name, "").strip() or None for name in KEY_VARIABLES)
        # The SDK refuses two credentials at once; the key comes first there, too.
        return cls(key, None if key else token)

    def __bool__(self) -> bool:
        return bool(self.api_key or self.auth_token)

    @property
    def fault(self) -> str:
        """Why no request could carry them; empty if nothing is wrong."""
        for name, value in zip(KEY_VARIABLES, (self.api_key, self.auth_token), strict=True):
            if value and not (value.isascii() and value.isprintable() and " " not in value):
                return f"{name} holds a blank, a line end or another character that no key has. Set it anew."
        return ""

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        values = [value for value in (self.api_key, self.auth_token) if value and _is_secret(value)]
        forms = {form for value in values for form in _encodings(value)}
        return tuple(sorted(forms, key=len, reverse=True))

    @cached_property
    def _byte_forms(self) -> tuple[bytes, ...]:
        return tuple(form.encode("utf-8", "surrogateescape") for form in self._forms)

    def redact(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def are_in(self, data: bytes) -> bool:
        return any(form in data for form in self._byte_forms)

    def redact_bytes(self, data: bytes) -> bytes:
        for form in self._byte_forms:
            if form in data:
                data = data.replace(form, REDACTED.encode())
        return data


def _is_secret(value: str) -> bool:
    """Words such as `dummy` or `local`, given to servers that want no key, would only mangle text."""
    return len(value) >= 16 or (len(value) >= 6 and not value.isalpha())


def _encodings(value: str) -> set[str]:
    import base64
    import json
    from urllib.parse import quote

    data = value.encode("utf-8", "surrogateescape")
    forms = {
        value,
        quote(value, safe="", errors="replace"),
        json.dumps(value)[1:-1],
        data.hex(),
        data.hex().upper(),
    }
    for shift in range(3):
        # The characters of base64 that depend on this value alone, wherever in the encoded text it stands.
        coded = base64.b64encode(b"\0" * shift + data).decode()
        inner = coded[(0, 2, 3)[shift] : len(coded) - (0, 4, 4)[(len(data) + shift) % 3]]
        if len(inner) >= 8:
            forms |= {inner, inner.translate(str.maketrans("+/", "-_"))}
    return forms
