"""The built-in read-only list: does one simple command only read, and only inside the folder?

A `ReadOnly` goes through one command line. It follows `cd`, so a path is checked from every folder where the
shell may stand by then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

from tui_agent.permissions.git_commands import enters_submodules, read_git
from tui_agent.permissions.git_config import repository, tells_secrets
from tui_agent.permissions.options import Arguments, NotListed
from tui_agent.permissions.places import may_be_secret
from tui_agent.permissions.reach import OutOfReach, check_path, check_tree, expand, shadowed, within
from tui_agent.permissions.readers import BUILTINS, reader
from tui_agent.permissions.rules import Rule
from tui_agent.permissions.syntax import Simple
from tui_agent.permissions.words import names

_MAX_PLACES = 8


class ReadOnly:
    """One command line, command by command, in order."""

    def __init__(self, folder: str, rules: Sequence[Rule] = ()) -> None:
        """`rules`: those that keep `read_file` from something keep it from being read here, too."""
        self._folder = folder
        self._kept = [rule for rule in rules if rule.verdict != "allow" and rule.covers("read_file")]
        self._places = [folder]
        self._lost = False

    def passed(self, simple: Simple) -> None:
        """A command that a rule allows: after a `cd` of its own nobody knows where the rest runs."""
        if simple.words and simple.words[0].value in ("cd", "pushd", "popd"):
            self._lost = True

    def problem(self, simple: Simple) -> str | None:
        """Why the command isn't known to only read; None if it is."""
        if not simple.words or not simple.words[0].literal:
            return "not on the read-only list"
        name = simple.words[0].value or ""
        if self._lost and name not in ("true", "false", "echo"):
            return "an earlier cd leaves it open where this runs"
        if "POSIXLY_CORRECT" in os.environ:
            return "POSIXLY_CORRECT is set: options may be read as names"
        if name not in BUILTINS and shadowed(name, self._folder):
            return f"{name} would be taken from the folder itself"
        try:
            for place in list(self._places):
                self._check(name, expand(simple.words[1:], place), place)
        except (NotListed, OutOfReach) as problem:
            return str(problem)
        return None

    def _check(self, name: str, words: list[str], place: str) -> None:
        if name == "cd":
            return self._cd(words, place)
        if name == "git":
            return self._git(words, place)
        if name == "find":
            return self._find(words, place)
        options = reader(name)
        if options is None:
            raise NotListed("not on the read-only list")
        arguments = options.read(words)
        paths = [*arguments.paths, *_OPERANDS[options.operands](arguments)]
        for path in paths:
            if path != "-":
                self._path(path, place)
        if name in ("grep", "rg"):
            self._search(name, arguments, paths, place)
        elif options.operands == "files":
            for path in paths:
                if os.path.isdir(os.path.join(place, path)):
                    raise OutOfReach(f"{path} is a folder: it would read every file in it")
        return None

    def _path(self, path: str, place: str) -> None:
        """Raise unless `path` may be read without asking."""
        check_path(path, place, self._folder)
        for name in (
            os.path.normpath(os.path.join(place, path)),
            os.path.realpath(os.path.join(place, path)),
        ):
            for rule in self._kept:
                if rule.matches_path(name, self._folder, within=True):
                    raise OutOfReach(f"the {rule.verdict} rule {rule.text} covers {path}")

    def _search(self, name: str, arguments: Arguments, paths: Sequence[str], place: str) -> None:
        if name == "grep" and not arguments.has("-r", "--recursive"):
            return
        if arguments.has("--type-list"):
            return
        # A glob or a type that names a hidden file makes rg read it.
        hidden = name == "grep" or arguments.has("-g", "--glob", "--iglob", "-t", "--type")
        if self._kept:
            raise OutOfReach(
                f"the {self._kept[0].verdict} rule {self._kept[0].text} keeps a part from being read"
            )
        for path in [path for path in paths if path not in arguments.paths] or ["."]:
            check_tree(path, place, self._folder, hidden=hidden)

    def _cd(self, words: list[str], place: str) -> None:
        if len(words) != 1 or words[0].startswith("-") or not words[0]:
            raise NotListed("cd is only known with one folder")
        if os.environ.get("CDPATH"):
            raise NotListed("CDPATH is set: cd may go elsewhere")
        target = os.path.normpath(os.path.join(place, words[0]))
        if not within(target, self._folder):
            raise OutOfReach(f"{words[0]} is outside the folder")
        if os.path.realpath(target) != target:
            raise OutOfReach(f"{words[0]} goes through a link")
        if target not in self._places:
            self._places.append(target)
        if len(self._places) > _MAX_PLACES:
            raise OutOfReach("too many changes of the folder")

    def _git(self, words: list[str], place: str) -> None:
        if len(self._places) > 1:
            raise NotListed("git after cd: that folder may hold a prepared repository")
        command, arguments = read_git(words)
        found = repository(place)
        if found.starts is not None:
            raise NotListed(found.starts)
        if found.submodules and enters_submodules(command, arguments):
            raise NotListed("it runs git in the submodules, each with its own configuration")
        if command == "remote" and tells_secrets(os.path.join(place, ".git", "config")):
            raise OutOfReach("the address of a remote holds a password")
        for operand in arguments.operands:
            self._path(operand, place)
            if may_be_secret(operand):
                raise OutOfReach(f"{operand} may match files that hold secrets")
            if ":" in operand:  # REVISION:PATH
                self._path(operand.partition(":")[2].lstrip("/") or ".", place)

    def _find(self, words: list[str], place: str) -> None:
        rest = list(words)
        while rest and rest[0] in ("-P", "-H"):
            rest.pop(0)
        starts = []
        while rest and not rest[0].startswith("-") and rest[0] not in ("(", ")", "!", ","):
            starts.append(rest.pop(0))
        for start in starts:
            self._path(start, place)
        while rest:
            word = rest.pop(0)
            if word in _FIND_WITH_VALUE:
                value = rest.pop(0) if rest else ""
                if word in _FIND_WITH_PATH:
                    self._path(value, place)
            elif word not in _FIND_ALONE and not _FIND_NEWER.fullmatch(word):
                raise NotListed(f"find {word} is not on the read-only list")
            elif _FIND_NEWER.fullmatch(word) and rest:
                value = rest.pop(0)
                if not word.endswith("t"):
                    self._path(value, place)


