"""Checks of the kinds of arguments at public functions."""

import functools
import inspect
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from .errors import Error

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Kind = type | tuple[type, ...] | str
"""Class, classes, or the name of a class with its package, which need not be imported."""

PATH: Kind = (str, os.PathLike)
"""The kinds of paths."""

_ABSENT = object()

_BY_ANNOTATION: dict[str, tuple[Callable[[Any], bool], str]] = {
    # The truth values of numpy, which is not imported here, count as Python's.
    "bool": (
        lambda one: isinstance(one, int) or type(one).__name__ in ("bool", "bool_"),
        "True or False",
    ),
    "bool | Literal['only']": (lambda one: isinstance(one, bool | str), "True, False or 'only'"),
    "BaseDir": (
        lambda one: one is None or isinstance(one, str | os.PathLike),
        "the path of a folder",
    ),
    "OnProgress": (callable, "a function of stage, text, number done and total"),
    "Operators": (
        lambda ones: (
            isinstance(ones, Sequence)
            and all(isinstance(one, type) and hasattr(one, "op_domain") for one in ones)
        ),
        "a list of classes of onnx.reference.op_run.OpRun",
    ),
    "LinkData": (
        lambda one: isinstance(one, str) and one in ("reference", "hard"),
        "'reference' or 'hard'",
    ),
    "Watch": (callable, "a function of node, inputs and results"),
    **dict.fromkeys(
        ("Equality", "RuntimeChoice", "Unproved"),
        (lambda one: isinstance(one, str), "text"),
    ),
    **dict.fromkeys(
        ("Branches", "Dims", "Mapping[str, Any]", "Maxima", "SampleShapes", "Shapes", "Values"),
        (
            lambda one: isinstance(one, Mapping) and all(isinstance(key, str) for key in one),
            'a mapping by name, such as {"x": ...}',
        ),
    ),
}
"""A test, and its words, of the arguments with an annotation."""


class KindError(Error, TypeError):
    """An argument of a kind that the function does not accept."""


def takes(**kinds: Kind) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Check the kinds of some arguments at each call of a function.

    Args:
        kinds: the class or classes of each argument, by name.

    Raises:
        KindError: at a call with an argument of another kind.
    """

    def decorate(call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        places = {name: place for place, name in enumerate(inspect.signature(call).parameters)}
        checks = tuple((places[name], name, kind) for name, kind in kinds.items())

        @functools.wraps(call)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            for place, name, kind in checks:
                value: Any = args[place] if place < len(args) else kwargs.get(name, _ABSENT)
                if not isinstance(value, _classes(kind)) and value is not _ABSENT:
                    raise KindError(_text(call.__name__, name, kind, value))
            return call(*args, **kwargs)

        return checked

    return decorate


def require_kinds(arguments: Mapping[str, Any], annotations: Mapping[str, str]) -> None:
    """Check the kinds of arguments by their annotations, as text.

    Raises:
        KindError: an argument is of another kind.
    """
    for name, annotation in annotations.items():
        fits, words = _BY_ANNOTATION.get(annotation.removesuffix(" | None"), (None, ""))
        value = arguments.get(name)
        is_default = value is None and (annotation.endswith("None") or name not in arguments)
        if fits is not None and not (is_default or fits(value)):
            raise KindError(f"{name} must be {words}, not {short(value)}")


def paths(name: str, values: Iterable[Any]) -> set[Path]:
    """Return the paths of an argument.

    Raises:
        KindError: it is no list of paths.
    """
    try:
        if isinstance(values, str):
            raise TypeError(values)
        return {Path(each) for each in values}
    except TypeError as error:
        raise KindError(f"{name} must be a list of paths, not {short(values)}") from error


def short(value: object) -> str:
    """Return a value as a line for a message, cut if long."""
    return " ".join(reprlib.repr(value).split())


def _classes(kind: Kind) -> type | tuple[type, ...]:
    """The classes of a kind; none of a package that is not imported, and so without objects."""
    if not isinstance(kind, str):
        return kind
    package, _, name = kind.partition(".")
    return getattr(sys.modules.get(package), name, ())


def _text(function: str, name: str, kind: Kind, value: object) -> str:
    classes = _classes(kind)
    names = [each.__name__ for each in (classes if isinstance(classes, tuple) else (classes,))]
    kinds = " or ".join(names or [str(kind)])
    return f"{function}: '{name}' must be {kinds}, not {type(value).__name__}"
