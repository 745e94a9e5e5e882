"""The models: those with control flow that stand in the repository and in onnx's own tests.

A model counts where a rewrite leaves none of its control flow: as it is, else with selects, else
with the shapes and the whole numbers that it is fed with, as a compiler is told them.
"""

import dataclasses
import importlib.util
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
import onnx.parser
import straightline as sl
from onnx import numpy_helper

from ..loops.collection import cases

_LARGEST = 500
"""Nodes; compilers take minutes for what a loop of hundreds of iterations becomes."""
_EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Values = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Source:
    """A model with control flow, and what it is fed with."""

    name: str
    model: onnx.ModelProto
    feeds: Values


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    """A model whose control flow a rewrite removes.

    Attributes:
        name: how it is called.
        before: the model, with the shapes that the rewrite was told.
        after: the rewritten model.
        feeds: the inputs of the one; `remaining` those of the other.
        bound: values of inputs that the rewrite was told.
        passes: the pipeline that removes the control flow; None for the default one.
        expected: the outputs.
    """

    name: str
    before: onnx.ModelProto
    after: onnx.ModelProto
    feeds: Values
    bound: Values
    passes: str | None
    expected: list[Any]

    @property
    def remaining(self) -> Values:
        """What the rewritten model is fed with."""
        return {name: value for name, value in self.feeds.items() if name not in self.bound}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the inputs that the rewritten model has."""
        return {name: np.shape(value) for name, value in _tensors(self.remaining).items()}


def subjects(only: str = "") -> Iterator[Subject]:
    """Every model that counts and whose name holds a text."""
    for source in sources():
        if only in source.name:
            found = straightened(source)
            if found is not None:
                yield found


def sources() -> Iterator[Source]:
    """All models with control flow, in the order of where they stand."""
    for case in cases():
        if not case.random:
            yield Source(case.name, case.original(case.small), case.inputs(case.small))
    yield from _examples()
    yield from _backend()


def straightened(source: Source) -> Subject | None:
    """The model with its rewrite; None where control flow stays, or too many nodes come."""
    shapes = {name: np.shape(value) for name, value in _tensors(source.feeds).items()}
    numbers = {
        name: value
        for name, value in _tensors(source.feeds).items()
        if value.ndim == 0 and value.dtype.kind in "iu"
    }
    sized = {name: shape for name, shape in shapes.items() if name not in numbers}
    for passes, told, values in (
        ("straighten", {}, {}),
        ("selects", {}, {}),
        ("selects", sized, {}),
        ("selects", sized, numbers),
    ):
        after = sl.rewrite(source.model, passes, shapes=told, values=values)
        if not any(holds_control_flow(graph) for graph in (after.graph, *after.functions)):
            if len(after.graph.node) > _LARGEST:
                return None
            before = sl.rewrite(source.model, [], shapes=told) if told else source.model
            expected = sl.reference.run(before, dict(source.feeds))
            return Subject(source.name, before, after, source.feeds, values, passes, expected)
    return None


def _tensors(feeds: Values) -> dict[str, np.ndarray]:
    return {name: value for name, value in feeds.items() if isinstance(value, np.ndarray)}


def holds_control_flow(graph: onnx.GraphProto | onnx.FunctionProto) -> bool:
    """Whether one of the nodes holds a graph, or is a SequenceMap."""
    return any(
        node.op_type == "SequenceMap"
        or any(attribute.HasField("g") for attribute in node.attribute)
        for node in graph.node
    )


# Where they stand ---------------------------------------------------------------------------------


def _examples() -> Iterator[Source]:
    models, generator = _module("models"), np.random.default_rng(0)
    texts = {name: models.HEADER + text for name, text in models.MODELS.items()}
    made = {name: onnx.parser.parse_model(text) for name, text in texts.items()}
    made["demo"] = _module("demo").decoder.to_model_proto()
    for name, model in made.items():
        if holds_control_flow(model.graph):
            drawn = {value.name: _drawn(value, generator) for value in model.graph.input}
            yield Source(f"example {name}", model, drawn)


def _drawn(value: onnx.ValueInfoProto, generator: np.random.Generator) -> np.ndarray:
    """An input of an example: a sample rate, or normal numbers in a size that all of them take."""
    type_ = value.type.tensor_type
    if type_.elem_type == onnx.TensorProto.INT64:
        return np.array(16000, np.int64)
    unknown = {"channels": 1}
    shape = [dim.dim_value or unknown.get(dim.dim_param, 4) for dim in type_.shape.dim]
    return generator.standard_normal(shape).astype(np.float32)


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", _EXAMPLES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where onnxscript looks a function up
    spec.loader.exec_module(module)
    return module


def _backend() -> Iterator[Source]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases()
    for case in found:
        if holds_control_flow(case.model.graph) and case.data_sets:
            names = [value.name for value in case.model.graph.input]
            feeds = dict(zip(names, map(_array, case.data_sets[0][0]), strict=True))
            if all(value.dtype.isbuiltin == 1 for value in _tensors(feeds).values()):
                yield Source(case.name, case.model, feeds)  # clients know numpy's own types alone


def _array(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_array(element) for element in value]
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value
