"""Are a call's arguments what the tool declared?

Nothing is coerced and nothing is unwrapped: an argument object that looks like another call is just an
object, which fits the tool's own schema or does not.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ValidationError

from tui_agent.agent.errors import ToolError
from tui_agent.agent.results import said
from tui_agent.agent.tool import Tool

SHOWN = 60
"""Characters of a wrong value that an error repeats."""
PROBLEM = 600
"""Characters of one problem: names of fields come from the model, too."""

_validators: WeakKeyDictionary[Tool, Any] = WeakKeyDictionary()


def validate_tool_arguments(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | BaseModel:
    """The arguments as the tool gets them: a model instance, or a dict, that shares nothing with the call.

    Raises `ToolError` that names each wrong field, what was expected and what came.
    """
    if not isinstance(arguments, dict):
        raise _invalid(tool, [f"the arguments: expected an object, got {_shown(arguments)}"])
    try:
        return _validated(tool, copy.deepcopy(arguments))
    except ToolError:
        raise
    except RecursionError:
        raise _invalid(tool, ["the arguments: nested too deeply to be checked"]) from None
    except Exception as error:  # numbers that no check can take, a validator of the embedder's that fails
        raise _invalid(tool, [f"the arguments: they can't be checked ({_short(said(error))})"]) from None


def _validated(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any] | BaseModel:
    parameters = tool.parameters
    if isinstance(parameters, dict):
        problems = list(_schema_problems(tool, arguments))
        if problems:
            raise _invalid(tool, problems)
        return arguments
    try:
        return parameters.model_validate(arguments)
    except ValidationError as error:
        raise _invalid(tool, _model_problems(tool, error)) from None


def _invalid(tool: Tool, problems: Sequence[str]) -> ToolError:
    lines = "\n".join(f"- {_short(problem, PROBLEM)}" for problem in problems[:10])
    return ToolError(
        f"invalid arguments for {tool.name}; nothing ran:\n{lines}\nSend the call again as it is declared."
    )


def _model_problems(tool: Tool, error: ValidationError) -> list[str]:
    properties = tool.schema.get("properties", {})
    problems = []
    for item in error.errors(include_url=False):
        field = _dotted(item["loc"]) or "the arguments"
        if item["type"] == "missing":
            expected = _expected(properties.get(field, {}))
            problems.append(f"{field}: required ({expected}), but nothing came")
        elif item["type"] == "extra_forbidden":
            problems.append(f"{field}: not a parameter; expected only {', '.join(properties) or 'none'}")
        else:
            expected = item["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
            problems.append(f"{field}: expected {expected}, got {_shown(item['input'])}")
    return problems


def _schema_problems(tool: Tool, arguments: dict[str, Any]) -> Iterable[str]:
    from referencing.exceptions import Unresolvable

    validator = _validators.get(tool)
    if validator is None:
        validator = _validators[tool] = _validator(tool.schema)
    try:
        for error in validator.iter_errors(arguments):
            field = _dotted(error.absolute_path) or "the arguments"
            if error.validator in ("required", "additionalProperties"):
                yield f"{field}: {error.message}; expected {_properties(error.schema)}"
            else:
                expected = _expected(error.schema)
                yield f"{field}: expected {expected}, got {_shown(error.instance)} ({_short(error.message)})"
    except Unresolvable as error:
        raise ToolError(f"the tool's own schema is broken, so it cannot be called: {error}") from None


def _validator(schema: dict[str, Any]) -> Any:
    import jsonschema  # costs 55 ms, and only embedders' tools need it
    import referencing

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ToolError(f"the tool's own schema is broken, so it cannot be called: {error.message}") from None
    empty: referencing.Registry[Any] = referencing.Registry()  # so that no `$ref` is looked up elsewhere
    return kind(schema, registry=empty)


def _properties(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "nothing else"
    required = set(schema.get("required", ()))
    names = [
        f"{name} ({_expected(part)}{', required' if name in required else ''})"
        for name, part in schema.get("properties", {}).items()
    ]
    return ", ".join(names) or "an empty object"


def _expected(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "a value"
    if "enum" in schema:
        return "one of " + ", ".join(map(repr, schema["enum"]))
    if "const" in schema:
        return repr(schema["const"])
    either = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(either, list):
        return " or ".join(map(_expected, either))
    kind = schema.get("type", "a value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _shown(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    kind = "null" if value is None else names.get(type(value), type(value).__name__)
    return kind if value is None else f"{kind} {_short(repr(value))}"


def _short(text: str, length: int = SHOWN) -> str:
    return text if len(text) <= length else text[:length] + "…"


def _dotted(location: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in location)
