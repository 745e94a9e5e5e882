"""Inferred shapes are those of the tensors that a run makes, for all sizes of the inputs."""

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.dimension import Dimension
from straightline.facts.fact import Fact, Symbols, is_named
from straightline.operators.outputs import shapes_of

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'


def inferred(body, *, inputs="float[N,3] x, float[M,3] z", initializers="", head=HEAD):
    """The inferred shape of each named value, as text, and the model."""
    model = onnx.parser.parse_model(f"{head}g ({inputs}) => (y) <{initializers}> {{ {body} }}")
    loaded = ir.load(model)
    inference = ShapeInference(loaded)
    facts = {v.name: inference.fact(v) for n in loaded.graph.nodes() for v in n.outputs if v}
    return {name: None if f.shape is None else list(map(str, f.shape)) for name, f in facts.items()}


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("y = Concat <axis = 0> (x, z)", ["M + N", "3"]),
        ("y = Concat <axis = -2> (x, x)", ["2*N", "3"]),
        ("y = Flatten <axis = 2> (x)", ["3*N", "1"]),
        ("y = Reshape (x, flat)", ["3*N"]),
        ("y = Reshape (x, same)", ["N", "3", "1"]),
        ("y = Reshape (x, six)", ["N", "3"]),
        ("y = Tile (x, times)", ["2*N", "9"]),
        ("y = Pad (x, pads)", ["N + 2", "3"]),
        ("y = Pad (x, some, , axis)", ["N + 3", "3"]),
        ("y = Slice (x, one, last)", ["?", "3"]),
        ("y = Slice (x, zero, last, axis1)", ["N", "2"]),
        ("y = Slice (x, zero, huge)", ["N", "3"]),
        ("e = Expand (x, times) y = Expand (three, same3)", ["2", "3", "3"]),
        ("s = Shape (x) y = Expand (one, s)", ["N", "3"]),
        ("s = Shape (x) y = ConstantOfShape (s)", ["N", "3"]),
        ("n = Size (x) y = Range (start, n, step)", ["3*N"]),
        ("y = Transpose (x)", ["3", "N"]),
        ("y = Relu (x)", ["N", "3"]),
        ("y = com.microsoft.Strange (x)", None),
    ],
)
def test_symbols_stay(body, shape):
    given_ = (
        "int64[1] flat = {-1}, int64[3] same = {0, 3, 1}, int64[2] six = {-1, 3},"
        " int64[2] times = {2, 3}, int64[4] pads = {1, 0, 1, 0}, int64[2] some = {1, 2},"
        " int64[1] axis = {0}, int64[1] axis1 = {1}, int64[1] one = {1}, int64[1] zero = {0},"
        " int64[1] last = {-1}, int64[1] huge = {9223372036854775807}, float[3] three = {1, 2, 3},"
        " int64[3] same3 = {2, 3, 1}, int64 start = {0}, int64 step = {1}"
    )
    head = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>\n'
    found = inferred(body, initializers=given_, head=head)["y"]
    if found is not None:
        found = ["?" if dim.startswith("?") else dim for dim in found]
    assert found == shape


@pytest.mark.parametrize(
    ("reads", "kind"), [("zero, huge, run", "axes"), ("zero, huge, zero, run", "steps")]
)
def test_what_run_time_decides_about_a_slice_is_not_guessed(reads, kind):
    shape = inferred(
        f"y = Slice (x, {reads})",
        inputs="float[6,6] x, int64[1] run",
        initializers="int64[1] zero = {0}, int64[1] huge = {3}",
    )["y"]
    assert shape[0].startswith("?"), kind


@pytest.mark.parametrize("name", ['"?"', "-1", '"?0"'])
def test_a_size_that_is_declared_as_unknown_equals_no_other(name):
    text = f"{HEAD}g (float[{name}, {name}] x) => (y) {{ y = Identity (x) }}"
    loaded = ir.load(onnx.parser.parse_model(text))
    first, second = ShapeInference(loaded).fact(loaded.graph.inputs[0]).shape
    assert first.equals(second) is None


