"""Write a session of N messages for a folder, as the program itself would: make_session.py FOLDER [N]

Run with the measured program's Python and the HOME it will have.
"""

import sys
from pathlib import Path

from tui_agent.agent import (
    AssistantMessage,
    AssistantMessageDone,
    SessionStarted,
    TextContent,
    TurnEnded,
    TurnStarted,
)
from tui_agent.session.store import SessionStore

ANSWER = """## What was found in part {0}

The parser keeps a small stack of open blocks, so that a late `fence()` can close what came before it
without walking the **whole** document again while the cache holds results keyed by path.

- the cache is keyed by path and time, which makes a second run cheap
- errors are reported with line, column and a hint

```python
def load(path: str, *, retries: int = 3) -> dict[str, int]:
    return {{key: int(value) for key, value in read(path, retries).items()}}
```
"""

TOOL = {"name": "read_file", "description": "Read a file.", "parameters": {"type": "object"}}
folder, messages = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000
store = SessionStore.create(folder)
store.append(SessionStarted(system="You work in a folder.", tools=(TOOL,), model="bench", version="0"))
for number in range(messages // 2):
    text = ANSWER.format(number) if number < messages // 2 - 1 else "SEEDED\n"
    store.append(TurnStarted(prompt=(TextContent(text=f"question {number}"),)))
    answer = AssistantMessage(content=(TextContent(text=text),), stop_reason="end_turn")
    store.append(AssistantMessageDone(message=answer))
    store.append(TurnEnded(stop_reason="end_turn"))
store.sync()
store.close()
