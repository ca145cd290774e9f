"""Which git commands only read, and the exact options they may be given.

Left out on purpose: everything that writes a file (`--output`), runs a program (`--ext-diff`, `--textconv`,
`--show-signature`, `-O`), names another repository (`-C`, `--git-dir`, `-c`), or leaves it (`--no-index`).
"""

from __future__ import annotations

import re

from tui_agent.permissions.options import Arguments, NotListed, option_list

_DIFF = """
    -pusWwbRaz -U:N --unified:N --patch --no-patch --raw --stat?T --numstat --shortstat --summary --name-only
    --name-status --compact-summary --color?W --no-color --word-diff?W --color-words --color-moved?W -M?N -C?N
    -B?N --find-renames?N --find-copies?N --no-renames --ignore-all-space --ignore-space-change
    --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --no-ext-diff --no-textconv --check
    --full-index --binary --abbrev?N --diff-filter:T -S:T -G:T --pickaxe-regex --pickaxe-all --text --minimal
    --patience --histogram --diff-algorithm:W --no-prefix --function-context --inter-hunk-context:N
    --src-prefix:T --dst-prefix:T --ignore-submodules?W --exit-code --quiet --dirstat?T --relative
    --no-relative --indent-heuristic
"""
_LOG = """
    digits -n:N -gcimEFP --max-count:N --skip:N --oneline --graph --no-graph --decorate?W --no-decorate
    --decorate-refs:T --decorate-refs-exclude:T --all --branches?T --tags?T --remotes?T --glob:T --exclude:T
    --since:T --after:T --until:T --before:T --author:T --committer:T --grep:T --all-match --invert-grep
    --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --merges --no-merges --min-parents:N
    --max-parents:N --first-parent --follow -L:T --format:T --pretty?T --abbrev-commit --no-abbrev-commit
    --no-abbrev --date:T --relative-date --reverse --topo-order --date-order --author-date-order
    --full-history --simplify-merges --simplify-by-decoration --sparse --dense --ancestry-path --left-right
    --left-only --right-only --cherry --cherry-pick --cherry-mark --boundary --no-walk?W --walk-reflogs
    --source --parents --children --use-mailmap --no-mailmap --notes --no-notes --cc --no-diff-merges
    --diff-merges:W --no-expand-tabs --log-size --full-diff
"""

COMMANDS: dict[str, str] = {
    "status": """
        -sbvz --short --branch --long --verbose --porcelain?W -u?W --untracked-files?W --ignored?W
        --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?N
        --ignore-submodules?W
    """,
    "diff": _DIFF + "--cached --staged --merge-base --ours --theirs --base",
    "log": _DIFF + _LOG,
    "show": _DIFF + _LOG,
    "blame": """
        -ltsefnwcbp -L:T -M?N -C?N --root --show-email --show-name --show-number --porcelain --line-porcelain
        --incremental --date:T --since:T --abbrev:N --first-parent --color-lines --color-by-age --ignore-rev:T
    """,
    "ls-files": """
        -cdmoisuktvfz --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory
        --no-empty-directory --exclude-standard --full-name --error-unmatch --abbrev?N --eol --deduplicate
        -x:T --exclude:T --format:T
    """,
    "ls-tree": """
        -drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev?N --format:T
    """,
    "rev-parse": """
        -q --quiet --verify --short?N --abbrev-ref?W --symbolic --symbolic-full-name --all --branches?T
        --tags?T --remotes?T --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir
        --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository
        --is-shallow-repository --revs-only --no-revs --flags --no-flags --show-superproject-working-tree
        --show-object-format?W --since:T --until:T
    """,
    "shortlog": """
        -nsec --numbered --summary --email --committer --group:T --format:T --since:T --after:T --until:T
        --before:T --author:T --grep:T --all --branches?T --tags?T --remotes?T --merges --no-merges
        --first-parent --no-mailmap
    """,
    "describe": """
        --all --tags --long --always --contains --exact-match --abbrev?N --candidates:N --match:T --exclude:T
        --first-parent
    """,
    "merge-base": "-a --all --octopus --is-ancestor --independent --fork-point",
    "branch": """
        -arvi --all --remotes --verbose --list --show-current --contains:T --no-contains:T --merged?T
        --no-merged?T --points-at:T --sort:T --format:T --color?W --no-color --no-column --ignore-case
        --abbrev?N --no-abbrev
    """,
    "tag": """
        -li -n?N --list --sort:T --format:T --contains:T --no-contains:T --merged?T --no-merged?T
        --points-at:T --color?W --no-column --ignore-case --column?W
    """,
    "remote": "-v --verbose",
}
# Without one of these an operand is a name to create.
_LISTS = {"branch": ("--list",), "tag": ("-l", "--list")}
_LOOKS_INTO_SUBMODULES = frozenset({"status", "diff", "describe"})
_SIGNATURE = re.compile(r"%G|signature", re.IGNORECASE)


def read_git(words: list[str]) -> tuple[str, Arguments]:
    """The subcommand and its arguments; raises `NotListed` for what may do more than read."""
    while words and words[0] in ("--no-pager", "--no-optional-locks"):
        words = words[1:]
    if words == ["--version"]:
        return "version", Arguments()
    if not words or words[0].startswith("-"):
        raise NotListed(f"git {words[0] if words else 'alone'} is not on the read-only list")
    command, words = words[0], words[1:]
    if command not in COMMANDS:
        raise NotListed(f"git {command} is not on the read-only list")
    arguments = option_list(COMMANDS[command]).read(words)
    if command == "remote" and arguments.operands:
        raise NotListed("git remote with a name is not on the read-only list")
    if command in _LISTS and arguments.operands and not arguments.has(*_LISTS[command]):
        raise NotListed(f"git {command} with a name creates it")
    if any(_SIGNATURE.search(arguments.options.get(name, "")) for name in ("--format", "--pretty", "--sort")):
        raise NotListed("checking signatures runs a program")
    return command, arguments


def enters_submodules(command: str, arguments: Arguments) -> bool:
    """It would run git again inside each submodule, with that one's configuration."""
    return command in _LOOKS_INTO_SUBMODULES and arguments.options.get("--ignore-submodules") not in (
        "",
        "all",
    )