_FIND_ALONE = names("""
    ( ) ! , -not -a -and -o -or -true -false -print -print0 -ls -prune -quit -empty -depth -daystart -mount
    -xdev -readable -writable -executable -nouser -nogroup -noleaf -d -nowarn -warn
    """)
_FIND_WITH_VALUE = names("""
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype
    -size -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -links -inum -maxdepth -mindepth
    -printf -fstype -used -newer -anewer -cnewer -samefile
    """)
_FIND_WITH_PATH = names("-newer -anewer -cnewer -samefile")
_FIND_NEWER = re.compile(r"-newer[aBcm][aBcmt]")


def _paths(arguments: Arguments) -> list[str]:
    return arguments.operands


def _text(arguments: Arguments) -> list[str]:
    return []


def _none(arguments: Arguments) -> list[str]:
    if arguments.operands:
        raise NotListed(f"{arguments.operands[0]} is not expected here")
    return []


def _one(arguments: Arguments) -> list[str]:
    if len(arguments.operands) > 1:
        raise NotListed("the second name would be written")
    return arguments.operands


def _search(arguments: Arguments) -> list[str]:
    if arguments.has("-e", "--regexp", "-f", "--file", "--files", "--type-list"):
        return arguments.operands
    return arguments.operands[1:]


def _strings(arguments: Arguments) -> list[str]:
    if any(operand.startswith("@") for operand in arguments.operands):
        raise NotListed("@ names a file with further options")
    return arguments.operands


def _numbers(arguments: Arguments) -> list[str]:
    if not all(re.fullmatch(r"[+-]?\d{1,6}", operand) for operand in arguments.operands):
        raise NotListed("only plain numbers are known here")
    return []


def _format(arguments: Arguments) -> list[str]:
    if not all(operand.startswith("+") for operand in arguments.operands):
        raise NotListed("a date without + sets the clock")
    return []


def _names(arguments: Arguments) -> list[str]:
    if any("/" in operand for operand in arguments.operands):
        raise NotListed("only plain names are known here")
    return []


_JQ_NAMES = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_JQ_UNKNOWN = names("""
    env ENV import include input inputs modulemeta get_search_list input_filename debug stderr halt halt_error
    def repeat while until recurse range infinite limit builtins splits getpath
    """)


def _jq(arguments: Arguments) -> list[str]:
    if not arguments.operands:
        raise NotListed("jq without a program")
    unknown = _JQ_UNKNOWN.intersection(_JQ_NAMES.findall(arguments.operands[0]))
    if unknown:
        raise NotListed(f"{sorted(unknown)[0]} in a jq program is not on the read-only list")
    return arguments.operands[1:]


def _sed(arguments: Arguments) -> list[str]:
    printed = re.fullmatch(r"(?:\d{1,9}|\$)(?:,(?:\d{1,9}|\$))?p", next(iter(arguments.operands), ""))
    if printed is None or not arguments.has("-n", "--quiet", "--silent"):
        raise NotListed("sed is only known as `sed -n N,Mp`")
    return arguments.operands[1:]


_OPERANDS: dict[str, Callable[[Arguments], list[str]]] = {
    "paths": _paths,
    "files": _paths,
    "text": _text,
    "none": _none,
    "one": _one,
    "search": _search,
    "strings": _strings,
    "numbers": _numbers,
    "format": _format,
    "names": _names,
    "jq": _jq,
    "sed": _sed,
}
