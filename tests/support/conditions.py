"""Conditions of passes: what a pass needs, keeps and establishes, checked before and after it."""

import dataclasses
from collections.abc import Iterator

import pytest
from straightline import ir
from straightline.passes import watching
from straightline.passes.base import MAY_BE_CONTROL_FLOW, PARTS, Pass
from straightline.version_converter.kept_signs import lossy_selects, selects_of


@dataclasses.dataclass(frozen=True)
class State:
    """What the conditions of passes speak of in a model."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: tuple[int, ...]
    opsets: dict[str, int]
    functions: frozenset[ir.FunctionKey]
    operators: frozenset[str]
    nodes: int
    selects: frozenset[ir.Operator]

    @classmethod
    def of(cls, model: ir.Model) -> "State":
        """Read the state of a model."""
        infos = model.graph.output_infos
        return cls(
            tuple(value.name for value in model.graph.inputs),
            tuple(info.name for info in infos),
            tuple(info.type.tensor_type.elem_type for info in infos),
            dict(model.opset_imports),
            frozenset(model.functions),
            frozenset(set().union(*(graph.kinds() for graph in model.graphs()))),
            sum(len(graph) for graph in model.graphs()),
            selects_of(model),
        )


class Conditions:
    """Watcher that checks the conditions of each pass.

    Raises:
        AssertionError: a pass broke the graph, changed a part that it declares to keep, added
            control flow that it does not declare, or left what it declares to remove.
    """

    def __init__(self) -> None:
        self._states: list[State] = []

    def before(self, pass_: Pass, model: ir.Model) -> None:
        """Read the state before a pass."""
        self._states.append(State.of(model))

    def after(self, pass_: Pass, model: ir.Model, changed: bool) -> None:
        """Compare with the state after a pass; passes inside of passes are checked first."""
        old, new, name = self._states.pop(), State.of(model), pass_.name
        if changed:
            ir.verify(model)
        assert changed or old == new, f"{name} denies that it changed the model"
        for part in PARTS:
            if not any(part in one.changes for one in _parts_of(pass_)):
                assert getattr(old, part) == getattr(new, part), f"{name} changed the {part}"
        declared = zip(old.types, new.types, strict=False)
        assert all(type_ in (0, other) for type_, other in declared), f"{name} changed a type"
        added = (new.operators - old.operators) & set(MAY_BE_CONTROL_FLOW)
        added -= {op_type for one in _parts_of(pass_) for op_type in one.adds}
        assert not added, f"{name} added {sorted(added)}"
        assert new.nodes <= old.nodes or not pass_.cleans_up, f"{name} added nodes"
        lost = sorted({node.label for node in lossy_selects(model) if node.op not in old.selects})
        assert not lost, f"{name} may lose signs of zeros in {lost}: write `Builder.select`"
        broken = pass_.violation(model)
        assert broken is None, f"{name} left {broken}"


def _parts_of(value: object) -> Iterator[Pass]:
    """A pass, and the passes that it is made of."""
    if isinstance(value, Pass):
        yield value
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, list | tuple):
        for one in value:
            yield from _parts_of(one)


@pytest.fixture(autouse=True)
def conditions() -> Iterator[None]:
    """Hold every pass of a pipeline to its conditions; a conftest imports it."""
    with watching(Conditions()):
        yield
