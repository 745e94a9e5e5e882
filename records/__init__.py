"""Dataclasses whose methods cost nothing until an object is made.

`dataclasses.dataclass` compiles six functions for a frozen class, in a third of a millisecond; a
command imports 150 classes and makes objects of 60. Here `__init__` is compiled when someone asks
for it, and the other methods read fields by name:

    @record(frozen=True)
    class Slice:
        start: int
        stop: int | None = None
"""

from __future__ import annotations

import dataclasses
import functools
import reprlib
from operator import attrgetter

__all__ = ["record"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record
    from typing import Any
else:

    def record(cls=None, /, *, frozen=False, eq=True):
        """Make a dataclass; the options are those of `dataclasses.dataclass`."""
        if cls is None:
            return functools.partial(record, frozen=frozen, eq=eq)
        own = {name for name, value in vars(cls).items() if value is not None}
        # The option compiles two methods; what needs it is the check against a frozen base.
        inherits = frozen and dataclasses.is_dataclass(cls)
        dataclasses.dataclass(init=False, repr=False, eq=False, frozen=inherits)(cls)
        cls.__dataclass_params__.frozen = frozen
        methods = {"__init__": _Initializer(cls), "__repr__": _repr}
        methods |= _comparison(cls, frozen) if eq else {}
        methods |= _refusals(cls) if frozen else {}
        for name in methods.keys() - own:
            setattr(cls, name, methods[name])
        return cls


class _Initializer:
    """`__init__` of a record, compiled for the first who calls it or reads its signature."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        cls: Any = self.cls
        cls.__init__ = _initializer(cls)
        return cls.__init__.__get__(instance, owner)


class _Factory:
    """Default of a parameter whose value a function makes."""

    def __repr__(self) -> str:
        return "<factory>"


def _initializer(cls: Any) -> Any:
    """Compile `__init__` as `dataclasses` does."""
    scope = {"__name__": cls.__module__, "_set_field": object.__setattr__, "_factory": _Factory()}
    setting = (
        "_set_field(self, {0!r}, {1})" if cls.__dataclass_params__.frozen else "self.{0} = {1}"
    )
    parameters, keywords, lines = ["self"], ["*"], []
    for field in dataclasses.fields(cls):
        name, value, default = field.name, field.name, ""
        if field.default_factory is not dataclasses.MISSING:
            scope[f"_default_{name}"], default = field.default_factory, "=_factory"
            new = f"_default_{name}()"
            value = f"{new} if {name} is _factory else {name}" if field.init else new
        elif field.default is not dataclasses.MISSING:
            scope[f"_default_{name}"], default = field.default, f"=_default_{name}"
        if field.init:
            (keywords if field.kw_only else parameters).append(name + default)
        if field.init or value is not name:
            lines.append(setting.format(name, value))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    heads = ", ".join(parameters + keywords * (len(keywords) > 1))
    exec(f"def __init__({heads}):\n " + "\n ".join(lines or ["pass"]), scope)
    method: Any = scope["__init__"]
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    types = {field.name: field.type for field in dataclasses.fields(cls) if field.init}
    method.__annotations__ = {**types, "return": None}
    return method


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    fields = [field.name for field in dataclasses.fields(self) if field.repr]
    values = ", ".join([f"{name}={getattr(self, name)!r}" for name in fields])
    return f"{type(self).__qualname__}({values})"


def _reader(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """Return a function that reads fields as a tuple; `attrgetter` makes one from two names on."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _comparison(cls: Any, frozen: bool) -> dict[str, Any]:
    """Return `__eq__` and `__hash__` by the fields that compare."""
    fields = dataclasses.fields(cls)
    compared = _reader([field.name for field in fields if field.compare])

    def __eq__(self: object, other: object) -> bool:
        same = other.__class__ is self.__class__
        return compared(self) == compared(other) if same else NotImplemented

    def __hash__(self: object) -> int:
        return hash(compared(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _refusals(cls: Any) -> dict[str, Any]:
    """Return the methods that keep fields of a frozen class as they are."""
    names = {field.name for field in dataclasses.fields(cls)}

    def refuse(self: object, name: str, action: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot {action} field {name!r}")

    def __setattr__(self: object, name: str, value: object) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}
