from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from tui_agent import crash, paths
from tui_agent.credentials import Credentials


def crashed(key: str) -> Exception:
    try:
        secret_local = f"{key} and the text of a file"
        raise ValueError(f"broken with {key}", len(secret_local))
    except ValueError as error:
        return error


def test_one_line_names_a_private_report_without_variables_and_key() -> None:
    key = "key-0123456789-abcdef"
    line = crash.report(crashed(key), Credentials(key).redact)
    assert "\n" not in line
    path = Path(line.rpartition(" ")[2])
    assert path.parent == paths.log_folder()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    text = path.read_text()
    assert "ValueError" in text
    assert "test_crash.py" in text
    assert key not in text + line
    assert "text of a file" not in text.replace('f"{key} and the text of a file"', "")


def test_old_reports_make_room() -> None:
    folder = paths.private_folder(paths.log_folder())
    for number in range(crash.KEPT + 5):
        (folder / f"crash-2000{number:04}.log").touch()
    crash.report(ValueError())
    assert len(list(folder.glob("crash-*.log"))) == crash.KEPT
    assert not (folder / "crash-20000000.log").exists()


def test_where_nothing_can_be_written_the_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", os.fspath(tmp_path / "file"))
    assert "No report could be written" in crash.report(ValueError())


def test_an_error_that_ends_a_thread_leaves_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    crash.watch_threads(lambda text: text.replace("hush", "[redacted]"))

    def broken() -> None:
        raise ValueError("hush")

    thread = threading.Thread(target=broken)
    thread.start()
    thread.join()
    (report,) = paths.log_folder().glob("crash-*.log")
    assert "ValueError: [redacted]" in report.read_text()
