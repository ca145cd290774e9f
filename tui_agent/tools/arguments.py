"""The base of our tools' arguments: nothing unknown, nothing guessed.

Strict, with one courtesy: models write whole numbers as `10.0`, `"+10"` or `" 10 "`, and those mean one
thing only. `true` is not 1, `"yes"` is not true, and a missing argument is never the empty value.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,30}(\.0+)?\s*", re.ASCII)


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value.strip().partition(".")[0])
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise PydanticCustomError("string_type", "Input should be a valid string")


def _sendable(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("string_unicode", "valid Unicode without lone surrogates") from None
    return value


def _without_nul(value: str) -> str:
    if "\0" in value:
        raise PydanticCustomError("string_nul", "text without NUL characters (run_command can make binaries)")
    return value


Text = Annotated[str, AfterValidator(_sendable)]
"""Text that can be written to a file or handed to a program."""

FileText = Annotated[Text, AfterValidator(_without_nul)]
"""Text of a file: with a NUL it would be a binary, and nobody could see in a diff what is written."""

Whole = Annotated[int, BeforeValidator(_whole)]
"""An int that also comes as a harmless disguise of one. Bound it with `Field(ge=…, le=…)`."""

PathText = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": "string"})]
"""A path as the model wrote it, lone surrogates included: the workspace decides what it can be."""


class Arguments(BaseModel):
    """Subclass it with one field a parameter; describe what the name does not say."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
