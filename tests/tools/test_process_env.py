"""What a command's environment holds, and what it doesn't."""

from __future__ import annotations

import pytest

from tui_agent.tools.child_env import child_env

FOLDER = "/folder"


@pytest.mark.parametrize(
    "name",
    [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_APIKEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "npm_config__auth",
        "NPM_TOKEN",
        "DB_PASSWORD",
        "PGPASSWORD",
        "MYSQL_PWD",
        "DATABASE_DSN",
        "SENTRY_DSN",
        "SLACK_WEBHOOK_URL",
        "SESSION_COOKIE",
        "PRIVATE_KEY",
        "SSH_AUTH_SOCK",
        "CREDENTIALS",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "VAULT_TOKEN",
        "SECRET_KEY_BASE",
        "CLIENT_SECRET",
        "api_key",
        "HF_TOKEN",
        "RESTIC_PASSPHRASE",
        "ANTHROPIC_CUSTOM_HEADERS",
    ],
)
def test_secrets_are_withheld(name: str) -> None:
    assert name not in child_env({name: "value"}, FOLDER)
    assert child_env({name: "value"}, FOLDER, [name])[name] == "value"


@pytest.mark.parametrize(
    "value",
    [
        "postgres://me:secret@host/db",
        "https://:token@host",
        "sk-ant-api03-0123456789",
        "ghp_0123456789abcdef",
        "AKIA0123456789ABCDEF",
        "xoxb-0123456789-abc",
        "eyJhbGciOiJI.eyJzdWIiOiIx.abc",
        "-----BEGIN RSA PRIVATE KEY-----\nx",
        "Bearer 0123456789",
    ],
)
def test_values_that_are_secrets_are_withheld(value: str) -> None:
    assert "HARMLESS" not in child_env({"HARMLESS": value}, FOLDER)


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "BASH_FUNC_ls%%",
        "PROMPT_COMMAND",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "PERL5OPT",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_DIR",
        "SSH_ASKPASS",
        "SHELLOPTS",
        "LESSOPEN",
    ],
)
def test_what_starts_programs_is_withheld(name: str) -> None:
    assert name not in child_env({name: "x"}, FOLDER)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "USER",
        "AUTHOR",
        "KEYBOARD",
        "MONKEY",
        "SECRETARY",
        "TOKENIZERS_PARALLELISM",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_EMAIL",
        "VIRTUAL_ENV",
        "JAVA_HOME",
        "SSL_CERT_FILE",
        "XDG_CACHE_HOME",
        "KEYMAP",
        "AUTHENTIC",
        "TZ",
        "DISPLAY",
        "COMPASS_MODE",
        "PYTHONPATH",
    ],
)
def test_the_rest_is_the_users(name: str) -> None:
    assert child_env({name: "value"}, FOLDER)[name] == "value"


@pytest.mark.parametrize("name", ["GPG_TTY", "SSH_TTY", "TMUX", "KITTY_LISTEN_ON", "COLUMNS"])
def test_no_way_back_to_the_terminal(name: str) -> None:
    assert name not in child_env({name: "/dev/pts/3"}, FOLDER)


def test_nothing_pages_edits_or_asks() -> None:
    env = child_env({"PAGER": "less", "EDITOR": "vim", "TERM": "xterm", "FORCE_COLOR": "1"}, FOLDER)
    assert (env["PAGER"], env["GIT_PAGER"], env["TERM"], env["NO_COLOR"]) == ("cat", "cat", "dumb", "1")
    assert (env["GIT_EDITOR"], env["EDITOR"], env["GIT_TERMINAL_PROMPT"]) == ("true", "true", "0")
    assert "FORCE_COLOR" not in env
    assert env["PWD"] == FOLDER


def test_names_that_are_passed_on_win_over_ours() -> None:
    assert child_env({"PAGER": "less", "TERM": "xterm"}, FOLDER, ["TERM"])["TERM"] == "xterm"
    assert "LD_PRELOAD" not in child_env({}, FOLDER, ["LD_PRELOAD"])


def test_a_name_given_back_but_not_there_keeps_the_quiet_value() -> None:
    assert child_env({}, FOLDER, ["PAGER"])["PAGER"] == "cat"
