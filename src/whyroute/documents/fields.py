"""Field types of the wire models: numbers that are read as doubles, and the base class."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from ..basics.issues import Issue, tokens_of
from ..basics.numbers import Number as PlainNumber, as_double

__all__ = [
    "BROKEN",
    "Amount",
    "Count",
    "FilledList",
    "FilledText",
    "Listed",
    "Names",
    "Number",
    "OrAbsent",
    "OrNone",
    "PositiveInteger",
    "Text",
    "WireModel",
    "broken",
    "expected",
    "refused",
    "wire_name",
]

T = TypeVar("T")

BROKEN: Final = "broken"
"""The type of the errors that `broken` and `expected` make, in pydantic's list of errors."""


def broken(message: str, code: str = "") -> PydanticCustomError:
    """What a validator raises: a ValueError that pydantic tells in these very words, without words of its own."""
    return PydanticCustomError(BROKEN, "{message}", {"message": message, "code": code})


def expected(message: str, wants: str) -> PydanticCustomError:
    """What a validator of one field raises that only says what it expects, and of which type that is."""
    return PydanticCustomError(BROKEN, "{message}", {"message": message, "wants": wants})


def refused(model: type[BaseModel], issues: Iterable[Issue], document: Any) -> ValidationError:
    """What a validator raises for the issues that a reader of its own finds in a document, each at its place."""
    details: list[InitErrorDetails] = []
    for issue in issues:
        place, value = [], document
        for token in tokens_of(issue.path):
            index: str | int = int(token) if isinstance(value, list | tuple) and token.isdecimal() else token
            place.append(index)
            try:
                value = value[index]
            except (LookupError, TypeError):
                value = None
        details.append({"type": broken(issue.message, issue.code), "loc": tuple(place), "input": value})
    return ValidationError.from_exception_data(model.__name__, details)


_WIRE_NAMES = {
    "prompt_usd_per_1k_tokens": "promptUsdPer1kTokens",
    "completion_usd_per_1k_tokens": "completionUsdPer1kTokens",
    "json_schema": "schema",
}


def wire_name(name: str) -> str:
    """The wire name of a field: camelCase, but for a few.

    Names come from here and not from `Field(alias=...)`, which type checkers take for the name of the argument.
    """
    return _WIRE_NAMES.get(name) or to_camel(name)


class WireModel(BaseModel):
    """Frozen; camelCase on the wire, snake_case in Python; unknown keys are errors."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", alias_generator=wire_name, validate_by_name=True, validate_by_alias=True
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values in some fields, validated: pydantic's own checks nothing."""
        if not update:
            return super().model_copy(deep=deep)
        held = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self).model_validate({**held, **update}, by_alias=False, by_name=True)

    def to_dict(self) -> dict[str, Any]:
        """The value as it goes over the wire, without what is absent."""
        return self.model_dump(by_alias=True, exclude_unset=True, mode="json")


def _reader(*, integer: bool, at_least: int | None, right: str) -> Callable[[Any], PlainNumber]:
    wants = "integer" if integer else "number"

    def read(value: Any) -> PlainNumber:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise expected(right, wants)
        number = as_double(int(value) if isinstance(value, int) else float(value))
        if not math.isfinite(number):
            raise expected(f"{right}, and finite", wants)
        if (integer and isinstance(number, float) and not number.is_integer()) or (
            at_least is not None and number < at_least
        ):
            raise expected(right, wants)
        return number

    return read


def _schema(kind: str, minimum: int | None) -> WithJsonSchema:
    return WithJsonSchema({"type": kind} if minimum is None else {"type": kind, "minimum": minimum})


# An integral double is an integer on the wire, 200000.0 too; a boolean is not a number.
Number = Annotated[
    PlainNumber,
    PlainValidator(_reader(integer=False, at_least=None, right="a number is expected")),
    _schema("number", None),
]
"""A finite number."""

Amount = Annotated[
    PlainNumber,
    PlainValidator(_reader(integer=False, at_least=0, right="a number of at least 0 is expected")),
    _schema("number", 0),
]
"""A finite number of at least 0."""

Count = Annotated[
    PlainNumber,
    PlainValidator(_reader(integer=True, at_least=0, right="an integer of at least 0 is expected")),
    _schema("integer", 0),
]
"""An integer of at least 0."""

PositiveInteger = Annotated[
    PlainNumber,
    PlainValidator(_reader(integer=True, at_least=1, right="an integer of at least 1 is expected")),
    _schema("integer", 1),
]
"""An integer of at least 1."""


def _text(least: int) -> GetPydanticSchema:
    # A length, even of 0, makes pydantic look into the text and refuse half a surrogate pair.
    return GetPydanticSchema(lambda source, handler: core_schema.str_schema(strict=True, min_length=least))


Text = Annotated[str, _text(0), WithJsonSchema({"type": "string"})]
"""Text that JSON can hold; nothing else is made into it."""

FilledText = Annotated[str, _text(1), WithJsonSchema({"type": "string", "minLength": 1})]
"""Such text, and not empty."""


def _not_null(value: Any) -> Any:
    if value is None:
        raise broken("leave it out", Issue.NULL)
    return value


def _is_none(value: Any) -> bool:
    return value is None


OrNone = Annotated[T | None, Field(exclude_if=_is_none)]
"""A value that may be left out, and is None then; dumps leave it out again."""

OrAbsent = Annotated[T | None, BeforeValidator(_not_null), Field(exclude_if=_is_none)]
"""The same, where null on the wire is refused: it never means "no limit"."""


def _as_tuple(value: Any) -> Any:
    if isinstance(value, list | tuple | str | bytes) or not isinstance(value, Sequence):
        return value
    return tuple(value)


def _tuple(least: int) -> GetPydanticSchema:
    def schema(source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        (item,) = get_args(source)
        items = core_schema.tuple_schema(
            [handler.generate_schema(item)], variadic_item_index=0, min_length=least or None
        )
        return core_schema.no_info_before_validator_function(_as_tuple, items)

    return GetPydanticSchema(schema)


Listed = Annotated[Sequence[T], _tuple(0)]
"""A tuple that is made from any sequence; for type checkers it is a sequence, so that they take a list."""

FilledList = Annotated[Sequence[T], _tuple(1)]
"""Such a tuple, and not empty."""


def _ordered(value: Any) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise expected("a list of strings is expected", "list")
    return value


Names = Annotated[Listed[str], BeforeValidator(_ordered)]
"""A list of names. Their order shows in labels, so a set is refused."""