def test_equal_names_are_equal_sizes():
    shapes = inferred("s = Shape (x) y = Expand (w, s)", inputs="float[N,K] x, float[1,K] w")
    assert shapes["y"] == ["N", "K"]


def test_a_node_that_cannot_run_has_no_shape():
    bad = "int64[1] axes = {7}, int64[3] pads = {1, 1, 1}"
    for body in ("y = Pad (x, pads)", "y = Slice (x, axes, axes, axes)", "y = Expand (x, x)"):
        inferred(body, initializers=bad)


class Models:
    """Draws a straight line of operators on x [N, 2, M] and z [M]."""

    def __init__(self, draw):
        self.draw = draw
        self.nodes, self.initializers = [], []
        self.values = {"x": 3, "z": 1}  # ranks, as far as they are known
        self.count = 0

    def constant(self, numbers):
        name = f"c{len(self.initializers)}"
        array = np.array(numbers, np.int64)
        self.initializers.append(onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, op_type, inputs, rank, **attributes):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(onnx.helper.make_node(op_type, inputs, [name], **attributes))
        if rank is not None:
            self.values[name] = rank
        return name

    def pick(self):
        return self.draw(st.sampled_from(sorted(self.values.items())))

    def integers(self, count, low, high):
        return self.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    def step(self):
        name, rank = self.pick()
        kind = self.draw(st.sampled_from(STEPS))
        axis = self.draw(st.integers(-rank, max(rank - 1, 0)))
        if kind == "Concat" and rank:
            self.add("Concat", [name, name], rank, axis=axis)
        elif kind == "Flatten":
            self.add("Flatten", [name], 2, axis=axis)
        elif kind == "Transpose" and rank:
            self.add("Transpose", [name], rank, perm=self.draw(st.permutations(range(rank))))
        elif kind == "Reshape":
            target = self.draw(st.lists(st.sampled_from([0, -1, 1, 2, 4]), min_size=1, max_size=3))
            self.add("Reshape", [name, self.constant(target)], len(target))
        elif kind == "Reshape to sizes":
            self.reshape_to_sizes(name, rank)
        elif kind == "Slice" and rank:
            bounds = [self.constant([n]) for n in self.integers(2, -3, 4)]
            step = self.draw(st.sampled_from([1, 1, 2, -1]))
            self.add("Slice", [name, *bounds, self.constant([axis]), self.constant([step])], rank)
        elif kind == "Pad" and rank:
            self.add("Pad", [name, self.constant(self.integers(2 * rank, -1, 2))], rank)
        elif kind == "Tile" and rank:
            self.add("Tile", [name, self.constant(self.integers(rank, 0, 2))], rank)
        elif kind == "Expand":
            target = self.draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
            self.add("Expand", [name, self.constant(target)], max(rank, len(target)))
        elif kind == "Add":
            other, other_rank = self.pick()
            self.add("Add", [name, other], max(rank, other_rank))
        elif kind == "Unsqueeze":
            self.add("Unsqueeze", [name, self.constant([axis])], rank + 1)

    def reshape_to_sizes(self, name, rank):
        """Reshape to what was computed from sizes, as exporters write it."""
        sizes = self.add("Shape", [name], None)
        picked = [
            self.add("Gather", [sizes, self.constant([i])], None)
            for i in self.draw(st.permutations(range(rank)))
        ]
        if len(picked) > 1 and self.draw(st.booleans()):
            picked = [self.add("Mul", picked[:2], None), *picked[2:]]
        if not picked:
            return
        target = self.add("Concat", picked, None, axis=0)
        self.add("Reshape", [name, target], len(picked))


STEPS = (
    "Concat",
    "Flatten",
    "Transpose",
    "Reshape",
    "Reshape to sizes",
    "Slice",
    "Pad",
    "Tile",
    "Expand",
    "Add",
    "Unsqueeze",
)


