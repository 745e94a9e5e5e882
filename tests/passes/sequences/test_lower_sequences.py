import numpy as np
import onnx
import pytest
from harness import assert_equal_outputs, assert_keeps, assert_rewrites, run_passes
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from straightline import ir
from straightline.passes import EliminateDeadNodes, FoldConstants, parse_pipeline
from straightline.passes.sequences.lower_sequences import LowerSequences

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
LOWER = [LowerSequences(), EliminateDeadNodes()]
TWO = {"a": np.array([1, -2], np.float32), "b": np.array([3, 4], np.float32)}


def sequence_operators(model):
    return [
        node.op_type
        for graph in ir.load(model).graphs()
        for node in graph.nodes()
        if "Sequence" in node.op_type or "Optional" in node.op_type
    ]


def lowers(before, after, feeds=()):
    assert_rewrites(LOWER, HEAD + before, HEAD + after, feeds)


def test_a_sequence_that_grows_becomes_one_concat():
    lowers(
        """g (float[2] a, float[2] b) => (float[6] y) <int64 first = {0}> {
           s = SequenceEmpty ()
           t = SequenceInsert (s, a)
           u = SequenceInsert (t, b)
           v = SequenceInsert (u, b, first)
           y = ConcatFromSequence <axis = 0> (v)
        }""",
        """g (float[2] a, float[2] b) => (float[6] y) {
           y = Concat <axis = 0> (b, a, b)
        }""",
        [TWO],
    )


def test_a_new_axis_takes_an_unsqueeze_each():
    lowers(
        """g (float[2] a, float[2] b) => (float[2,2] y) {
           s = SequenceConstruct (a, b)
           y = ConcatFromSequence <axis = -1, new_axis = 1> (s)
        }""",
        """g (float[2] a, float[2] b) => (float[2,2] y) <int64[1] axes = {-1}> {
           a_row = Unsqueeze (a, axes)
           b_row = Unsqueeze (b, axes)
           y = Concat <axis = -1> (a_row, b_row)
        }""",
        [TWO],
    )


def test_an_element_is_the_very_value():
    lowers(
        """g (float[2] a, float[2] b) => (float[2] y, float[2] z) <int64 last = {-1}> {
           n = Neg (a)
           s = SequenceConstruct (b, n)
           e = SequenceAt (s, last)
           y = Exp (e)
           t = SequenceErase (s)
           z = ConcatFromSequence <axis = 0> (t)
        }""",
        """g (float[2] a, float[2] b) => (float[2] y, float[2] z) {
           n = Neg (a)
           y = Exp (n)
           z = Identity (b)
        }""",
        [TWO],
    )


def test_a_length_is_a_constant():
    result = run_passes(
        HEAD
        + """g (float[2] a) => (int64 n) {
           s = SequenceConstruct (a, a)
           n = SequenceLength (s)
        }""",
        *LOWER,
    )
    assert sequence_operators(result.model) == []
    assert_equal_outputs(result.model, result.model, {"a": TWO["a"]})


@pytest.mark.parametrize("index", [-2, -1, 0, 1, 2])
def test_positions_count_from_either_end(index):
    text = HEAD + (
        f"""g (float[2] a, float[2] b, float[2] c) => (float[6] y) <int64[1] p = {{{index}}}> {{
           p0 = Squeeze (p)
           s = SequenceConstruct (a, b)
           t = SequenceInsert (s, c, p0)
           y = ConcatFromSequence <axis = 0> (t)
        }}"""
    )
    feeds = {**TWO, "c": np.array([9, 9], np.float32)}
    result = run_passes(text, FoldConstants(), *LOWER)
    assert sequence_operators(result.model) == []
    assert_equal_outputs(text, result.model, feeds)


