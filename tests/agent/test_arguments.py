from typing import Any

import pytest
from agent_fakes import ECHO, tool
from pydantic import BaseModel, ConfigDict, field_validator

from tui_agent.agent import Tool, ToolError, validate_tool_arguments


class Page(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    path: str
    limit: int = 10


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, ["text", "required"]),
        ({"text": 3}, ["text", "string", "integer 3"]),
        ({"text": None}, ["text", "string", "null"]),
        ({"text": ["a"]}, ["text", "string", "array"]),
    ],
)
def test_a_schema_names_the_field_what_was_expected_and_what_came(
    arguments: dict[str, Any], names: list[str]
) -> None:
    with pytest.raises(ToolError) as caught:
        validate_tool_arguments(tool(parameters=ECHO), arguments)
    assert all(name in str(caught.value) for name in names)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, ["path", "string", "nothing came"]),
        ({"path": 3}, ["path", "string", "integer 3"]),
        ({"path": "a", "limit": "x"}, ["limit", "integer", "string 'x'"]),
        ({"path": "a", "limti": 3}, ["limti", "path, limit"]),
    ],
)
def test_a_model_names_the_field_what_was_expected_and_what_came(
    arguments: dict[str, Any], names: list[str]
) -> None:
    with pytest.raises(ToolError) as caught:
        validate_tool_arguments(tool(parameters=Page), arguments)
    assert all(name in str(caught.value) for name in names)


def test_a_model_comes_back_as_its_instance() -> None:
    assert validate_tool_arguments(tool(parameters=Page), {"path": "a"}) == Page(path="a")


def test_a_dict_comes_back_as_a_copy_that_later_changes_cannot_reach() -> None:
    arguments = {"text": "a", "more": {"deep": [1]}}
    checked = validate_tool_arguments(tool(parameters=ECHO), arguments)
    arguments["more"]["deep"].append(2)
    assert checked == {"text": "a", "more": {"deep": [1]}}


@pytest.mark.parametrize("arguments", [[], "ls", 3, None, True])
def test_what_is_no_object_is_refused(arguments: Any) -> None:
    for parameters in (ECHO, Page):
        with pytest.raises(ToolError, match="object"):
            validate_tool_arguments(tool(parameters=parameters), arguments)


def test_a_broken_schema_of_the_host_is_an_error_and_no_crash() -> None:
    with pytest.raises(ToolError, match="schema is broken"):
        validate_tool_arguments(tool(parameters={"type": "no such type"}), {})


def test_no_reference_is_looked_up_elsewhere() -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    with pytest.raises(ToolError, match="schema is broken"):
        validate_tool_arguments(tool(parameters=schema), {"x": 1})


DEEP: dict[str, Any] = {}
_inner = DEEP
for _ in range(3000):
    _inner["a"] = {}
    _inner = _inner["a"]


class Loose(BaseModel):
    more: dict[str, Any]


class Picky(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def fail(cls, value: int) -> int:
        raise RuntimeError("the validator broke")


@pytest.mark.parametrize(
    ("parameters", "arguments"),
    [
        ({"type": "object"}, DEEP),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": DEEP}),
        ({"type": "object", "properties": {"n": {"type": "string"}}}, {"n": 10**5000}),
        ({"type": "object", "properties": {"n": {"multipleOf": 0.1}}}, {"n": 10**400}),
        ({"$ref": "#"}, {}),
        (Picky, {"n": 1}),
    ],
)
def test_what_no_check_can_take_is_an_error_too(parameters: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="nothing ran"):
        validate_tool_arguments(Tool("t", "d", parameters), arguments)


def test_names_from_the_model_cannot_flood_the_error() -> None:
    schema = {"type": "object", "properties": {"n": {}}, "additionalProperties": False}
    with pytest.raises(ToolError) as caught:
        validate_tool_arguments(Tool("t", "d", schema), {f"field{n}" * 9: 1 for n in range(9000)})
    assert len(str(caught.value)) < 1000


def test_either_of_several_kinds_is_named() -> None:
    schema = {"type": "object", "properties": {"n": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    with pytest.raises(ToolError, match="n: expected string or null, got integer 5"):
        validate_tool_arguments(Tool("t", "d", schema), {"n": 5})


@pytest.mark.parametrize("parameters", [{"type": "object"}, Loose])
def test_what_a_tool_does_to_its_arguments_leaves_the_call_alone(parameters: Any) -> None:
    call = {"more": {"x": [1]}}
    given = validate_tool_arguments(Tool("t", "d", parameters), call)
    (given["more"] if isinstance(given, dict) else given.more)["x"].append(2)
    assert call == {"more": {"x": [1]}}
