"""Hypothesis strategies that draw valid ONNX models with nested control flow, and feeds for them.

    @given(model_and_feeds(static_only=True))
    def test(drawn): model, feeds = drawn

All results are exact: elements are small integers in every element type (the sign of a zero
is the one thing that runtimes may choose).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from onnx import ModelProto, helper
from strategy_control import if_, loop, statements
from strategy_functions import DOMAIN, function
from strategy_operators import literal, reshape
from strategy_scan import scan, scan_8
from strategy_scope import (
    BOOL,
    CONSTRUCTS,
    DTYPES,
    FLOAT,
    INT64,
    Context,
    Dim,
    Options,
    Scope,
    Value,
    value_info,
)

Feeds = dict[str, np.ndarray]

ITERATIONS = "n"
"""The input that run-time trip counts come from, at every depth."""

OPSETS = (16, 8, 9, 10, 11, 13, 18, 21, 25)

KNOWN_FAULTS = {
    "scan-8-length-0": "onnxruntime returns garbage for a Scan-8 row of length 0",
    "scan-8-batch-0": "onnxruntime raises on a Scan-8 of batch 0",
    "scan-11-length-0": "onnxruntime raises on a Scan of opset 11 and later with length 0",
    "loop-empty-output": "onnxruntime crashes on a Loop with an empty output name",
    "if-empty-output": "onnxruntime refuses an If with an empty output name",
    "loop-huge-iterations": "onnxruntime reserves memory for M scan outputs, however few are made",
    "constant-after-body": "onnxruntime refuses a Constant whose name an earlier body has used",
    "name-after-body": "onnxruntime refuses a later node that does not depend on a construct and "
    "reuses a name of its body, when it sorts that node first",
    "scan-transposed-empty": "onnxruntime crashes on a Scan over another axis than 0 of a tensor "
    "of size 0, or with such an output",
    "function-value-info": "onnxruntime's function inliner takes the value_info of a body inside a "
    "function for that of an outer value of the same name",
    "scan-input-output": "onnxruntime returns garbage for a Scan body's output that is its input",
    "scan-duplicate-output": "onnxruntime returns garbage for a Scan body that repeats an output",
    "loop-iteration-output": "onnxruntime returns the last iteration number for a Loop body's "
    "output that is the iteration number itself",
    "loop-undeclared-output": "onnxruntime gives a scan output of zero iterations the shape [0] "
    "when it is a body input whose shape is not declared",
    "shadowing-initializer": "onnxruntime reads the outer value, or refuses the model, where a "
    "body's initializer hides an outer name",
    "optimizer-if-inlining": "onnxruntime's optimiser inlines a constant If wrongly (a cycle) when "
    "a body in its branch captures a name of the branch that the outer graph also has",
    "loop-passed-sequence": "onnxruntime empties a Loop's initial sequence, for all who read it "
    "later, when the body returns it as it is",
    "if-duplicate-output": "onnxruntime returns garbage for an If whose branch repeats an output",
}


@dataclass(frozen=True)
class Input:
    """A graph input and what may be fed to it."""

    value: Value
    low: int
    high: Dim
    optional: bool = False  # it has a default


def options(draw: Any, opset: int | None, **chosen: Any) -> Options:
    """The options with what was left open drawn."""
    opset = draw(st.sampled_from(OPSETS)) if opset is None else opset
    released = next(v for v in helper.VERSION_TABLE if v[2] == opset)[1]
    version = draw(st.sampled_from([max(released, 10), released]))
    result = Options(opset=opset, ir_version=version, **chosen)
    # onnxruntime's function inliner does not bear shadowing either.
    functions = version >= 8 and not result.shadowing
    limits = {"functions": functions, "overridable": version >= 4, "sequences": opset >= 13}
    return Options(**vars(result) | {k: vars(result)[k] and ok for k, ok in limits.items()})


def constructs(choice: Options) -> list[Any]:
    """What a statement may be besides an ordinary operator."""
    result = [loop, if_]
    if choice.scans:
        result.append(scan_8 if choice.opset < 9 else scan)
    if choice.functions:
        result.append(function)
    return result


def draw_inputs(scope: Scope) -> list[Input]:
    """Graph inputs: tensors, then (unless all is static) a trip count and a condition."""
    result = []
    dims: list[Dim] = [2, 1, 3]
    for _ in range(scope.number(1, 3)):
        symbols = ["N", "L"] if scope.options.symbolic and scope.flip(3) else []
        rank = scope.pick([1, 2, 0, 3])
        shape = tuple(scope.pick([*dims, *symbols]) for _ in range(rank))
        result.append(tensor_input(scope, scope.pick(scope.context.types), shape))
    if not scope.options.static_only:
        result.append(Input(scope.input(Value("", INT64, (), 3), name=ITERATIONS), -1, 3))
        result.append(tensor_input(scope, BOOL, (), name="flag"))
    return result


def tensor_input(scope: Scope, type: int, shape: tuple[Dim, ...], name: str = "") -> Input:
    numeric = all(isinstance(d, int) for d in shape)
    value = Value("", type, shape, 1 if type == BOOL else 3, known_shape=numeric)
    return Input(scope.input(value, name=name), 0 if type == BOOL else -3, value.bound)


def draw_constants(scope: Scope) -> list[Input]:
    """Constants of the main graph for bodies to capture, and defaults of graph inputs."""
    scope.constant(scope.number(0, 3), INT64)
    scope.constant(scope.flip(), BOOL)
    if scope.flip():
        literal(scope, FLOAT, (2, 3))
    if not scope.options.overridable or not scope.flip(3):
        return []
    type = scope.pick([INT64, BOOL, FLOAT])
    data = np.array(1, DTYPES[type])
    high = 1 if type == BOOL else 3
    # A default is no constant: nothing here may count as known.
    value = scope.initializer(data, Value("", type, (), high))
    scope.inputs.append(value_info(value))
    return [Input(value, 0, high, optional=True)]


def draw_outputs(scope: Scope) -> list[Value]:
    """What the last constructs and calls give, the last value, and up to two of any kind."""
    made = {name for n in scope.nodes if n.op_type in CONSTRUCTS or n.domain for name in n.output}
    ready = scope.visible()
    outputs = [v for v in ready if v.name in made][:6] + ready[:1]
    outputs += [scope.choose(ready) for _ in range(scope.number(0, 2))]
    outputs = [scope.as_output(flat(scope, v)) for v in outputs]
    return list({v.name: v for v in outputs}.values())


def flat(scope: Scope, value: Value) -> Value:
    """A value of unknown rank as a vector: the checker wants a shape of every graph output."""
    if value.sequence or value.shape is not None:
        return value
    return reshape(scope, value, [-1], (None,))


def finish(scope: Scope) -> ModelProto:
    context = scope.context
    opsets = [helper.make_opsetid("", scope.opset)]
    if context.functions:
        opsets.append(helper.make_opsetid(DOMAIN, 1))
    return helper.make_model(
        scope.graph("main", draw_outputs(scope)),
        opset_imports=opsets,
        functions=context.functions,
        ir_version=scope.options.ir_version,
    )


def draw_feeds(draw: Any, inputs: list[Input]) -> Feeds:
    """Small integers for every input; a default is kept or overridden."""
    sizes: dict[Dim, int] = {}
    feeds = {}
    for i in inputs:
        shape = [size_of(draw, d, sizes) for d in i.value.shape or ()]
        if i.optional and not draw(st.booleans()):
            continue
        # One drawn number instead of one for each element: quick to draw, and 0 is simplest.
        seed = draw(st.integers(0, 2**16))
        low, high = i.low, size_of(draw, i.high, sizes)
        if i.value.name == ITERATIONS and draw(st.booleans()):
            data = np.zeros(shape)  # of all counts the one that most goes wrong with
        elif seed:
            data = np.random.default_rng(seed).integers(low, high + 1, shape)
        else:
            data = np.full(shape, max(low, 0))
        feeds[i.value.name] = data.astype(DTYPES[i.value.type])
    return feeds


def size_of(draw: Any, dim: Dim, sizes: dict[Dim, int]) -> int:
    """A number as it is; the size drawn for a symbol."""
    if isinstance(dim, int):
        return dim
    if dim not in sizes:
        sizes[dim] = draw(st.integers(1, 3))
    return sizes[dim]


@st.composite
def model_and_feeds(
    draw: Any, *, opset: int | None = None, **chosen: Any
) -> tuple[ModelProto, Feeds]:
    """A model and feeds for it.

    `opset`: one of OPSETS, or drawn. `chosen`: the other fields of `Options`, among them
    static_only (constants decide every trip count and condition), shadowing (inputs
    of bodies hide outer names, which ONNX forbids), faults (also what
    KNOWN_FAULTS lists), functions, sequences, scans, whiles, shapes (a Shape or Size may be what
    decides), symbolic (dimensions), overridable (initializers), max_depth, max_nodes.
    """
    context = Context(draw, options(draw, opset, **chosen))
    context.constructs = constructs(context.options)
    scope = Scope(context)
    inputs = draw_inputs(scope)
    inputs += draw_constants(scope)
    statements(scope, draw(st.integers(1, 6)))
    draw(st.sampled_from(context.constructs))(scope)
    return finish(scope), draw_feeds(draw, inputs)


@st.composite
def scan_8_model_and_feeds(draw: Any, **chosen: Any) -> tuple[ModelProto, Feeds]:
    """A model of opset 8 around a Scan with a batch, and feeds for it; options as above."""
    context = Context(draw, options(draw, 8, **chosen))
    context.constructs = constructs(context.options)
    scope = Scope(context)
    dynamic = scope.options.symbolic and not scope.options.static_only
    batch = draw(st.sampled_from([2, 1, 3, *(["N"] * dynamic)]))
    length = draw(st.sampled_from([3, 1, 2, *(["L"] * dynamic)]))
    rest = draw(st.lists(st.integers(1, 2), max_size=1))
    inputs = [
        tensor_input(scope, FLOAT, (batch, length, *rest)),
        tensor_input(scope, INT64, (batch, 2)),
    ]
    if not scope.options.static_only and scope.flip():
        lengths = scope.input(Value("", INT64, (batch,), 3))
        context.lengths.append((lengths, length))
        inputs.append(Input(lengths, 0 if scope.options.faults else 1, length))
    inputs += draw_constants(scope)
    scan_8(scope)
    statements(scope, draw(st.integers(0, 3)))
    return finish(scope), draw_feeds(draw, inputs)


def models(**chosen: Any) -> st.SearchStrategy[ModelProto]:
    """The models of `model_and_feeds` alone."""
    return model_and_feeds(**chosen).map(lambda drawn: drawn[0])


def scan_8_models(**chosen: Any) -> st.SearchStrategy[ModelProto]:
    """The models of `scan_8_model_and_feeds` alone."""
    return scan_8_model_and_feeds(**chosen).map(lambda drawn: drawn[0])
