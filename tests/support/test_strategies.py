"""The strategies draw what they promise: valid models that run, each construct in each form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
import pytest
import strategies
from fuzz import Case, assert_equal, check_valid, run_onnxruntime
from hypothesis import HealthCheck, Phase, given, settings
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    numpy_helper,
)

DRAWN = settings(
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SAMPLE = settings(DRAWN, phases=[Phase.generate])


@DRAWN
@given(strategies.model_and_feeds())
def test_models_are_valid_and_run(drawn):
    model, feeds = drawn
    check_valid(Case(model, feeds))
    first = run_onnxruntime(model, feeds)
    assert len(first) == len(model.graph.output) > 0
    for output, once, again in zip(
        model.graph.output, first, run_onnxruntime(model, feeds), strict=True
    ):
        assert_equal(again, once, output.name)
        assert all(np.isfinite(t).all() and np.abs(t).max(initial=0) <= 1000 for t in flat(once))


@settings(DRAWN, max_examples=50)
@given(strategies.scan_8_model_and_feeds())
def test_scan_8_models_are_valid_and_run(drawn):
    model, feeds = drawn
    check_valid(Case(model, feeds))
    run_onnxruntime(model, feeds)
    assert model.opset_import[0].version == 8
    assert any(node.op_type == "Scan" for node in model.graph.node)


@settings(DRAWN, max_examples=50)
@given(strategies.model_and_feeds(static_only=True))
def test_static_models_take_no_decision_from_an_input(drawn):
    assert not decisions(drawn[0])


def test_run_time_decisions_are_drawn():
    assert sum(bool(decisions(model)) for model in sample()) >= 20


@settings(DRAWN, max_examples=50)
@given(strategies.model_and_feeds(shadowing=True))
def test_shadowing_models_run(drawn):
    run_onnxruntime(*drawn)


def test_shadowing_is_drawn_on_request_only():
    assert sum(map(hides, sample(shadowing=True))) >= 7
    assert not any(map(hides, sample()))


@pytest.mark.parametrize("opset", strategies.OPSETS)
def test_an_opset_can_be_asked_for(opset):
    @settings(DRAWN, max_examples=10)
    @given(strategies.model_and_feeds(opset=opset))
    def check(drawn):
        assert drawn[0].opset_import[0].version == opset
        check_valid(Case(*drawn))
        run_onnxruntime(*drawn)

    check()


def test_switches_leave_constructs_out():
    chosen = {"scans": False, "sequences": False, "functions": False, "overridable": False}
    for model in sample(**chosen):
        ops = {node.op_type for node, _ in walk(model)}
        assert not {op for op in ops if "Sequence" in op or op == "Scan"}
        assert not model.functions


@pytest.mark.parametrize(
    "feature",
    [
        "Loop",
        "If",
        "Scan",
        "Loop in Loop",
        "Loop in Scan",
        "Loop in If",
        "Scan in Loop",
        "Scan in Scan",
        "Scan in If",
        "If in Loop",
        "If in Scan",
        "If in If",
        "M absent",
        "M of rank 1",
        "M the largest",
        "M not positive",
        "cond absent",
        "cond of rank 1",
        "carried sequence",
        "scan output",
        "scalar scan output",
        "repeated body output",
        "body input as output",
        "body initializer",
        "branches of other shapes",
        "sibling initializers of one name",
        "name reused after a body",
        "capture through two levels",
        "axis not 0",
        "negative axis",
        "reversed input",
        "reversed output",
        "no state",
        "no scan output",
        "function with control flow",
        "attribute reference",
        "overridable initializer",
        "constant listed by a body",
        "symbolic dimension",
        "value_info in a body",
        "ConcatFromSequence",
        "SequenceAt",
        "Shape",
        "Size",
        "Where",
        "Gather",
        "Slice",
        "Concat",
        "ReduceMax",
        "Mod",
    ],
)
def test_feature_is_drawn(feature):
    assert counts()[feature]


@cache
def counts() -> Counter[str]:
    """In how many models of a fixed sample each feature is found."""
    return Counter(feature for model in sample() for feature in set(features(model)))


@cache
def sample(**chosen: bool) -> tuple[ModelProto, ...]:
    models: list[ModelProto] = []

    @settings(SAMPLE, max_examples=100 if chosen else 300)
    @given(strategies.models(**chosen))
    def collect(model):
        models.append(model)

    collect()
    return tuple(models)


def flat(value) -> list[np.ndarray]:
    return value if isinstance(value, list) else [value]


def hides(model: ModelProto) -> bool:
    """Whether an input or initializer of a body has a name that is visible outside."""
    todo = [(model.graph, set[str]())]
    while todo:
        graph, visible = todo.pop()
        own = {v.name for v in graph.input} | {i.name for i in graph.initializer}
        if own & visible:
            return True
        visible = visible | own
        for node in graph.node:
            todo += [(body, visible) for body in bodies(node)]
            visible = visible | set(node.output)
    return False


def bodies(node: NodeProto) -> list[GraphProto]:
    return [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]


def walk(model: ModelProto) -> Iterator[tuple[NodeProto, str]]:
    """Every node with the operator that holds it, innermost first named; '' for the top."""
    todo = [(node, "") for node in model.graph.node]
    todo += [(node, "") for function in model.functions for node in function.node]
    while todo:
        node, holder = todo.pop()
        yield node, holder
        todo += [(inner, node.op_type) for g in bodies(node) for inner in g.node]


def decisions(model: ModelProto) -> set[str]:
    """The trip counts and conditions that depend on the elements of graph inputs."""
    inputs = {i.name for i in model.graph.input}
    if model.ir_version < 4:
        inputs -= {i.name for i in model.graph.initializer}
    taint = Taint(model)
    taint.graph(model.graph, inputs)
    return taint.decisions


class Taint:
    """What depends on the elements of the graph inputs, and whether that decides a Loop or If."""

    def __init__(self, model: ModelProto) -> None:
        self.functions = {f.name: f for f in model.functions}
        self.decisions: set[str] = set()

    def graph(self, graph: GraphProto, tainted: set[str]) -> list[bool]:
        """Whether each output of the graph depends on a tainted name."""
        after = self.nodes(graph.node, tainted)
        return [v.name in after for v in graph.output]

    def nodes(self, nodes: Iterable[NodeProto], tainted: set[str]) -> set[str]:
        tainted = set(tainted)
        for node in nodes:
            after = self.node(node, tainted)
            tainted -= set(node.output)  # an outer name that comes to mean something else
            tainted |= {name for name, dirty in zip(node.output, after, strict=True) if dirty}
        return tainted

    @staticmethod
    def inputs(graph: GraphProto) -> set[str]:
        return {v.name for v in graph.input}

    def call(self, function: FunctionProto, dirty: list[bool]) -> list[bool]:
        given = {name for name, d in zip(function.input, dirty, strict=True) if d}
        after = self.nodes(function.node, given)
        return [name in after for name in function.output]

    def node(self, node: NodeProto, tainted: set[str]) -> list[bool]:
        dirty = [name in tainted for name in node.input]
        if node.op_type in ("Loop", "If"):
            count = 2 if node.op_type == "Loop" else 1
            self.decisions |= {n for n in node.input[:count] if n in tainted}
        if node.domain:
            return self.call(self.functions[node.op_type], dirty)
        if node.op_type == "If":
            first, second = (self.graph(g, tainted) for g in bodies(node))
            return [a or b for a, b in zip(first, second, strict=True)]
        if node.op_type == "Loop":
            return self.loop(bodies(node)[0], dirty[2:], tainted)
        for body in bodies(node):  # Scan: its inputs count as tainted
            constants = {t.name for t in body.initializer}
            self.graph(body, (tainted | self.inputs(body)) - constants)
        depends = any(dirty) or bool(bodies(node))
        return [depends and node.op_type not in ("Shape", "Size")] * len(node.output)

    def loop(self, body: GraphProto, carried: list[bool], tainted: set[str]) -> list[bool]:
        while True:  # until what is carried round taints nothing more
            names = [v.name for v in body.input[2 : 2 + len(carried)]]
            clean = tainted - self.inputs(body)
            outputs = self.graph(
                body, clean | {n for n, c in zip(names, carried, strict=True) if c}
            )
            if outputs[0]:
                self.decisions.add(body.output[0].name)
            following = [a or b for a, b in zip(carried, outputs[1:], strict=False)]
            if following == carried:
                return [*carried, *outputs[1 + len(carried) :]]
            carried = following


def features(model: ModelProto) -> Iterator[str]:
    names = {i.name for i in model.graph.initializer}
    graphs = [graph for node, _ in walk(model) for graph in bodies(node)]
    if model.ir_version < 4 and any(graph.initializer for graph in graphs):
        yield "constant listed by a body"
    if model.ir_version >= 4 and any(i.name in names for i in model.graph.input):
        yield "overridable initializer"
    if any(d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim):
        yield "symbolic dimension"
    if any(bodies(node) for function in model.functions for node in function.node):
        yield "function with control flow"
    for node, holder in walk(model):
        yield node.op_type
        yield f"{node.op_type} in {holder}"
        if any(a.ref_attr_name for a in node.attribute):
            yield "attribute reference"
        for body in bodies(node):
            yield from body_features(body)
        if node.op_type == "Loop":
            yield from loop_features(node, constants(model))
        elif node.op_type == "Scan":
            yield from scan_features(node)
        elif node.op_type == "If":
            yield from if_features(node)
    for graph in [model.graph, *(b for node, _ in walk(model) for b in bodies(node))]:
        yield from name_features(graph)


def constants(model: ModelProto) -> dict[str, np.ndarray]:
    """The constants of the top level by name."""
    found = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in model.graph.node:
        for a in node.attribute:
            if node.op_type == "Constant" and a.type == AttributeProto.TENSOR:
                found[node.output[0]] = numpy_helper.to_array(a.t)
    return found


def body_features(body: GraphProto) -> Iterator[str]:
    outputs = [v.name for v in body.output]
    if len(set(outputs)) < len(outputs):
        yield "repeated body output"
    if {v.name for v in body.input} & set(outputs):
        yield "body input as output"
    if body.initializer:
        yield "body initializer"
    if body.value_info:
        yield "value_info in a body"


def loop_features(node: NodeProto, known: dict[str, np.ndarray]) -> Iterator[str]:
    trips, going = node.input[0], node.input[1]
    yield "M given" if trips else "M absent"
    if not going:
        yield "cond absent"
    body = bodies(node)[0]
    if len(body.input[0].type.tensor_type.shape.dim) == 1:
        yield "M of rank 1"
    if len(body.input[1].type.tensor_type.shape.dim) == 1:
        yield "cond of rank 1"
    if trips in known and known[trips].size == 1:
        count = known[trips].item()
        if count <= 0:
            yield "M not positive"
        if count >= 2**62:
            yield "M the largest"
    if any(v.type.HasField("sequence_type") for v in body.input):
        yield "carried sequence"
    scans = body.output[len(node.input) - 1 :]
    if scans:
        yield "scan output"
    if any(not v.type.tensor_type.shape.dim for v in scans):
        yield "scalar scan output"


def scan_features(node: NodeProto) -> Iterator[str]:
    lists = {a.name: list(a.ints) for a in node.attribute}
    axes = lists.get("scan_input_axes", []) + lists.get("scan_output_axes", [])
    if any(axes):
        yield "axis not 0"
    if any(axis < 0 for axis in axes):
        yield "negative axis"
    if any(lists.get("scan_input_directions", [])):
        yield "reversed input"
    if any(lists.get("scan_output_directions", [])):
        yield "reversed output"
    states = len(bodies(node)[0].input) - next(
        a.i for a in node.attribute if a.name == "num_scan_inputs"
    )
    if states == 0:
        yield "no state"
    if states == len(node.output):
        yield "no scan output"


def if_features(node: NodeProto) -> Iterator[str]:
    first, second = bodies(node)
    for a, b in zip(first.output, second.output, strict=True):
        if a.type.tensor_type.shape != b.type.tensor_type.shape:
            yield "branches of other shapes"
    initializers: list[dict[str, TensorProto]] = [
        {i.name: i for i in g.initializer} for g in (first, second)
    ]
    for name in initializers[0].keys() & initializers[1].keys():
        if initializers[0][name] != initializers[1][name]:
            yield "sibling initializers of one name"


def name_features(graph: GraphProto) -> Iterator[str]:
    used: set[str] = set()
    own = {v.name for v in graph.input} | {i.name for i in graph.initializer}
    own |= {name for node in graph.node for name in node.output}
    for node in graph.node:
        if used & set(node.output):
            yield "name reused after a body"
        for body in bodies(node):
            inner = {name for n in body.node for name in n.output}
            used |= inner
            for nested in (g for n in body.node for g in bodies(n)):
                if own & {name for n in nested.node for name in n.input}:
                    yield "capture through two levels"
