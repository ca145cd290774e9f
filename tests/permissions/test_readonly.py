"""The read-only list against a folder with links, secrets and programs of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui_agent.permissions import decide_command
from tui_agent.permissions.options import NotListed, option_list
from tui_agent.permissions.readers import READERS, reader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work" / "src" / "deep").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "work" / "a.py").touch()
    (tmp_path / "work" / "src" / "b.py").touch()
    return tmp_path / "work"


def verdict(folder: Path, command: str) -> str:
    return decide_command(command, folder=folder).verdict


def test_links_count_by_where_they_lead(folder: Path) -> None:
    (folder / "away").symlink_to(folder.parent / "out")
    (folder / "dangling").symlink_to(folder.parent / "nothing")
    (folder / "twice").symlink_to("away")
    (folder / "home").symlink_to("src")
    (folder / "loop").symlink_to("loop")
    for path in ("away", "away/x", "dangling", "twice", "src/../away", "home/../../out"):
        assert verdict(folder, f"cat {path}") == "ask", path
    assert verdict(folder, "cat home/b.py") == "allow"


def test_a_twin_of_the_folder_is_outside(folder: Path) -> None:
    twin = folder.parent / "work-evil"
    twin.mkdir()
    assert verdict(folder, "cat ../work-evil/k") == "ask"
    assert verdict(folder, f"cat {twin}/k") == "ask"
    assert verdict(folder, f"cat {folder}/a.py") == "allow"


@pytest.mark.parametrize("root", ["/", "/proc", "/dev", "/sys"])
def test_devices_and_processes_are_never_inside(root: str) -> None:
    for path in ("/proc/self/environ", "/dev/sda", "/sys/kernel"):
        assert verdict(Path(root), f"cat {path}") == "ask"


def test_a_glob_counts_by_what_it_gives(folder: Path) -> None:
    assert verdict(folder, "sort *.py") == "allow"
    assert verdict(folder, "sort *") == "allow"
    assert verdict(folder, "sort 'x'*") == "allow"
    (folder / "-o").touch()
    assert verdict(folder, "sort *") == "ask"
    assert verdict(folder, "sort ./*") == "allow"
    assert verdict(folder, "sort -- *") == "allow"
    (folder / "src" / "key.pem").touch()
    for command in ("cat src/*", "cat */*.pem", "cat s*/k*", "cat src/[k]ey.pem", "cat src/ke?.pem"):
        assert verdict(folder, command) == "ask", command
    assert verdict(folder, "cat src/*.py") == "allow"
    (folder / ".env").touch()
    assert verdict(folder, "cat *.py") == "allow"
    assert verdict(folder, "cat .e*") == "ask"
    assert verdict(folder, "cat .*") == "ask"
    assert verdict(folder, "ls .*") == "ask"
    assert verdict(folder, "cat '*'") == "allow"


def test_a_glob_with_too_many_names_asks(folder: Path) -> None:
    for number in range(600):
        (folder / f"n{number}").touch()
    assert verdict(folder, "cat n*") == "ask"
    assert verdict(folder, "cat n1*") == "allow"


def test_cd_is_followed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CDPATH", raising=False)
    (folder / "link").symlink_to("src/deep")
    for command in ("cd src && cat b.py", "cd src/deep; ls; cat b.py", "cd . && git status"):
        assert verdict(folder, command) == "allow", command
    for command in (
        "cd src && cat ../../x",
        "cd src; cd deep; cat ../../../x",
        "cd nowhere || cat ../x",
        "false && cd src/deep; cat ../x",
        "cd link && cat ../b.py",
        "cd src && git status",
        "cd ''",
        "cd -P src",
        "cd src deep",
        "cd a; cd b; cd c; cd d; ls",
    ):
        assert verdict(folder, command) == "ask", command
    monkeypatch.setenv("CDPATH", "/tmp")
    assert verdict(folder, "cd src") == "ask"


def test_a_program_of_the_folder_is_not_the_known_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin").mkdir()
    (folder / "bin" / "cat").touch()
    (folder.parent / "by-link").symlink_to(folder / "bin")
    for search_path in (f"{folder}/bin:/usr/bin", "bin:/usr/bin", f"/usr/bin:{folder.parent}/by-link"):
        monkeypatch.setenv("PATH", search_path)
        assert verdict(folder, "cat a.py") == "ask", search_path
        assert verdict(folder, "ls a.py") == "allow"
        assert verdict(folder, "echo a.py") == "allow"
    monkeypatch.setenv("PATH", "/usr/bin:")
    assert verdict(folder, "head a.py") == "allow"
    (folder / "head").touch()
    assert verdict(folder, "head a.py") == "ask"


def test_a_search_asks_when_it_would_read_secrets(folder: Path) -> None:
    for command in ("grep -rn x .", "grep -r x", "rg x", "rg x .", "grep -r x src"):
        assert verdict(folder, command) == "allow", command
    (folder / ".env").touch()
    assert verdict(folder, "grep -rn x .") == "ask"
    assert verdict(folder, "grep -r x") == "ask"
    assert verdict(folder, "grep --recursive -e x") == "ask"
    assert verdict(folder, "rg x") == "allow", "hidden files are not searched"
    assert verdict(folder, "grep -r x src") == "allow"
    for command in ("rg -g '*' x", "rg --glob=.env x", "rg --iglob '.E*' x", "rg -tpy x", "rg -g !a x"):
        assert verdict(folder, command) == "ask", command
    (folder / ".ignore").write_text("a\n!.env\n")
    assert verdict(folder, "rg x") == "ask"
    (folder / ".ignore").unlink()
    (folder / "src" / ".env").touch()
    assert verdict(folder, "rg x src") == "allow"
    (folder / ".gitignore").write_text("!.env\n")
    assert verdict(folder, "rg x src") == "ask"
    (folder / ".gitignore").unlink()
    (folder / "src" / ".env").unlink()
    (folder / "src" / "deep" / "id_rsa").touch()
    for command in ("rg x", "rg x src", "grep -r x src", "rg -e x src/deep", "grep -r x a.py src"):
        assert verdict(folder, command) == "ask", command
    assert verdict(folder, "rg --files src") == "ask"
    assert verdict(folder, "grep x src/b.py") == "allow"


def test_a_search_of_too_much_asks(folder: Path) -> None:
    for number in range(60):
        part = folder / f"d{number}"
        part.mkdir()
        for name in range(100):
            (part / f"f{name}").touch()
    assert verdict(folder, "rg x") == "ask"
    assert verdict(folder, "rg x d1") == "allow"


def test_a_password_in_the_repository_configuration_is_a_secret(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    config = folder / ".git" / "config"
    config.write_text('[remote "o"]\n\turl = https://example.org/x\n')
    assert verdict(folder, "grep -r x .") == "allow"
    assert verdict(folder, "git remote -v") == "allow"
    assert verdict(folder, "cat .git/config") == "ask"
    config.write_text('[remote "o"]\n\turl = https://me:word@example.org/x\n')
    assert verdict(folder, "grep -r x .") == "ask"
    assert verdict(folder, "git remote -v") == "ask"


def test_options_read_as_names_ask(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdict(folder, "uniq a.py -c") == "allow"
    monkeypatch.setenv("POSIXLY_CORRECT", "1")
    assert verdict(folder, "uniq a.py -c") == "ask"


def test_git_is_not_asked_for_secrets(folder: Path) -> None:
    for command in (
        "git show HEAD:.env",
        "git show :.env",
        "git diff -- .env",
        "git log -p -- ':/.env'",
        "git log -p -- ':(top).env'",
        "git log -p -- '.en*'",
        "git show HEAD -- '*'",
        "git diff '*.pem'",
        "git blame id_rsa",
    ):
        assert verdict(folder, command) == "ask", command
    for command in ("git diff -- '*.py'", "git show HEAD:a.py", "git log -p -- src"):
        assert verdict(folder, command) == "allow", command


def test_diff_reads_files_only(folder: Path) -> None:
    assert verdict(folder, "diff a.py src/b.py") == "allow"
    assert verdict(folder, "diff src .") == "ask"
    assert verdict(folder, "diff a.py src") == "ask"


@pytest.mark.parametrize("name", sorted(READERS))
def test_every_list_can_be_read(name: str) -> None:
    options = reader(name)
    assert options is not None
    with pytest.raises(NotListed):
        options.read(["--no-such-option"])


@pytest.mark.parametrize(
    ("line", "words", "operands", "options"),
    [
        ("-ab -n:N", ["-abn3", "x"], ["x"], {"-a": "", "-b": "", "-n": "3"}),
        ("-ab -n:N", ["-abn", "3", "x"], ["x"], {"-a": "", "-b": "", "-n": "3"}),
        ("-a", ["x", "-a", "y"], ["x", "y"], {"-a": ""}),
        ("-a", ["--", "-a"], ["-a"], {}),
        ("-a", ["-", "-a"], ["-"], {"-a": ""}),
        ("--lines:N", ["--lines=3", "x"], ["x"], {"--lines": "3"}),
        ("--lines:N", ["--lines", "3", "x"], ["x"], {"--lines": "3"}),
        ("--color?W", ["--color", "x"], ["x"], {"--color": ""}),
        ("--color?W", ["--color=auto"], [], {"--color": "auto"}),
        ("-M?N", ["-M90", "x"], ["x"], {"-M": "90"}),
        ("-M?N", ["-M", "x"], ["x"], {"-M": ""}),
        ("digits", ["-5", "x"], ["x"], {}),
    ],
)
def test_options_are_told_from_operands(
    line: str, words: list[str], operands: list[str], options: dict[str, str]
) -> None:
    arguments = option_list(line).read(words)
    assert (arguments.operands, arguments.options) == (operands, options)


NOT_LISTED = [
    *(("-a", "-b"), ("-a", "-ab"), ("-a", "-5"), ("--lines:N", "--line=3"), ("--all", "--all=x")),
    *(("--all", "--al"), ("-n:N", "-nx"), ("-n:N", "-n;"), ("--color?W", "--color=a b")),
    *(("separate -L:N -o", "-L3"), ("-a", "--b"), ("separate -L:N -a", "-aL")),
]


@pytest.mark.parametrize(("line", "word"), NOT_LISTED)
def test_what_is_not_listed_is_refused(line: str, word: str) -> None:
    with pytest.raises(NotListed):
        option_list(line).read([word, "3"])
