import hashlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from straightline import ir
from straightline.passes.base import Meter
from straightline.passes.utils.budget import Budget
from straightline.targets import legalize

from targets import fitted, lacking, operators

SHAPE = (2, 4, 2, 2)
CHANNEL = (1, 4, 1, 1)


class Chain:
    """A chain of nodes, each of which reads the result of the one before."""

    def __init__(self, opset, shape=SHAPE):
        self.opset, self.shape = opset, list(shape)
        self.nodes, self.tensors, self.last = [], [], "x"

    def add(self, op_type, *constants, describe="", **attributes):
        number = len(self.nodes)
        names = [f"c{number}_{index}" for index in range(len(constants))]
        self.tensors += [
            numpy_helper.from_array(np.asarray(array), name)
            for array, name in zip(constants, names, strict=True)
        ]
        node = helper.make_node(op_type, [self.last, *names], [f"v{number}"], **attributes)
        node.doc_string = describe
        self.nodes.append(node)
        self.last = f"v{number}"
        return self

    def model(self):
        value = helper.make_tensor_value_info
        inputs = [value("x", TensorProto.FLOAT, self.shape)]
        outputs = [value(self.last, TensorProto.FLOAT, [None] * len(self.shape))]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.tensors)
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9)


@pytest.fixture
def trials(monkeypatch):
    """The operators of the nodes on which a way was tried."""
    names, tried_on = [], legalize._Legalizer._failure

    def count(self, scratch, way, name):
        names.append(name)
        return tried_on(self, scratch, way, name)

    monkeypatch.setattr(legalize._Legalizer, "_failure", count)
    return names


def feed_of(chain, seed=0):
    return {"x": np.random.default_rng(seed).normal(size=chain.shape).astype(np.float32)}


def floats(rng, *shape):
    return rng.uniform(0.5, 2, shape).astype(np.float32)


def groups(count, opset=21):
    rng, chain = np.random.default_rng(0), Chain(opset)
    for _ in range(count):
        size = 4 if opset >= 21 else 2
        chain.add("GroupNormalization", floats(rng, size), floats(rng, size), num_groups=2)
    return chain


@pytest.mark.parametrize("opset", [18, 21])
def test_nodes_with_other_numbers_take_no_more_trials(trials, opset):
    counts = []
    for count in (4, 24):
        trials.clear()
        chain = groups(count, opset)
        feeds = [feed_of(chain)] if opset >= 21 else []  # the reference refuses the older one
        outcome = fitted(chain.model(), "onnx2torch", *feeds, passes=())
        assert "GroupNormalization" not in operators(outcome) and not outcome.untaken
        counts.append(len(trials))
    assert counts[0] == counts[1] <= 24


def test_nodes_that_nothing_stands_for_are_failurece(trials):
    outcome = fitted(groups(12).model(), lacking("GroupNormalization", "Reshape"), passes=())
    assert len(outcome.untaken) == 12 and len({r.reason for r in outcome.untaken}) == 1
    few = len(trials)
    trials.clear()
    fitted(groups(24).model(), lacking("GroupNormalization", "Reshape"), passes=())
    assert len(trials) == few


def test_names_and_descriptions_are_those_of_each_node():
    chain = Chain(21)
    for text in ("one", "two", "three"):
        chain.add("Reciprocal", describe=text)
    nodes = fitted(chain.model(), lacking("Reciprocal"), feed_of(chain), passes=()).model.graph.node
    assert [node.doc_string for node in nodes] == ["one", "two", "three"]
    assert [node.output[0] for node in nodes] == ["v0", "v1", "v2"]
    assert [node.input[0] for node in nodes] == ["v0_one", "v0_one", "v2_one"]


def test_sizes_of_other_names_are_of_one_form(trials):
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Gelu", [f"x{i}"], [f"y{i}"]) for i in range(4)]
    inputs = [value(f"x{i}", TensorProto.FLOAT, [f"N{i}", 2]) for i in range(4)]
    outputs = [value(f"y{i}", TensorProto.FLOAT, [f"N{i}", 2]) for i in range(4)]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    outcome = fitted(model, lacking("Gelu"), passes=())
    assert trials.count("Gelu") <= 2
    declared = [
        dim.dim_param for v in outcome.model.graph.output for dim in v.type.tensor_type.shape.dim
    ]
    assert [name for name in declared if name] == [f"N{i}" for i in range(4)]


