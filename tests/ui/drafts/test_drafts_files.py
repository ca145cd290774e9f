"""Which files a query finds, in which order, and what that costs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.ui.drafts.file_index import Answer, FileIndex
from tui_agent.ui.drafts.matching import best, contains, letters, narrowed


@given(st.text("ab/_.", min_size=1, max_size=6), st.lists(st.text("abc/_.", max_size=15), max_size=20))
@settings(deadline=None)
def test_what_is_found_is_what_has_the_letters(query: str, texts: list[str]) -> None:
    found = narrowed(query, texts, range(len(texts)))
    assert found == [place for place, text in enumerate(texts) if contains(query, text)]
    assert sorted(best(query, texts, found, 100)) == found
    for place in found:
        columns = letters(query, texts[place])
        assert [texts[place][column] for column in columns] == list(query)
        assert columns == sorted(set(columns))


def first(query: str, *paths: str) -> str:
    lowered = [path.lower() for path in paths]
    return paths[best(query, lowered, narrowed(query, lowered, range(len(paths))), 1)[0]]


def test_the_name_of_a_file_counts_more_than_its_folders() -> None:
    assert first("test", "tests/data/long/x.py", "src/test.py") == "src/test.py"
    assert first("main", "domain/x.py", "src/app/main.py") == "src/app/main.py"
    assert first("up", "src/user_profile.py", "src/supper.py", "up.py") == "up.py"
    assert first("userp", "src/user_profile.py", "src/xusexrp.py") == "src/user_profile.py"


def test_many_equal_letters_cost_little() -> None:
    texts = ["a" * 200 + "/" + "a" * 200] * 300
    began = time.process_time()
    best("a" * 30 + "b", texts, range(300), 50)
    best("aaba", [f"{text}ba" for text in texts], range(300), 50)
    assert time.process_time() - began < 2


def asked(index: FileIndex, *queries: str) -> list[Answer]:
    answers: list[Answer] = []
    for query in queries:
        done = threading.Event()
        index.ask(query, lambda answer, done=done: (answers.append(answer), done.set()))  # type: ignore[misc]
        assert done.wait(60)
    return answers


def test_ignored_files_and_repositories_are_left_out(tmp_path: Path) -> None:
    for name in (".git/config", "build/out.py", "src/a.py", "src/b.log", "src/odd\nname", 'src/q"uote'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (everything,) = asked(FileIndex(tmp_path), "")
    assert list(everything.paths) == [".gitignore", "src/", "src/a.py"]


def test_links_out_of_the_folder_are_not_entered(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.py").touch()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (answer,) = asked(FileIndex(tmp_path / "in"), "")
    assert answer.paths == []


def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    (answer,) = asked(FileIndex(tmp_path / "gone"), "x")
    assert (answer.total, answer.paths) == (0, [])


def test_a_query_that_goes_on_and_one_that_goes_back_find_the_same_as_alone(tmp_path: Path) -> None:
    for name in ("alpha", "beta", "alphabet", "gamma"):
        (tmp_path / f"{name}.py").touch()
    index = FileIndex(tmp_path)
    walked = asked(index, "a", "al", "alb", "al", "", "ta")
    alone = [asked(FileIndex(tmp_path), answer.query)[0] for answer in walked]
    assert walked == alone


def test_only_the_newest_query_is_answered(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    index = FileIndex(tmp_path)
    started, go_on, done = threading.Event(), threading.Event(), threading.Event()
    answered: list[str] = []

    def slow(answer: Answer) -> None:
        answered.append(answer.query)
        started.set()
        assert go_on.wait(60)

    index.ask("f", slow)
    assert started.wait(60)
    index.ask("fi", lambda answer: answered.append(answer.query))
    index.ask("fil", lambda answer: (answered.append(answer.query), done.set()))  # type: ignore[arg-type]
    go_on.set()
    assert done.wait(60)
    assert answered == ["f", "fil"]
