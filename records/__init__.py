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
from dataclasses import asdict, astuple, field, replace
from operator import attrgetter

__all__ = ["asdict", "astuple", "entry", "field", "record", "replace"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record
    from typing import Any, TypeVar

    K = TypeVar("K")
    V = TypeVar("V")
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


def entry(table: dict[K, V], *keys: K) -> Callable[[V], V]:
    """A decorator that stores a function in a table under new keys."""

    def register(function: V) -> V:
        assert not table.keys() & set(keys), keys
        table.update(dict.fromkeys(keys, function))
        return function

    return register


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
    parameters, keywords, lines, types = ["self"], ["*"], [], {}
    for each in dataclasses.fields(cls):
        name, value, default = each.name, each.name, f"_default_{each.name}"
        head = f"{name}={default}"
        if each.default_factory is not dataclasses.MISSING:
            scope[default], head = each.default_factory, f"{name}=_factory"
            value = (
                f"{default}() if {name} is _factory else {name}" if each.init else f"{default}()"
            )
        elif each.default is not dataclasses.MISSING:
            scope[default] = each.default
        else:
            head = name
        if each.init:
            (keywords if each.kw_only else parameters).append(head)
            types[name] = each.type
        if each.init or value is not name:
            is_frozen = cls.__dataclass_params__.frozen
            lines.append(
                f"_set_field(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}"
            )
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    heads = ", ".join(parameters + keywords * (len(keywords) > 1))
    exec(f"def __init__({heads}):\n " + "\n ".join(lines or ["pass"]), scope)
    method: Any = scope["__init__"]
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__annotations__ = {**types, "return": None}
    return method


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    values = [f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr]
    return f"{type(self).__qualname__}({', '.join(values)})"


def _comparison(cls: Any, frozen: bool) -> dict[str, Any]:
    """Return `__eq__` and `__hash__` by the fields that compare."""
    names = [each.name for each in dataclasses.fields(cls) if each.compare]
    if len(names) > 1:
        values: Any = attrgetter(*names)
    else:  # of one name it returns no tuple
        values = lambda self: tuple([getattr(self, name) for name in names])  # noqa: E731

    def __eq__(self: object, other: object) -> bool:
        same = other.__class__ is self.__class__
        return values(self) == values(other) if same else NotImplemented

    return {"__eq__": __eq__, "__hash__": (lambda self: hash(values(self))) if frozen else None}


def _refusals(cls: Any) -> dict[str, Any]:
    """Return the methods that keep fields of a frozen class as they are."""

    def refusal(method: str, action: str) -> Any:
        def refuse(self: object, name: str, *value: object) -> None:
            if type(self) is cls or name in cls.__dataclass_fields__:
                raise dataclasses.FrozenInstanceError(f"cannot {action} field {name!r}")
            getattr(super(cls, self), method)(name, *value)

        return refuse

    actions = {"__setattr__": "assign to", "__delattr__": "delete"}
    return {method: refusal(method, action) for method, action in actions.items()}
