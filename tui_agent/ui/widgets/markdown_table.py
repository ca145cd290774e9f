"""A table as rows: columns as wide as they need, narrowed and wrapped where the view is too narrow."""

from __future__ import annotations

from tui_agent.text import width_of
from tui_agent.ui.widgets.rows import Margin, Runs, TextRow, flow, slice_runs
from tui_agent.ui.widgets.strips import Run
from tui_agent.ui.widgets.wrap import spans

Cell = tuple[list[Run], str]
NARROWEST = 4
_LINE = "$text-muted"


def table_rows(
    table: list[list[Cell]], margin: Margin, width: int, cap: int | None
) -> tuple[list[TextRow], int]:
    """Rows of the table, whose first row is the head, and how many of its rows `cap` left out."""
    head, body = table[0], table[1:]
    left_out = 0 if cap is None or len(body) <= cap + cap // 4 else len(body) - cap
    body = body[: len(body) - left_out]
    room = width - margin.width - 3 * (len(head) - 1)
    if room < NARROWEST * len(head):
        return _listed(head, body, margin, width), left_out
    widths = _widths([head, *body], room)
    rows = _row(head, widths, margin)
    prefix, gutter = margin.take()
    rows.append(TextRow((*prefix, ("─┼─".join("─" * columns for columns in widths), _LINE)), gutter))
    for cells in body:
        rows += _row(cells, widths, margin)
    return rows, left_out


def _text(cell: Cell) -> str:
    return "".join(text for text, _ in cell[0]).replace("\n", " ")


def _widths(table: list[list[Cell]], room: int) -> list[int]:
    """Natural widths; if they don't fit, the widest columns give way first."""
    widths = [max(1, *(width_of(_text(row[i])) for row in table)) for i in range(len(table[0]))]
    while (excess := sum(widths) - room) > 0:
        widest = max(widths)
        rest = [w for w in widths if w < widest]
        count = len(widths) - len(rest)
        floor = max(*rest, NARROWEST) if rest else NARROWEST
        step = max(1, min(widest - floor, -(-excess // count)))
        for index, columns in enumerate(widths):
            if columns == widest and excess > 0:
                widths[index] = columns - min(step, excess)
                excess -= min(step, excess)
    return widths


def _row(cells: list[Cell], widths: list[int], margin: Margin) -> list[TextRow]:
    columns: list[list[Runs]] = []
    for (runs, align), width in zip(cells, widths, strict=True):
        text = _text((runs, align))
        column: list[Runs] = []
        for start, end, _ in spans(text, width):
            piece = slice_runs([(part.replace("\n", " "), style) for part, style in runs], start, end)
            blank = width - width_of(text[start:end])
            left = blank if align == "right" else blank // 2 if align == "center" else 0
            column.append(((" " * left, ""), *piece, (" " * (blank - left), "")))
        columns.append(column)
    rows: list[TextRow] = []
    for line in range(max(len(column) for column in columns)):
        prefix, gutter = margin.take()
        runs = list(prefix)
        for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
            if index:
                runs.append((" │ ", _LINE))
            runs += column[line] if line < len(column) else ((" " * width, ""),)
        rows.append(TextRow(tuple(runs), gutter))
    return rows


def _listed(head: list[Cell], body: list[list[Cell]], margin: Margin, width: int) -> list[TextRow]:
    """For a view that is too narrow for columns: each row as lines `name: value`."""
    rows: list[TextRow] = []
    for cells in body:
        if rows:
            rows.append(TextRow(margin.rest, margin.width))
        for name, value in zip(head, cells, strict=True):
            rows += flow([(f"{_text(name)}: ", "bold"), *value[0]], margin, width)
    return rows