@pytest.mark.parametrize(
    ("operator", "declared"),
    [
        ("SplitToSequence <axis = 1> (x)", ""),
        ("SplitToSequence <axis = -1, keepdims = 0> (x)", ""),
        ("SplitToSequence <axis = 1, keepdims = 1> (x, p)", "int64 p = {2}"),
        ("SplitToSequence <axis = 1> (x, p)", "int64 p = {9}"),
        ("SplitToSequence <axis = 1> (x, p)", "int64[3] p = {2, 0, 3}"),
        ("SplitToSequence <axis = 1, keepdims = 0> (x, p)", "int64[2] p = {1, 4}"),
    ],
)
@pytest.mark.parametrize("opset", [11, 13, 18, 25])
def test_splits(operator, declared, opset):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[2,5] x) => (float[R] y, int64 n) <int64 first = {{0}}{"," * bool(declared)}
                                                   {declared}> {{
           s = {operator}
           e = SequenceAt (s, first)
           y = Flatten <axis = 0> (e)
           n = SequenceLength (s)
        }}""".replace("float[R] y", "float[1,R] y")
    result = run_passes(text, *LOWER)
    assert sequence_operators(result.model) == []
    assert_equal_outputs(text, result.model, {"x": np.arange(10, dtype=np.float32).reshape(2, 5)})


def test_a_split_is_made_once_and_only_where_a_part_is_used():
    lowers(
        """g (float[4] x) => (float[2] y, float[2] z, int64 n) <int64[2] p = {2, 2},
                                             int64 zero = {0}, int64 one = {1}> {
           s = SplitToSequence (x, p)
           y = SequenceAt (s, one)
           z = SequenceAt (s, zero)
           t = SplitToSequence (x)
           n = SequenceLength (t)
        }""",
        """g (float[4] x) => (float[2] y, float[2] z, int64 n)
              <int64[2] sizes = {2, 2}, int64 n = {4}> {
           z, y = Split <axis = 0> (x, sizes)
        }""",
        [{"x": np.arange(4, dtype=np.float32)}],
    )


def test_a_split_of_unknown_length_is_kept():
    text = """g (float[N] x) => (int64 n) {
           s = SplitToSequence (x)
           n = SequenceLength (s)
        }"""
    assert_keeps(LowerSequences(), HEAD + text, "the length of axis 0 of 'x' is not known")


def test_given_sizes_need_no_known_length():
    text = HEAD + (
        """g (float[N] x) => (float[M] y) <int64[2] p = {1, 3}, int64 one = {1}> {
           s = SplitToSequence (x, p)
           y = SequenceAt (s, one)
        }"""
    )
    result = run_passes(text, *LOWER)
    assert sequence_operators(result.model) == []
    assert_equal_outputs(text, result.model, {"x": np.arange(4, dtype=np.float32)})


def test_sizes_known_at_run_time_only():
    """How many there are is known, and so is which part is read: it is a Split."""
    lowers(
        """g (float[N] x, int64[3] p) => (float[M] y, int64 n) <int64 one = {1}> {
           s = SplitToSequence (x, p)
           y = SequenceAt (s, one)
           n = SequenceLength (s)
        }""",
        """g (float[N] x, int64[3] p) => (float[M] y, int64 n) <int64 n = {3}> {
           s_0, y, s_2 = Split <axis = 0> (x, p)
        }""",
        [
            {"x": np.arange(7, dtype=np.float32), "p": np.array(sizes)}
            for sizes in ([3, 0, 4], [0, 7, 0], [1, 2, 4])
        ],
    )


@pytest.mark.parametrize("sizes", ["int32", "int64"])
@pytest.mark.parametrize("opset", [13, 18, 25])
@pytest.mark.parametrize("given", [[5], [2, 3], [0, 5, 0]])
def test_sizes_known_at_run_time_in_every_form(sizes, opset, given):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[2,5] x, {sizes}[{len(given)}] p) => (float[2,R] y, int64 n)
              <int64 last = {{-1}}> {{
           s = SplitToSequence <axis = -1, keepdims = 0> (x, p)
           e = SequenceAt (s, last)
           y = Identity (e)
           n = SequenceLength (s)
        }}"""
    result = run_passes(text, *LOWER)
    assert sequence_operators(result.model) == []
    feeds = {"x": np.arange(10, dtype=np.float32).reshape(2, 5), "p": np.array(given, sizes)}
    assert_equal_outputs(text, result.model, feeds)


