from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui_agent import paths
from tui_agent.settings import RuleText, Settings, SettingsError, load, project_values


@pytest.fixture
def write(_home: Path) -> object:
    def write(content: str | bytes) -> Path:
        file = paths.settings_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def refusal(**options: object) -> str:
    with pytest.raises(SettingsError) as caught:
        load(Path("/"), **options)
    return str(caught.value)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load(tmp_path) == Settings(folder=tmp_path)


def test_the_command_line_wins_over_the_environment_over_the_file(write, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    write('mode = "plan"\nmodel = "from-file"\nmax_steps = 7\nbase_url = "https://file.example"\n')
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://env.example")
    settings = load(Path("/"), mode="auto", model=None)
    assert (settings.mode, settings.model, settings.max_steps) == ("auto", "from-file", 7)
    assert settings.base_url == "https://env.example"


def test_rules_of_all_sources_are_kept_with_their_origin(write) -> None:  # type: ignore[no-untyped-def]
    write('allow = ["read_file"]\ndeny = ["run_command(rm *)"]\n')
    settings = load(Path("/"), rules=(RuleText("allow", "write_file(a)", "command line"),))
    assert settings.rules == (
        RuleText("allow", "read_file", "user"),
        RuleText("deny", "run_command(rm *)", "user"),
        RuleText("allow", "write_file(a)", "command line"),
    )


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_byte_order_mark_and_line_ends_don_t_matter(write, start: bytes, end: bytes) -> None:  # type: ignore[no-untyped-def]
    write(start + b"# mine" + (end or b"\n") + b'mode = "plan"' + end)
    assert load(Path("/")).mode == "plan"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("mode = plan\n", 1, "not TOML"),
        ('a = 1\nmode = "plan\n', 2, "not TOML"),
        ('model = "x"\n\nallow = ["a"\n', 3, "not TOML"),
        ('mode = "a"\nmode = "b"\n', 2, "not TOML"),
        ('# x\nmode = "yolo"\n', 2, "one of plan, ask, accept-edits, auto, not 'yolo'"),
        ("\n\nmax_steps = true\n", 3, "a whole number from 1, not True"),
        ("max_steps = 0\n", 1, "a whole number from 1, not 0"),
        ('max_steps = "9"\n', 1, "a whole number from 1"),
        ('allow = "read_file"\n', 1, "a list of texts"),
        ("allow = [1]\n", 1, "a list of texts"),
        ("sandbox = 1\n", 1, "true or false"),
        ("model = ''\n", 1, "text in quotes"),
        ('mode = "ask"\nmax-step = 3\n', 2, "no setting 'max-step'. Did you mean max_steps?"),
        ('mode = "ask"\n[zzz]\na = 1\n', 2, "no setting 'zzz'. Known are allow, api_version,"),
        ('api_key = "sk-ant-secret"\n', 1, "no setting 'api_key'"),
        ("effort = 3\n", 1, "one of low, medium"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(write, text: str, line: int, words: str) -> None:  # type: ignore[no-untyped-def]
    file = write(text)
    said = refusal()
    assert said.startswith(f"{file}, line {line}: ")
    assert words in said


def test_a_line_that_is_not_utf8_is_named(write) -> None:  # type: ignore[no-untyped-def]
    file = write(b'mode = "ask"\nmodel = "caf\xe9"\n')
    assert refusal().startswith(f"{file}, line 2: this line is not UTF-8")


def test_a_folder_or_fifo_in_place_of_the_file_does_not_hang(write) -> None:  # type: ignore[no-untyped-def]
    file = write("")
    file.unlink()
    file.mkdir()
    assert "can't be read" in refusal()
    file.rmdir()
    os.mkfifo(file)
    assert "not a regular file" in refusal()


def test_a_huge_file_is_refused(write) -> None:  # type: ignore[no-untyped-def]
    write(b"#" * (1 << 20) + b"\n")
    assert "larger than" in refusal()


def test_credentials_leave_the_environment_and_have_no_representation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", " sk-ant-0123456789 ")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-0123456789")
    settings = load(Path("/"))
    assert (settings.credentials.api_key, settings.credentials.auth_token) == ("sk-ant-0123456789", None)
    assert not {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} & set(os.environ)
    assert "0123456789" not in repr(settings) + str(settings)


def test_what_can_ask_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not load(Path("/")).can_ask_a_model
    assert load(Path("/"), demo=True).can_ask_a_model
    monkeypatch.setenv("ANTHROPIC_API_KEY", "  ")
    assert not load(Path("/")).can_ask_a_model
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    assert load(Path("/")).can_ask_a_model


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:80",
        "http://localhost:1",
        "http://[::1]:1/x",
        "https://example.org",
        "http://a.localhost",
    ],
)
def test_endpoints_that_a_key_may_be_sent_to(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    assert load(Path("/")).base_url == url


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.org", "unencrypted to example.org"),
        ("http://127.0.0.1.example.org", "unencrypted"),
        ("http://10.0.0.1", "unencrypted"),
        ("example.org", "must be as"),
        ("ftp://example.org", "must be as"),
        ("https://", "must be as"),
        ("http://127.0.0.1:99999", "not a URL"),
        ("http://[::1", "not a URL"),
    ],
)
def test_endpoints_that_are_refused(monkeypatch: pytest.MonkeyPatch, url: str, words: str) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    assert words in refusal()


def test_a_server_on_the_net_that_wants_no_key_needs_no_encryption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://10.0.0.1:8080")
    assert load(Path("/")).can_ask_a_model


class TestProject:
    FILE = Path("/p/.tui-agent/settings.toml")

    def test_it_makes_rules_stricter(self) -> None:
        values = project_values(self.FILE, 'mode = "plan"\ndeny = ["x"]\nmax_steps = 3\n')
        settings = Settings(Path("/p"), mode="auto").tightened(values)
        assert (settings.mode, settings.max_steps) == ("plan", 3)
        assert settings.rules == (RuleText("deny", "x", "project"),)

    def test_it_never_makes_them_looser(self) -> None:
        settings = Settings(Path("/p"), mode="plan", max_steps=5)
        values = project_values(self.FILE, 'mode = "auto"\nmax_steps = 300\n')
        assert settings.tightened(values) == settings

    @pytest.mark.parametrize("name", ["allow", "base_url", "model", "sandbox", "env_pass", "api_version"])
    def test_what_a_project_can_t_set_is_an_error(self, name: str) -> None:
        with pytest.raises(SettingsError, match=f"line 1: a project can't set {name}"):
            project_values(self.FILE, f'{name} = ["read_file"]\n')

    def test_it_does_not_count_by_itself(self, tmp_path: Path) -> None:
        (tmp_path / ".tui-agent").mkdir()
        (tmp_path / ".tui-agent" / "settings.toml").write_text('mode = "plan"\n')
        assert load(tmp_path).mode == "ask"