def test_numbers_that_decide_are_looked_at_for_each_node():
    """A Range of floats is as long as its numbers say."""
    value = helper.make_tensor_value_info
    numbers = [(0, 3, 1), (0, 6, 2), (1, 3, 1), (0, 4, 1), (0, 3, 1)]
    tensors, nodes, last = [], [], "x"
    for index, array in enumerate(np.array(numbers, np.float32)):
        names = [f"c{index}_{place}" for place in range(3)]
        tensors += [numpy_helper.from_array(a, n) for a, n in zip(array, names, strict=True)]
        nodes.append(helper.make_node("Range", names, [f"r{index}"]))
        nodes.append(helper.make_node("ReduceSum", [f"r{index}"], [f"s{index}"], keepdims=0))
        nodes.append(helper.make_node("Add", [last, f"s{index}"], [f"v{index}"]))
        last = f"v{index}"
    info = [value(name, TensorProto.FLOAT, [2]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    fitted(model, lacking("Range"), {"x": np.ones(2, np.float32)}, passes=())


KINDS = {
    "GroupNormalization": lambda r,
     o: ([floats(r, 4 if o >= 21 else 2), floats(r, 4 if o >= 21 else 2)], {"num_groups": 2}),
    "LayerNormalization": lambda r, o: ([floats(r, 2), floats(r, 2)], {"axis": -1}),
    "Clip": lambda r, o: ([floats(r), np.float32(r.choice([0.1, 3]))], {}),
    "Pow": lambda r, o: ([np.float32(r.choice([2, 3, 0.5])) if r.random() < 0.5 else np.array(2)],
     {}),
    "PRelu": lambda r, o: ([floats(r, *CHANNEL[1:])], {}),
    "Mul": lambda r,
     o: ([np.ones(CHANNEL, np.float32) if r.random() < 0.3 else floats(r, *CHANNEL)], {}),
    "Div": lambda r, o: ([floats(r, *CHANNEL)], {}),
    "Mod": lambda r, o: ([floats(r, *CHANNEL)], {"fmod": 1}),
    "Dropout": lambda r, o: ([np.float32(r.choice([0, 0.5]))], {}),
    "Sum": lambda r, o: ([floats(r, *CHANNEL), floats(r, 1)], {}),
    "ThresholdedRelu": lambda r, o: ([], {"alpha": float(r.choice([0.5, 1]))}),
    "ReduceL1": lambda r, o: ([np.array([r.integers(0, 4)])], {"keepdims": 1}),
    "Celu": lambda r, o: ([], {"alpha": float(r.choice([0.5, 1]))}),
    "HardSwish": lambda r, o: ([], {}),
    "Resize": lambda r,
     o: ([np.array([], np.float32), np.array([1, 1, r.choice([1, 2]), 1], np.float32)],
     {"mode": "nearest"})}  # fmt: skip


def digests(model):
    """The computations of the nodes, regardless of names, order and repetitions."""
    known = {"": ""} | {value.name: value.name for value in model.graph.input}
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        known[tensor.name] = str((array.dtype, array.shape, array.tobytes()))
    for node in model.graph.node:
        plain = onnx.NodeProto(op_type=node.op_type, domain=node.domain, attribute=node.attribute)
        read = [plain.SerializeToString(deterministic=True), *(known[n] for n in node.input)]
        digest = hashlib.sha256(repr(read).encode()).hexdigest()
        known.update((name, f"{digest}/{place}") for place, name in enumerate(node.output))
    outputs = [(value.name, known[value.name]) for value in model.graph.output]
    return outputs, {known[node.output[0]] for node in model.graph.node}


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(16))
def test_templates_equal_bodies_made_alone(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    opset = int(rng.choice([18, 20, 21]))
    chain, kinds = Chain(opset), rng.choice(sorted(KINDS), 4, replace=False)
    for kind in rng.choice(kinds, 10):
        constants, attributes = KINDS[kind](rng, opset)
        chain.add(kind, *constants, **attributes)
        if kind == "ReduceL1":
            chain.add("Expand", np.array(SHAPE))
    # What stands for one may need another one of them.
    target = lacking(*kinds, *rng.choice(["Reciprocal", "Where", "Sqrt", "ReduceMean"], 2))
    text = chain.model()
    # Normalization of few elements makes large differences of small ones.
    feeds = [] if any("Normalization" in kind for kind in kinds) else [feed_of(chain, seed)]
    outcome = fitted(text, target, *feeds, passes=())
    monkeypatch.setattr(legalize._Legalizer, "_form", lambda self, node: None)
    alone = fitted(text, target, passes=())
    assert digests(outcome.model) == digests(alone.model)
    assert [words(r) for r in outcome.remarks] == [words(r) for r in alone.remarks]


def words(remark):
    """The words of a remark; the order of its operators follows that of the nodes."""
    return sorted(str(remark).replace(",", "").split())


def test_nothing_opaque_is_left_in_the_model():
    outcome = fitted(groups(6).model(), "onnx2torch", passes=())
    held = [t for graph in outcome.ir.graphs() for t in graph.initializers.values()]
    assert held and all(type(tensor) is ir.Tensor for tensor in held)


def facts_after(text, *operators):
    """The facts of outputs that a legalization hands on, as text."""
    budget = Budget(Meter(), 100)
    legalized = legalize.legalize(ir.parse(text), lacking(*operators), budget)
    assert legalized.replaced and not legalized.unsupported
    return {value.name: str(fact.type_proto()) for value, fact in legalized.facts.items()}


def test_facts_of_outputs_that_inference_would_find_again_are_handed_on():
    head = '<ir_version: 9, opset_import: ["" : 20]> '
    flat = head + "g (float[N, 4] x) => (float[N, 4] y) { a = Gelu (x) y = Gelu (a) }"
    (type_,) = facts_after(flat, "Gelu").values()
    assert 'dim_param: "N"' in type_ and "dim_value: 4" in type_
    held = flat.replace("y = Gelu (a)", "y = If (c) <then_branch = t () => (float[N, 4] b)"
        " { b = Gelu (a) }, else_branch = e () => (float[N, 4] b) { b = Abs (a) }>")  # fmt: skip
    assert not facts_after(held.replace("x)", "x, bool c)", 1), "Gelu")
    # A size that depends on data is another symbol in each inference.
    text = (
        head
        + "g (bool[3] c, float[3] x) => (float[n, m] y) { i = NonZero (c) y = CastLike (i, x) }"
    )
    assert not facts_after(text, "CastLike")
