"""`python -m tui_agent`."""

# `-m` puts the working folder first on the path; a planted `textual.py` there would run before any check.
import sys

if sys.flags.safe_path == 0:
    del sys.path[0]

from tui_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