@pytest.mark.parametrize(
    ("opset", "split", "position", "reason"),
    [
        (12, "int64[3] p", "int64 at = {1}", "takes constant sizes; convert to opset 13 first"),
        (18, "int64[K] p", "int64 at = {1}", "its split depends on input 'p'"),
        (18, "int64 p", "int64 at = {1}", "its split depends on input 'p'"),
        (18, "int64[3] p, int64 at", "", "its position depends on input 'at'"),
        (18, "int64[1] p", "int64 at = {1}", "position 1 is outside a sequence of 1"),
    ],
)
def test_run_time_sizes_that_stay(opset, split, position, reason):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[N] x, {split}) => (float[M] y) <{position}> {{
           s = SplitToSequence (x, p)
           y = SequenceAt (s, at)
        }}"""
    assert_keeps(LowerSequences(), text, reason)


def test_the_length_may_be_inferred():
    text = HEAD + (
        """g (float[2,N] x) => (float[1,N] y, int64 n) <int64 one = {1}> {
           t = Concat <axis = 0> (x, x)
           s = SplitToSequence (t)
           y = SequenceAt (s, one)
           n = SequenceLength (s)
        }"""
    )
    result = run_passes(text, *LOWER)
    assert sequence_operators(result.model) == []
    assert_equal_outputs(text, result.model, {"x": np.ones((2, 3), np.float32)})


def test_bodies_see_the_sequences_around_them():
    lowers(
        """g (float[2] a, float[2] b, bool c) => (float[2] y) <int64 one = {1}> {
           s = SequenceConstruct (a, b)
           y = If (c) <
              then_branch = t () => (float[2] r) { r = SequenceAt (s, one) },
              else_branch = e () => (float[2] q) { q = Neg (a) }
           >
        }""",
        """g (float[2] a, float[2] b, bool c) => (float[2] y) {
           y = If (c) <
              then_branch = t () => (float[2] b_1) { b_1 = Identity (b) },
              else_branch = e () => (float[2] q) { q = Neg (a) }
           >
        }""",
        [{**TWO, "c": np.array(c)} for c in (True, False)],
    )


def test_the_body_of_a_sequence_map_is_copied_for_each_element():
    lowers(
        """g (float[2] a, float[2] b) => (float[4] y, float[4] z) {
           s = SequenceConstruct (a, b)
           t = SequenceConstruct (b, b)
           u, v = SequenceMap (s, t, a) <body = m (float[2] p, float[2] q, float[2] r)
                                              => (float[2] w, float[2] x) {
              w = Sub (p, q)
              x = Mul (w, r)
           }>
           y = ConcatFromSequence <axis = 0> (u)
           z = ConcatFromSequence <axis = 0> (v)
        }""",
        """g (float[2] a, float[2] b) => (float[4] y, float[4] z) {
           w_0 = Sub (a, b)
           x_0 = Mul (w_0, a)
           w_1 = Sub (b, b)
           x_1 = Mul (w_1, a)
           y = Concat <axis = 0> (w_0, w_1)
           z = Concat <axis = 0> (x_0, x_1)
        }""",
        [TWO],
    )


def test_sequence_maps_nest():
    text = HEAD + (
        """g (float[2] a, float[2] b) => (float[4] y) <int64 one = {1}> {
           s = SequenceConstruct (a, b)
           u = SequenceMap (s) <body = m (float[2] p) => (float[2] w) {
              i = SequenceMap (s) <body = n (float[2] q) => (float[2] r) { r = Sub (q, p) }>
              w = SequenceAt (i, one)
           }>
           y = ConcatFromSequence <axis = 0> (u)
        }"""
    )
    result = run_passes(text, *LOWER)
    assert sequence_operators(result.model) == []
    assert_equal_outputs(text, result.model, TWO)


def test_a_sequence_map_over_nothing_gives_nothing():
    text = HEAD + (
        """g (float[2] a) => (seq(float[2]) y, int64 n) {
           s = SequenceEmpty ()
           y = SequenceMap (s) <body = m (float[2] p) => (float[2] w) { w = Neg (p) }>
           n = SequenceLength (y)
        }"""
    )
    result = run_passes(text, *LOWER)
    assert sequence_operators(result.model) == ["SequenceEmpty"]
    assert_equal_outputs(text, result.model, {"a": TWO["a"]})


def test_a_random_sequence_map_is_kept():
    text = """g (float[2] a) => (seq(float[2]) y) {
           s = SequenceConstruct (a, a)
           y = SequenceMap (s) <body = m (float[2] p) => (float[2] w) {
              w = RandomNormalLike <seed = 1.0> (p)
           }>
        }"""
    assert_keeps(LowerSequences(), HEAD + text, "random numbers")


def test_a_sequence_map_over_budget_is_kept():
    text = """g (float[2] a) => (seq(float[2]) y) {
           s = SequenceConstruct (a, a)
           y = SequenceMap (s) <body = m (float[2] p) => (float[2] w) { w = Neg (p) }>
        }"""
    assert_keeps(LowerSequences(max_nodes=1), HEAD + text, "max_nodes=1")


def test_optionals():
    lowers(
        """g (float[2] a) => (float[2] y, bool h) {
           o = Optional (a)
           i = Identity (o)
           e = OptionalGetElement (i)
           y = Neg (e)
           h = OptionalHasElement (o)
        }""",
        """g (float[2] a) => (float[2] y, bool h) <bool h = {1}> {
           y = Neg (a)
        }""",
        [{"a": TWO["a"]}],
    )


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        ("h = OptionalHasElement ()", False),
        ("h = OptionalHasElement (a)", True),
        ("s = SequenceConstruct (a)\n h = OptionalHasElement (s)", True),
        ("o = Optional <type = float[2]> ()\n h = OptionalHasElement (o)", False),
    ],
)
def test_what_is_certainly_there_or_not(make, expected):
    text = HEAD + f"g (float[2] a) => (bool h) {{ {make} }}"
    model = onnx.parser.parse_model(text.replace("Optional <type = float[2]> ()", "Optional ()"))
    for node in model.graph.node:
        if node.op_type == "Optional":
            type_ = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
            node.attribute.append(helper.make_attribute("type", type_))
    result = run_passes(model, *LOWER)
    assert sequence_operators(result.model) == []
    (initializer,) = result.model.graph.initializer
    assert bool(onnx.numpy_helper.to_array(initializer)) is expected


def test_an_optional_sequence():
    lowers(
        """g (float[2] a, float[2] b) => (float[4] y) {
           s = SequenceConstruct (a, b)
           o = Optional (s)
           t = OptionalGetElement (o)
           y = ConcatFromSequence <axis = 0> (t)
        }""",
        """g (float[2] a, float[2] b) => (float[4] y) {
           y = Concat <axis = 0> (a, b)
        }""",
        [TWO],
    )


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ("e = SequenceAt (s, p) y = Neg (e)", "position depends on input 'p'"),
        ("e = SequenceAt (s, two) y = Neg (e)", "position 2 is outside a sequence of 2"),
        ("e = SequenceAt (q, two) y = Neg (e)", "its sequence is input 'q'"),
        (
            "t = SequenceInsert (s, a, p) u = SequenceErase (t) e = SequenceAt (u, two) y = Neg(e)",
            "its sequence comes from SequenceInsert 't': its position depends on input 'p'",
        ),
        ("o = Optional (a) e = OptionalGetElement (r) y = Neg (e)", "its optional is input 'r'"),
    ],
)
def test_undecided_structure_is_kept(nodes, reason):
    text = f"""g (float[2] a, float[2] b, int64 p, seq(float[2]) q, optional(float[2]) r)
               => (float[2] y) <int64 two = {{2}}> {{
           s = SequenceConstruct (a, b)
           {nodes}
        }}"""
    result = run_passes(HEAD + text, LowerSequences())
    assert any(reason in remark.reason for remark in result.kept), result.kept
    left = [remark.op_type for remark in result.kept]
    assert sorted(left) == sorted(sequence_operators(result.model))


def test_a_sequence_that_is_an_output_stays():
    text = """g (float[2] a) => (seq(float[2]) t) {
           s = SequenceConstruct (a)
           t = SequenceInsert (s, a)
        }"""
    assert_keeps(LowerSequences(), HEAD + text, "the graph gives out its sequence")
    assert_keeps(LowerSequences(), HEAD + text, "SequenceInsert 't' needs its sequence as a whole")


def test_a_sequence_that_a_loop_carries_stays():
    text = """g (float[2] a, int64 n) => (float[N] y) {
           s = SequenceConstruct (a)
           t = Loop (n, , s) <body = b (int64 i, bool c, seq(float[2]) u)
                                     => (bool c, seq(float[2]) v) {
              v = SequenceInsert (u, a)
           }>
           y = ConcatFromSequence <axis = 0> (t)
        }"""
    result = run_passes(HEAD + text, LowerSequences())
    assert not result.changed
    reasons = [remark.reason for remark in result.kept]
    assert "its sequence comes from Loop 't', which stays" in reasons
    assert "its sequence is 'u' of the body of Loop 't', known only at run time" in reasons


def test_an_unrolled_loop_over_a_sequence_becomes_straight_line():
    text = HEAD + (
        """g (float[2] a) => (float[N] y) <int64 three = {3}> {
           s = SequenceEmpty ()
           t = Loop (three, , s) <body = b (int64 i, bool c, seq(float[2]) u)
                                         => (bool c, seq(float[2]) v) {
              f = Cast <to = 1> (i)
              e = Add (a, f)
              v = SequenceInsert (u, e)
           }>
           y = ConcatFromSequence <axis = 0> (t)
        }"""
    )
    unroll = parse_pipeline("unroll-loops").passes
    result = run_passes(text, *unroll, *LOWER)
    assert sequence_operators(result.model) == []
    assert_equal_outputs(text, result.model, {"a": TWO["a"]})


# Random programs ----------------------------------------------------------------------------------


class Program:
    """A random program of sequence operators whose structure constants decide."""

    def __init__(self, draw, opset):
        self.draw = draw
        self.opset = opset
        self.nodes, self.constants = [], []
        self.tensors = ["x", "y"]
        self.sequences = []
        self.lengths = []

    def emit(self, op_type, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def constant(self, value, type=TensorProto.INT64):
        array = np.array(value, helper.tensor_dtype_to_np_dtype(type))
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def tensor(self):
        return self.draw(st.sampled_from(self.tensors))

    def sequence(self, least=0):
        ready = [pair for pair in self.sequences if pair[1] >= least]
        if ready and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(ready))
        return self.construct(least)

    def position(self, low, high):
        return [self.constant(self.draw(st.integers(low, high)))]

    def add(self, name, count):
        self.sequences.append((name, count))
        return name, count

    def construct(self, least=0):
        count = self.draw(st.integers(least, 3))
        if not count:
            return self.add(self.emit("SequenceEmpty", []), 0)
        return self.add(
            self.emit("SequenceConstruct", [self.tensor() for _ in range(count)]), count
        )

    def insert(self):
        name, count = self.sequence()
        at = self.position(-count, count) if self.draw(st.booleans()) else []
        self.add(self.emit("SequenceInsert", [name, self.tensor(), *at]), count + 1)

    def erase(self):
        name, count = self.sequence(1)
        at = self.position(-count, count - 1) if self.draw(st.booleans()) else []
        self.add(self.emit("SequenceErase", [name, *at]), count - 1)

    def at(self):
        name, count = self.sequence(1)
        self.tensors.append(self.emit("SequenceAt", [name, *self.position(-count, count - 1)]))

    def length(self):
        name, _ = self.sequence()
        self.lengths.append(self.emit("SequenceLength", [name]))

    def split(self):
        """Cut a tensor and join its parts again, so that all tensors keep the shape [3, 2]."""
        source = self.tensor()
        kinds = ["absent", "scalar", "list", "squeezed", *["given"] * (self.opset >= 13)]
        kind = self.draw(st.sampled_from(kinds))
        if kind in ("absent", "squeezed"):
            keep = int(kind == "absent")
            # Only graph inputs have a declared length here.
            fixed = self.draw(st.sampled_from(["x", "y"]))
            split = self.emit("SplitToSequence", [fixed], axis=0, keepdims=keep)
            joined = self.emit("ConcatFromSequence", [split], axis=0, new_axis=1 - keep)
            self.tensors.append(joined)
            return
        sizes = self.constant(2) if kind == "scalar" else self.constant([1, 0, 2])
        if kind == "given":
            sizes = "p"  # known at run time only
        source = "x" if kind == "scalar" else source
        split = self.emit("SplitToSequence", [source, sizes], axis=0)
        parts = [
            self.emit("SequenceAt", [split, self.constant(index)])
            for index in ((1, 0) if kind == "scalar" else (2, 1, 0))
        ]
        again = self.emit("SequenceConstruct", parts)
        self.tensors.append(self.emit("ConcatFromSequence", [again], axis=0))

    def stack(self):
        name, _ = self.sequence(1)
        stacked = self.emit("ConcatFromSequence", [name], axis=0, new_axis=1)
        self.tensors.append(self.emit("ReduceMax", [stacked], axes=[0], keepdims=0))

    def map(self):
        name, count = self.sequence(1)
        other, same = self.sequence(1)
        extra = other if same == count else self.tensor()
        infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3, 2]) for n in "pqr"]
        body = helper.make_graph(
            [helper.make_node("Sub", ["p", "q"], ["r"])], "m", infos[:2], infos[2:]
        )
        self.add(self.emit("SequenceMap", [name, extra], body=body), count)

    def wrap(self):
        """Through an optional, of a tensor or of a sequence."""
        if self.draw(st.booleans()):
            held = self.emit("Optional", [self.tensor()])
            self.tensors.append(self.emit("OptionalGetElement", [held]))
        else:
            name, count = self.sequence()
            held = self.emit("Optional", [name])
            self.add(self.emit("OptionalGetElement", [held]), count)

    def negate(self):
        self.tensors.append(self.emit("Neg", [self.tensor()]))

    def model(self):
        outputs = [(self.emit("Neg", [self.tensors[-1]]), TensorProto.FLOAT, [3, 2])]
        outputs += [(name, TensorProto.INT64, []) for name in self.lengths[-1:]]
        graph = helper.make_graph(
            self.nodes,
            "g",
            [
                *(helper.make_tensor_value_info(n, TensorProto.FLOAT, [3, 2]) for n in "xy"),
                helper.make_tensor_value_info("p", TensorProto.INT64, [3]),
            ],
            [helper.make_tensor_value_info(*output) for output in outputs],
            self.constants,
        )
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@st.composite
def programs(draw):
    program = Program(draw, draw(st.sampled_from([11, 13, 17])))
    steps = [
        program.construct,
        program.insert,
        program.erase,
        program.at,
        program.length,
        program.split,
        program.stack,
        program.negate,
    ]
    if program.opset >= 17:
        steps += [program.map, program.wrap]
    for step in draw(st.lists(st.sampled_from(steps), min_size=1, max_size=12)):
        step()
    return program.model()


@settings(max_examples=60, deadline=None)
@given(programs())
def test_no_decided_sequence_is_left(model):
    pipeline = parse_pipeline("fold-constants")
    result = run_passes(model, *pipeline.passes, *LOWER)
    assert sequence_operators(result.model) == []
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    feeds = {"x": x, "y": 5 - x * x, "p": np.array([1, 0, 2])}
    assert_equal_outputs(model, result.model, feeds)
