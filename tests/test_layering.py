"""Parts depend on each other in one direction only, and on few libraries. Imports in functions count, too."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tui_agent

ROOT = Path(tui_agent.__file__).parent

BOTTOM = {
    "text",
    "settings",
    "paths",
    "credentials",
    "branch",
    "system",
    "terminal",
    "crash",
    "demo",
    "slash",
}
SIBLINGS = {"models", "tools", "permissions", "session"}
BELOW_RUNTIME = BOTTOM | SIBLINGS | {"agent"}
EDGES: dict[str, set[str]] = {
    **dict.fromkeys(BOTTOM, BOTTOM),
    "agent": BOTTOM,
    **{part: BOTTOM | {"agent"} for part in SIBLINGS},
    "undo": BELOW_RUNTIME,
    "parts": BELOW_RUNTIME | {"undo"},
    "masking": BELOW_RUNTIME,
    "discreet": BELOW_RUNTIME,
    "context": BELOW_RUNTIME | {"parts"},
    "live_output": {"agent"},
    "runtime": BELOW_RUNTIME | {"parts", "undo", "context", "discreet", "live_output"},
    **{part: BELOW_RUNTIME | {"masking", "runtime", "undo"} for part in ("headless", "plain", "ui")},
    "doctor": BELOW_RUNTIME | {"parts"},
    "options": BELOW_RUNTIME,
    "cli": BELOW_RUNTIME | {"runtime", "headless", "plain", "ui", "doctor", "options"},
    "__main__": {"cli"},
}
"""For each part, the other parts that it may import."""

LIBRARIES: dict[str, set[str]] = {
    "agent": {"pydantic", "jsonschema", "referencing"},  # the last comes with jsonschema
    "models": {"anthropic", "httpx2", "pydantic"},
    "tools": {"aiofiles", "pathspec", "pydantic", "pydantic_core"},
    "permissions": {"tree_sitter", "tree_sitter_bash", "pydantic"},
    "session": {"pydantic"},
    "ui": {"textual", "rich", "markdown_it", "mdit_py_plugins", "pygments"},
    "paths": {"platformdirs"},
    "text": {"rich"},
}
"""For each part, what it may import beside the standard library."""

WORLD = {"os", "io", "pathlib", "shutil", "tempfile", "subprocess", "socket", "signal", "fcntl"}
"""Standard modules that the agent library does without: it knows no files and no processes."""

ONLY_HERE = {"anthropic": "models/anthropic.py"}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide where they go"
            assert node.module
            if node.module == "tui_agent":
                yield from ((node.lineno, f"tui_agent.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            name = node.args[0]
            # A package may load modules of its own.
            own = ast.unparse(node.args[-1]).endswith("module.__name__")
            if not own and not ast.unparse(name).startswith("f'{__name__}."):
                assert isinstance(name, ast.Constant), f"{path}:{node.lineno}: an import nobody can check"
                yield node.lineno, str(name.value)


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def faults(path: Path) -> Iterator[str]:
    part = part_of(path)
    for line, name in imports(path):
        top, _, rest = name.partition(".")
        where = f"{path.relative_to(ROOT)}:{line}"
        if top == "tui_agent":
            other = rest.partition(".")[0]
            if other not in ("", "__version__", part) and other not in EDGES[part]:
                yield f"{where}: {part} may not import {other}"
        elif top not in sys.stdlib_module_names and top not in LIBRARIES.get(part, set()):
            yield f"{where}: {part} may not import {top}"
        elif part == "agent" and top in WORLD:
            yield f"{where}: the library knows no files and no processes ({top})"
        if top in ONLY_HERE and path.relative_to(ROOT).as_posix() != ONLY_HERE[top]:
            yield f"{where}: {top} is imported by {ONLY_HERE[top]} alone"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_go_down(path: Path) -> None:
    assert part_of(path) in EDGES, f"{path.name} has no place in the table"
    assert list(faults(path)) == []


def test_the_table_has_no_way_back() -> None:
    settled: set[str] = set(BOTTOM)
    rest = {part: others - BOTTOM for part, others in EDGES.items() if part not in BOTTOM}
    while ready := {part for part, others in rest.items() if others <= settled}:
        settled |= ready
        rest = {part: others for part, others in rest.items() if part not in ready}
    assert rest == {}


def test_a_forbidden_import_is_seen_also_in_a_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "agent").mkdir()
    file = tmp_path / "agent" / "x.py"
    file.write_text(
        "def f():\n    import textual\n    from tui_agent.tools import x\n    import anthropic, os\n"
    )
    assert len(list(faults(file))) == 5


def test_the_command_line_starts_without_what_is_heavy() -> None:
    code = (
        "import sys; from tui_agent import cli, options, settings\n"
        "cli._protect(); options.read_settings(options.read_options(['--allow', 'read_file']), '/')\n"
        "print(*sorted(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    )
    heavy = {"pydantic", "anthropic", "httpx2", "textual", "rich", "jsonschema", "tree_sitter", "asyncio"}
    assert heavy & set(run.stdout.split()) == set()
