"""Names that are never touched without a person: files that become code, and files that hold secrets.

Names are compared case-folded, since a file system may not tell `.GIT` from `.git`. Paths come resolved.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from tui_agent.permissions.words import names

# Writing here changes what other programs run later, so it always asks.
_PROTECTED_NAMES = names("""
    .git .tui-agent .vscode .idea .zed .devcontainer .husky .circleci .direnv
    .envrc .mcp.json .gitmodules .gitattributes .gitconfig .pre-commit-config.yaml .lefthook.yml lefthook.yml
    .gitlab-ci.yml .travis.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml .drone.yml
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc
    .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout config.fish
    sitecustomize.py usercustomize.py
    """)
_PROTECTED_RUNS = ((".github", "workflows"), (".github", "actions"), (".config", "fish"))

# Reading these shows secrets, so it always asks.
_SECRET = re.compile(
    r"""
    \.env.* | .+\.env
    | .*\.(pem|key|p12|pfx|pkcs12|jks|keystore|kdbx|ppk|asc|gpg)
    | id_(rsa|dsa|ecdsa|ed25519|xmss).* | .*_(rsa|dsa|ecdsa|ed25519)
    | [._]netrc | \.npmrc | \.yarnrc\.yml | \.pypirc | \.git-credentials | \.?credentials.*
    | \.pgpass | \.my\.cnf | \.htpasswd | \.dockercfg | \.vault-token | \.terraformrc | \.s3cfg | \.boto
    | secrets?\.(ya?ml|json|toml|ini|env|txt) | terraform\.tfstate.* | .*\.tfvars
    | \.ssh | \.aws | \.gnupg | \.kube | \.docker | \.azure | \.password-store
    | \.(bash|zsh|python|node_repl|psql|mysql|sqlite)_history
    """,
    re.VERBOSE | re.DOTALL,
)
_SECRET_RUNS = ((".git", "config"), (".config", "gh"), (".config", "gcloud"), (".tui-agent", "settings.toml"))


def _parts(path: str) -> list[str]:
    return [part for part in path.casefold().split("/") if part]


def _has_run(parts: list[str], runs: tuple[tuple[str, str], ...]) -> bool:
    return any(pair in runs for pair in pairwise(parts))


def is_protected(path: str) -> bool:
    """A change of this file would be run, or obeyed, by another program later."""
    parts = _parts(path)
    return any(part in _PROTECTED_NAMES for part in parts) or _has_run(parts, _PROTECTED_RUNS)


def is_secret(path: str) -> bool:
    """The file's content, or its folder's, is likely a key, a token or a password."""
    parts = _parts(path)
    return any(map(_is_secret_name, parts)) or _has_run(parts, _SECRET_RUNS)


@lru_cache(maxsize=4096)
def _is_secret_name(part: str) -> bool:
    """Searches ask about every file of a tree, and the folders of their paths are few."""
    return _SECRET.fullmatch(part) is not None


_SAMPLES = (
    ".env",
    ".env.local",
    "prod.env",
    "id_rsa",
    "server.pem",
    "server.key",
    "credentials.json",
    ".netrc",
    ".npmrc",
)


def may_be_secret(pattern: str) -> bool:
    """A glob of a program's own that may match a secret file."""
    last = pattern.casefold().rpartition("/")[2].rpartition(")")[2]
    return any(c in last for c in "*?[") and any(fnmatchcase(name, last) for name in _SAMPLES)
