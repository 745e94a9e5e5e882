"""Values of parameters without pydantic, which typer imports to convert any of them.

typer makes an adapter of pydantic for each parameter, also for those that are left out: its import
and 60 adapters take 0.1 s, a fifth of a small rewrite. What needs none is converted here: absent
values, switches, and texts for which a parameter has a parser of its own.
"""

from collections.abc import Callable
from typing import Any

_NONE = object()


def convert_plainly(parameters: list[Any]) -> list[Any]:
    """Let parameters of typer convert by themselves what needs no adapter, and return them."""
    for parameter in parameters:
        # An older typer has no descriptors, and knows no pydantic.
        if hasattr(parameter, "type_descriptor") and "process_value" not in vars(parameter):
            _convert_plainly(parameter)
    return parameters


def _convert_plainly(parameter: Any) -> None:
    parser: Callable[[Any], Any] | None = parameter.type_descriptor.parameter_info.parser
    convert = parameter.process_value

    def process_value(context: Any, value: Any) -> Any:
        plain = _plain(parameter, parser, value)
        if plain is _NONE:
            return convert(context, value)
        return (
            plain if parameter.callback is None else parameter.callback(context, parameter, plain)
        )

    parameter.process_value = process_value


def _plain(parameter: Any, parser: Callable[[Any], Any] | None, value: Any) -> Any:
    """Return a converted value; `_NONE` where typer must convert it."""
    is_many = parameter.multiple or parameter.nargs == -1
    if value is None:
        return _NONE if parameter.required else () if is_many else None
    if isinstance(value, bool) or getattr(parameter, "count", False):
        return value
    if parser is None or (not is_many and not isinstance(value, str | int)):
        return _NONE
    if not is_many:
        return parser(value)
    return [parser(one) for one in value] if value or not parameter.required else _NONE