@st.composite
def models(draw):
    drawn = Models(draw)
    for _ in range(draw(st.integers(1, 6))):
        drawn.step()
    tensor = onnx.helper.make_tensor_value_info
    names = [n.output[0] for n in drawn.nodes] or ["x"]
    graph = onnx.helper.make_graph(
        drawn.nodes,
        "g",
        [tensor("x", 1, ["N", 2, "M"]), tensor("z", 1, ["M"])],
        [onnx.ValueInfoProto(name=name) for name in names],
        drawn.initializers,
    )
    opsets = [onnx.helper.make_opsetid("", 21)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(models(), st.integers(1, 3), st.integers(1, 3))
def test_shapes_are_those_of_a_run(model, n, m):
    feeds = {"x": np.zeros((n, 2, m), np.float32), "z": np.zeros(m, np.float32)}
    loaded = ir.load(model)
    inference = ShapeInference(loaded)
    facts = [inference.fact(value) for value in loaded.graph.outputs]
    try:
        results = reference.run(model, feeds)
    except reference.EvaluationError:
        return
    sizes = {"N": n, "M": m}
    for fact, result, info in zip(facts, results, loaded.graph.output_infos, strict=True):
        if fact.shape is None:
            continue
        assert len(fact.shape) == result.ndim, info.name
        for dim, size in zip(fact.shape, result.shape, strict=True):
            check_size(dim, size, sizes)


def check_size(dim, size, sizes):
    """A symbol that inference made stands for one size, wherever it occurs."""
    unknown = [name for name in sorted(dim.symbols) if name not in sizes]
    if len(unknown) == 1 and str(dim) == unknown[0]:
        sizes[unknown[0]] = size
        return
    if unknown:
        return
    total = 0
    for monomial, factor in dim.terms.items():
        total += factor * int(np.prod([sizes[name] for name in monomial], dtype=np.int64))
    assert total == size, (dim, size)


# Rule by rule: what is said, what is left to onnx (None), and what is open ("?").

N, M = Dimension.symbol("N"), Dimension.symbol("M")


def dim(size):
    return size if isinstance(size, Dimension) else Dimension.constant(size)


def shaped(*shape):
    return Fact(onnx.TensorProto.FLOAT, tuple(map(dim, shape)))


def holding(*elements):
    """A vector of 64-bit integers; None stands for one that is not known."""
    content = np.empty(len(elements), object)
    content[:] = [None if e is None else dim(e) for e in elements]
    return Fact(onnx.TensorProto.INT64, (dim(len(elements)),), content)


def number(element):
    content = np.empty((), object)
    content[()] = dim(element)
    return Fact(onnx.TensorProto.INT64, (), content)


UNKNOWN = Fact(onnx.TensorProto.FLOAT)
INDICES = Fact(onnx.TensorProto.INT64, (dim(1),))


def ruled(op_type, *facts, **attributes):
    """The shape that a rule gives; None where it leaves the node to onnx."""
    model = ir.Model(onnx.ModelProto(ir_version=10))
    values = [None if f is None else model.graph.add_input(f"i{k}") for k, f in enumerate(facts)]
    node = model.graph.add_node(ir.Operator.make(op_type, **attributes), values, ["y"])
    read = [Fact() if fact is None else fact for fact in facts]
    shapes = shapes_of(node, read, Symbols())
    if shapes is None:
        return None
    (shape,) = shapes
    if shape is None:
        return None
    return [
        "?" if not is_named(size) else size.value if size.value is not None else size
        for size in shape
    ]


@pytest.mark.parametrize(
    ("op_type", "facts", "attributes", "wanted"),
    [
        ("Concat", [shaped(N, 3), shaped(M, 3)], {"axis": 0}, [N + M, 3]),
        ("Concat", [shaped(3, N), shaped(3, 2), shaped(3, M)], {}, [3, N + M + 2]),
        ("Concat", [shaped(N, 3), shaped(M, M)], {"axis": -2}, [N + M, 3]),
        ("Concat", [shaped(2, N), shaped(2, 3)], {"axis": 0}, [4, 3]),
        ("Concat", [shaped(2, N), shaped(2, M)], {"axis": 0}, [4, N]),
        ("Concat", [shaped(N), shaped(0)], {"axis": -1}, [N]),
        ("Concat", [shaped(N, 3), UNKNOWN], {"axis": 0}, None),
        ("Concat", [shaped(N, 3), shaped(3)], {"axis": 0}, None),
        ("Concat", [shaped(N, 3), shaped(M, 3)], {"axis": 2}, None),
        ("Concat", [shaped(N, 3), shaped(M, 3)], {"axis": -3}, None),
        ("Reshape", [shaped(N, 6), holding(0, 2, 3)], {}, [N, 2, 3]),
        ("Reshape", [shaped(N, 6), holding(-1, 2)], {}, [N * 3, 2]),
        ("Reshape", [shaped(N, 6), holding(-1, 0)], {}, [N, 6]),
        ("Reshape", [shaped(N, M), holding(N, -1)], {}, [N, M]),
        ("Reshape", [shaped(N, 5), holding(-1, 2)], {}, ["?", 2]),
        ("Reshape", [shaped(N, 6), holding(-1, None)], {}, ["?", "?"]),
        ("Reshape", [UNKNOWN, holding(-1, 2)], {}, ["?", 2]),
        ("Reshape", [UNKNOWN, holding(0, 2)], {}, None),
        ("Reshape", [shaped(N), holding(1, 0)], {}, None),
        ("Reshape", [shaped(N), holding(N, 1)], {}, [N, 1]),
        ("Reshape", [shaped(N), holding(M - 1)], {}, [M - 1]),
        ("Reshape", [shaped(N), holding(M - N)], {}, ["?"]),
        ("Reshape", [shaped(0, N), holding(N, 0)], {"allowzero": 1}, [N, 0]),
        ("Reshape", [shaped(N), INDICES], {}, None),
        ("Reshape", [shaped(N)], {}, None),
        ("Flatten", [shaped(2, N, 3)], {}, [2, N * 3]),
        ("Flatten", [shaped(2, N, 3)], {"axis": 0}, [1, N * 6]),
        ("Flatten", [shaped(2, N, 3)], {"axis": -1}, [N * 2, 3]),
        ("Flatten", [shaped(2, N, 3)], {"axis": 3}, [N * 6, 1]),
        ("Flatten", [UNKNOWN], {}, None),
        ("ConstantOfShape", [holding(N, 0, 2)], {}, [N, 0, 2]),
        ("ConstantOfShape", [holding(N - 1, -N, None, -1)], {}, ["?"] * 4),
        ("ConstantOfShape", [INDICES], {}, None),
        ("Expand", [shaped(1, N), holding(3, 1)], {}, [3, N]),
        ("Expand", [shaped(N), holding(M, N)], {}, [M, N]),
        ("Expand", [shaped(2, 1, N), holding(4, 1)], {}, [2, 4, N]),
        ("Expand", [shaped(N), holding(M)], {}, ["?"]),
        ("Expand", [shaped(N), holding(3)], {}, [3]),
        ("Expand", [shaped(3), holding(N)], {}, [3]),
        ("Expand", [shaped(1), holding(None)], {}, ["?"]),
        ("Expand", [shaped(N), INDICES], {}, None),
        ("Expand", [UNKNOWN, holding(2)], {}, None),
        ("Tile", [shaped(N, 3), holding(2, M)], {}, [N * 2, M * 3]),
        ("Tile", [shaped(N, 3), holding(2, None)], {}, [N * 2, "?"]),
        ("Tile", [shaped(N, 3), holding(2)], {}, None),
        ("Tile", [shaped(N), INDICES], {}, None),
        ("Tile", [UNKNOWN, holding(2)], {}, None),
        ("Range", [number(2), number(N + 5), number(1)], {}, [N + 3]),
        ("Range", [number(0), number(N), number(1)], {}, [N]),
        ("Range", [number(1), number(N), number(1)], {}, None),
        ("Range", [number(0), number(N), number(2)], {}, None),
        ("Range", [number(M), number(N), number(1)], {}, None),
        ("Range", [INDICES, number(N), number(1)], {}, None),
        ("Range", [number(0), INDICES, number(1)], {}, None),
        ("Pad", [shaped(N, 3), holding(1, 2, 3, 4)], {}, [N + 4, 9]),
        ("Pad", [shaped(N, 3)], {"pads": [1, 2, 3, 4]}, [N + 4, 9]),
        ("Pad", [shaped(N, 3), holding(1, 2), None, holding(-1)], {}, [N, 6]),
        ("Pad", [shaped(N, 3), holding(1, 2, 3, 4), None, holding(1, 0)], {}, [N + 6, 7]),
        ("Pad", [shaped(N, 3), holding(1, 2), None, INDICES], {}, None),
        ("Pad", [shaped(N, 3), holding(1, 2)], {}, None),
        ("Pad", [shaped(N), holding(1, None)], {}, None),
        ("Pad", [shaped(N), INDICES], {}, None),
        ("Pad", [UNKNOWN, holding(1, 2)], {}, None),
        ("Relu", [shaped(N)], {}, None),
    ],
)
def test_what_a_rule_says(op_type, facts, attributes, wanted):
    assert ruled(op_type, *facts, **attributes) == wanted


FAR = 9223372036854775807


@pytest.mark.parametrize(
    ("size", "start", "end", "step", "wanted"),
    [
        (7, 1, 4, 1, 3),
        (7, -3, FAR, 1, 3),
        (7, 0, 7, 2, 4),
        (7, 6, -9, -1, 7),
        (7, 6, -8, -2, 4),
        (7, 6, -7, -1, 6),
        (7, 6, -1, -1, 0),
        (7, 0, -9, 1, 0),
        (7, 4, 2, 1, 0),
        (N, 0, FAR, 1, N),
        (N, 0, (1 << 31) - 1, 1, N),
        (N, 0, (1 << 31) - 2, 1, "?"),
        (N + 3, 1, FAR, 1, N + 2),
        (N + 3, 3, FAR, 1, N),
        (N + 3, 4, FAR, 1, "?"),
        (N + 3, 0, 2, 1, 2),
        (N + 3, 0, -1, 1, N + 2),
        (N + 3, 0, -3, 1, N),
        (N + 3, 0, -4, 1, "?"),
        (N + 3, -2, FAR, 1, 2),
        (N + 3, -2, -1, 1, 1),
        (N + 3, 2, 1, 1, "?"),
        (N + 3, 0, N, 1, N),
        (N + 3, N, FAR, 1, 3),
        (N + 3, 0, M, 1, "?"),
        (N + 3, M, FAR, 1, "?"),
        (N, 0, FAR, 2, "?"),
        (N, 0, FAR, 0, "?"),
        (7, 0, 7, 0, "?"),
        (7, None, 7, 1, "?"),
        (7, 0, None, 1, "?"),
        (7, 0, 7, None, "?"),
    ],
)
def test_the_length_of_a_slice(size, start, end, step, wanted):
    bounds = [holding(start), holding(end), holding(1), holding(step)]
    assert ruled("Slice", shaped(N, size), *bounds) == [N, wanted]


def test_axes_of_a_slice():
    data = shaped(5, 6, N)
    assert ruled("Slice", data, holding(1, 2), holding(4, 9)) == [3, 4, N]
    assert ruled("Slice", data, holding(1, 2), holding(4, 9), holding(-2, 0)) == [3, 3, N]
    assert ruled("Slice", data, holding(1), holding(4), None, holding(2)) == [2, 6, N]
    assert ruled("Slice", data, holding(1), holding(4), INDICES) == ["?"] * 3
    assert ruled("Slice", data, holding(1), holding(4), holding(0), INDICES) == ["?", 6, N]
    assert ruled("Slice", data, holding(1), holding(4), holding(3)) is None
    assert ruled("Slice", data, holding(1), holding(4), holding(-4)) is None
    assert ruled("Slice", data, holding(1), holding(4), holding(None)) is None
    assert ruled("Slice", data, INDICES, holding(4)) is None
    assert ruled("Slice", data, holding(1), INDICES) is None
    assert ruled("Slice", UNKNOWN, holding(1), holding(4)) is None
    assert ruled("Slice", data, holding(1), holding(4, 5)) is None
    assert ruled("Slice", data, starts=[1], ends=[4]) == [3, 6, N]
    assert ruled("Slice", data, starts=[1], ends=[4], axes=[1]) == [5, 3, N]
