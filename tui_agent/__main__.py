"""The way in, for `tui-agent` and `python -m tui_agent`.

Python may look for modules in the working folder: `-m` puts it first on the path, and so does an empty entry
of PYTHONPATH, which many shells leave behind. A planted `textual.py` there would run before any check of
ours, so the folder leaves the path before anything else is imported.
"""

import os
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]
if "" in os.environ.get("PYTHONPATH", "-").split(os.pathsep):
    sys.path[:] = [
        entry for entry in sys.path if not os.path.isdir(entry) or not os.path.samefile(entry, ".")
    ]

from tui_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
