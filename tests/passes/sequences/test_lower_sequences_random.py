"""Random programs of sequences and optionals: nothing that is decided is left."""

import numpy as np
import onnx
from depth import examples
from harness import assert_equal_outputs, run_passes
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from sequences import LOWER, sequence_operators
from straightline.passes import parse_pipeline


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
            self.tensors.append(self.emit("ConcatFromSequence", [split], axis=0, new_axis=1 - keep))
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


@settings(max_examples=examples(25), deadline=None)
@given(programs())
def test_no_decided_sequence_is_left(model):
    result = run_passes(model, *parse_pipeline("fold-constants").passes, *LOWER)
    assert sequence_operators(result.model) == []
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    feeds = {"x": x, "y": 5 - x * x, "p": np.array([1, 0, 2])}
    assert_equal_outputs(model, result.model, feeds)
