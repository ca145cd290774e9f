"""Calling functions that are not ours: an async one on the loop, a sync one in a daemon thread.

The thread is a daemon so that a tool that never returns can't keep the program from ending.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from tui_agent.agent.errors import ToolError

T = TypeVar("T")


async def call(function: Callable[..., Any], *args: Any) -> Any:
    """What `function` returns, or what the awaitable that it returns gives."""
    if inspect.iscoroutinefunction(function):
        return await contained(function(*args))
    result = await in_thread(function, *args)
    return await contained(result) if inspect.isawaitable(result) else result


async def contained(work: Awaitable[T]) -> T:
    """What `work` gives. It can fail, but not end the program, nor cancel its host from within."""
    try:
        return await work
    except (Exception, KeyboardInterrupt):
        raise
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # it is the host's
        raise ToolError("it was cancelled from within") from None
    except BaseException as exit:
        raise _tried_to_exit(exit) from None


def _tried_to_exit(exit: BaseException) -> ToolError:
    return ToolError(f"the function tried to exit: {exit!r}")


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Run it in a daemon thread, with the caller's context variables."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = copy_context()

    def settle(value: Any, error: Exception | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(value)
        else:
            done.set_exception(error)

    def work() -> None:
        value: Any = None
        error: Exception | None = None
        try:
            value = context.run(function, *args)
        except StopIteration as stop:  # a future can't carry it
            error = ToolError(f"the function ended with {stop!r}")
        except Exception as raised:
            error = raised
        except BaseException as exit:  # SystemExit would end the program, not the call
            error = _tried_to_exit(exit)
        with suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name=f"call {getattr(function, '__name__', '')}", daemon=True).start()
    return await done
