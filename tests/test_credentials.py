from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_agent.crash import scrub
from tui_agent.credentials import Credentials

KEY = 'sk-ant-api03-x/y+z"=0123456789'


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY, safe=""),
        json.dumps(KEY),
        KEY.encode().hex(),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"user:{KEY}\n".encode()).decode(),
        base64.b64encode(f"us:{KEY}".encode()).decode(),
        base64.urlsafe_b64encode(f"u:{KEY} ".encode()).decode(),
    ],
)
def test_the_key_goes_in_every_usual_form(form: str) -> None:
    cleaned = Credentials(KEY).redact(f"before {form} after")
    assert "[redacted]" in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    assert form not in cleaned


@given(st.binary(max_size=5), st.binary(max_size=5))
def test_base64_around_the_key_never_keeps_it(before: bytes, after: bytes) -> None:
    text = base64.b64encode(before + KEY.encode() + after).decode()
    cleaned = Credentials(KEY).redact(text)
    assert "[redacted]" in cleaned
    assert len(cleaned.replace("[redacted]", "")) <= len(base64.b64encode(before + after)) + 8


@pytest.mark.parametrize("word", ["dummy", "local", "none", "secret", "x", "ollama"])
def test_a_word_that_stands_for_no_key_is_left_in_texts(word: str) -> None:
    text = f"a {word} sentence"
    assert Credentials(word).redact(text) == text


def test_both_credentials_are_covered() -> None:
    assert Credentials(None, "token-0123456789").redact("token-0123456789!") == "[redacted]!"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-abcdef0123456789",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghij",
        "glpat-0123456789abcdef",
        "xoxb-0123456789-abcdef",
        "hf_0123456789abcdefghij",
        "eyJhbGciOiJI.eyJzdWIi.abc",
    ],
)
def test_reports_lose_what_looks_like_a_secret(secret: str) -> None:
    assert scrub(f"x={secret}, y") == "x=[redacted], y"


def test_reports_lose_headers_urls_and_keys() -> None:
    headers = 'Authorization: Bearer abc.def\n"x-api-key": "zzz", https://me:pw@host/ '
    cleaned = scrub(headers + "-----BEGIN RSA PRIVATE KEY-----\nAAA")
    assert [secret for secret in ("abc.def", "zzz", "me:pw", "AAA") if secret in cleaned] == []
    assert "host/" in cleaned


@pytest.mark.parametrize("text", ["3664fe5b0c1d7", "a" * 40, "sk-1", "https://host/path", "task-force"])
def test_reports_keep_the_rest(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("value", ["sk-a\nb", "sk a", "sk-\u00e9", "sk-\x00b", "“sk-quoted”"])
def test_a_key_that_no_request_could_carry_is_named(value: str) -> None:
    assert Credentials(value).fault.startswith("ANTHROPIC_API_KEY holds")
    assert Credentials(None, value).fault.startswith("ANTHROPIC_AUTH_TOKEN holds")
    assert value not in Credentials(value).fault


def test_a_key_of_plain_characters_has_no_fault() -> None:
    assert not Credentials("sk-test_0123+/=").fault
    assert not Credentials().fault
