import numpy as np
import onnx
import pytest
from depth import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operator_facts import BOOL, INT32, INT64, VALUE, N, computed, fact_of, make_node, said
from straightline import ir, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ops.outputs import content_of
from tables import table

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'


def inferred(body, *, inputs="float[N,3] x, float[M,3] z", initializers="", head=HEAD):
    """The inferred shape of each named value, as text, and the model."""
    model = onnx.parser.parse_model(f"{head}g ({inputs}) => (y) <{initializers}> {{ {body} }}")
    loaded = ir.load(model)
    inference = ShapeInference(loaded)
    facts = {v.name: inference.fact(v) for n in loaded.graph.nodes() for v in n.outputs if v}
    return {name: None if f.shape is None else list(map(str, f.shape)) for name, f in facts.items()}


@table(
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


@table(("zero, huge, run", "axes"), ("zero, huge, zero, run", "steps"))
def test_a_slice_at_run_time_has_no_known_size(reads, kind):
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
        self.initializers.append(onnx.numpy_helper.from_array(np.array(numbers, np.int64), name))
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
        self.add("Reshape", [name, self.add("Concat", picked, None, axis=0)], len(picked))


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


@settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
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


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_symbols_stand_for_any_size(data):
    """Two operators over sizes N and M: what is decided holds for the sizes drawn."""
    sizes = {name: data.draw(st.integers(0, 4), label=name) for name in "NM"}
    n, m = (Dimension.symbol(name) for name in "NM")
    pool = [(n, sizes["N"]), (m, sizes["M"]), (n + m * 2, sizes["N"] + 2 * sizes["M"])]
    pool += [(Dimension.constant(c), c) for c in (-2, -1, 0, 1, 2, 3)]
    content, number = None, None
    chain = ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Equal", "Less", "GreaterOrEqual")
    for _ in range(data.draw(st.integers(1, 3))):
        op_type = data.draw(st.sampled_from(chain))
        operands = [data.draw(st.sampled_from(pool)) for _ in range(2)]
        numbers = [np.array(concrete, np.int64) for _, concrete in operands]
        if op_type in ("Div", "Mod") and not numbers[1]:
            return
        facts = [Fact(INT64, (), _scalar(symbolic)) for symbolic, _ in operands]
        is_bool = op_type in chain[7:]
        content = content_of(make_node(op_type, facts), facts, BOOL if is_bool else INT64)
        number = computed(op_type, numbers).item()
        element = content.item()
        if element is None:
            return
        if is_bool:
            assert element == number
            return
        assert value_at(element, sizes) == number
        pool.append((element, number))


def _scalar(element):
    content = np.empty((), object)
    content[()] = element
    return content


def value_at(dim, sizes):
    total = 0
    for monomial, factor in dim.terms.items():
        total += factor * int(np.prod([sizes[name] for name in monomial], dtype=np.int64))
    return total


def test_an_overflow_is_unknown():
    largest = np.array([2**63 - 1], np.int64)
    content = content_of(make_node("Add", [1, 1]), [fact_of(largest), fact_of([1])], INT64)
    assert content.tolist() == [None]
    content = content_of(make_node("Cast", [1], to=INT32), [fact_of([2**32])], INT32)
    assert content.tolist() == [None]


@table(
    ("Reshape", [[4], [2]], {}),
    ("Concat", [[4], [[2]]], {"axis": 0}),
    ("Add", [[4, 3], [2, 3, 4]], {}),
    ("Slice", [[4], [0], [1], [0], [0]], {}),
    ("Gather", [[4], [2]], {"axis": 0}),
    ("Squeeze", [[4, 3], [0]], {}),
    ("ConstantOfShape", [[-1]], {"value": onnx.numpy_helper.from_array(np.array([1]))}),
)
def test_operands_that_do_not_fit_give_nothing(op_type, operands, attributes):
    facts = [fact_of(np.array(operand, np.int64)) for operand in operands]
    assert content_of(make_node(op_type, facts, **attributes), facts, INT64) is None


def test_large_tensors_are_not_followed():
    row, column = np.arange(1000), np.arange(1000).reshape(-1, 1)
    assert content_of(make_node("Add", [1, 1]), [fact_of(row), fact_of(column)], INT64) is None


def test_types_that_are_not_followed():
    assert said("Add", [[1], [2]], onnx.TensorProto.FLOAT) is None
    assert said("Cast", [[1]], to=onnx.TensorProto.FLOAT) is None
    assert said("Cast", [None], to=INT64) is None
    assert said("ConstantOfShape", [[2]]) is None
    assert said("ConstantOfShape", [[2]], value=VALUE(np.array([1.5], np.float32))) is None


def test_sizes_that_may_overflow_are_not_known():
    most = 1 << 16
    assert said("Mul", [[N], [most]]) == [N * most]
    assert said("Mul", [[N], [2 * most]]) == [None]
    assert said("Mul", [[N], [-2 * most]]) == [None]
    assert said("Mul", [[N], [N]]) == [None]
    assert said("Mul", [[N], [N]], INT32) == [None]
    assert said("Add", [[N], [1]], INT32) == [N + 1]
    assert said("Mul", [[N], [4]], INT32) == [None]
    assert said("Cast", [[N * 4]], INT32, to=INT32) == [None]
    assert said("Add", [[2**31 - 1], [0]], INT32) == [2**31 - 1]
    assert said("Add", [[2**31 - 1], [1]], INT32) == [None]
    assert said("Sub", [[-(2**31)], [0]], INT32) == [-(2**31)]
    assert said("Sub", [[-(2**31)], [1]], INT32) == [None]


def test_as_many_elements_as_are_followed():
    assert len(said("Neg", [[1] * 1024])) == 1024
    assert said("Neg", [[1] * 1025]) is None
    fill = VALUE(np.array([1]))
    assert len(said("ConstantOfShape", [[1024]], value=fill)) == 1024
    assert said("ConstantOfShape", [[1025]], value=fill) is None
    assert said("ConstantOfShape", [[10**9, 10**9]], value=fill) is None
