"""Records against dataclasses: the same behaviour, without compiled methods before an object."""

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest
from source_files import ROOT, sources
from straightline.records import _Initializer, record
from tables import table


def sized(decorator):
    """A class with every kind of field."""

    @decorator
    class Sized:
        length: int
        names: list = dataclasses.field(default_factory=list)
        hidden: Any = dataclasses.field(default=None, repr=False, compare=False)
        count: int = dataclasses.field(default=0, init=False)
        places: list = dataclasses.field(default_factory=lambda: [1], init=False)
        last: int = dataclasses.field(default=3, kw_only=True)

        def __post_init__(self):
            object.__setattr__(self, "length", self.length + 1)

    return Sized


def own(decorator):
    """A class with methods of its own."""

    @decorator
    class Own:  # noqa: PLW1641
        value: int = 0

        def __repr__(self):
            return "own"

        def __eq__(self, other):
            return True

        def __init__(self):
            pass

    return Own


def classes(make, options):
    """Make one class as a dataclass and as a record."""
    return (make(decorator(**options)) for decorator in (dataclasses.dataclass, record))


def attempt(call):
    """The result of a call, or the type and the words of its error."""
    try:
        return call()
    except (AttributeError, TypeError) as error:
        return type(error), str(error)


def behaviour(cls):
    """Everything that a program may ask a class with fields."""
    value, same, other = cls(2), cls(2, hidden=5), cls(4, ["a"], last=1)
    yield [(f.name, f.type, f.init, f.repr, f.compare, f.kw_only) for f in dataclasses.fields(cls)]
    yield str(inspect.signature(cls)), cls.__init__.__annotations__, cls.__match_args__
    yield repr(value), repr(other), value == same, value == other, value == 3, value != same
    yield vars(value), vars(other), cls.count, value.names is same.names
    yield attempt(lambda: hash(cls(2, ())) == hash(cls(2, (), 7)))
    for call in (cls, lambda: cls(1, 2, 3, 4), lambda: cls(1, wrong=2)):
        yield attempt(call)
    for name in ("length", "unknown"):
        yield attempt(lambda name=name: setattr(value, name, 1)), vars(value)
    yield attempt(lambda: delattr(other, "last")), vars(other)
    yield attempt(lambda: dataclasses.asdict(same)), dataclasses.is_dataclass(cls)
    if vars(cls).get("__hash__") or not cls.__dataclass_params__.frozen:
        yield vars(dataclasses.replace(cls(3), length=5, last=8))
    yield vars(copy.copy(cls(3)))


@table(
    ({},), ({"frozen": True},), ({"eq": False},), ({"frozen": True, "eq": False},)
)  # fmt: skip
def test_a_record_behaves_as_a_dataclass(options):
    expected, actual = (list(behaviour(cls)) for cls in classes(sized, options))
    assert actual == expected


@pytest.mark.parametrize("frozen", [False, True])
def test_methods_of_the_class_stay(frozen):
    expected, actual = (
        (repr(cls()), cls() == 5, attempt(lambda cls=cls: hash(cls())))
        for cls in classes(own, {"frozen": frozen})
    )
    assert actual == expected


@record(frozen=True)
class Base:
    first: int


@record(frozen=True)
class Derived(Base):
    second: int = 2


def test_records_inherit_fields_and_what_is_frozen():
    value = Derived(1)
    assert repr(value) == "Derived(first=1, second=2)"
    assert value != Base(1)
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(dataclasses.FrozenInstanceError, match="assign to field 'first'"):
        value.first = 3
    with pytest.raises(TypeError, match="non-frozen dataclass from a frozen one"):
        record(type("Loose", (Base,), {}))
    outside = dataclasses.dataclass(frozen=True)(type("Outside", (Base,), {}))
    assert outside(1) == outside(1)


def test_an_initializer_is_compiled_at_its_first_use():
    cls = record(frozen=True)(type("Late", (), {"__annotations__": {"value": int}}))
    assert isinstance(vars(cls)["__init__"], _Initializer)
    assert cls(value=3).value == 3
    assert inspect.isfunction(vars(cls)["__init__"])


def test_shipped_dataclasses_are_records():
    """Classes with slots or without an initializer are exempt: `record` has no such options."""
    files = {f for f in sources() if "dataclasses.dataclass(" in (ROOT / f).read_text("utf-8")}
    others = {"execution/compile_graph.py", "terms/term.py"}
    prover = {f"verification/proof/{name}" for name in others}
    assert files == {"records/__init__.py", "facts/fact.py", *prover}
