"""Unroll a GRU body of 21 nodes: straightline against a bare copy and against onnx_ir.

The bare copy is a loop over messages that copies each node of the body and renames what it reads
and writes: it knows nothing of scopes, captures or uses, and is the least that unrolling can cost.
The onnx_ir version does the same on that library's graph. straightline runs as users call it, with
its proof and without. All start from a ModelProto and end with one.

    python dev/benchmarks/unroll_gru.py
"""

import gc
import itertools
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence

import numpy as np
import onnx
import onnx_ir
import straightline as sl
from onnx import TensorProto, helper, numpy_helper
from straightline.dev.benchmarks.timing import timed

ITERATIONS = (100, 1_000, 10_000)
HIDDEN = 8
BUDGET = 10_000_000


def gru_loop(iterations: int) -> onnx.ModelProto:
    """A Loop that runs a GRU cell, written out in 21 nodes, over the rows of X."""
    rng = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((rng.random(shape) * 0.1).astype(np.float32), name)

    square = [weight(kind + gate, HIDDEN, HIDDEN) for gate in "zrh" for kind in "WU"]
    biases = [weight("b" + gate, HIDDEN) for gate in "zrh"]
    scalars = [
        numpy_helper.from_array(np.array(1, np.float32), "one"),
        numpy_helper.from_array(np.array(iterations, np.int64), "M"),
        numpy_helper.from_array(np.array(True), "start"),
    ]
    state = [1, HIDDEN]
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        gru_cell(),
        "cell",
        [
            info("i", TensorProto.INT64, []),
            info("go", TensorProto.BOOL, []),
            info("h", TensorProto.FLOAT, state),
        ],
        [info("go", TensorProto.BOOL, []), info("h_next", TensorProto.FLOAT, state)],
    )
    loop = helper.make_node("Loop", ["M", "start", "H0"], ["Y"], body=body, name="gru")
    graph = helper.make_graph(
        [loop],
        "decoder",
        [info("X", TensorProto.FLOAT, ["T", *state]), info("H0", TensorProto.FLOAT, state)],
        [info("Y", TensorProto.FLOAT, state)],
        [*square, *biases, *scalars],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def gru_cell() -> list[onnx.NodeProto]:
    """The body's nodes: h_next = (1 - z) * h~ + z * h."""
    lines = """
        MatMul x Wz xz; MatMul h Uz hz; Add xz hz z0; Add z0 bz z1; Sigmoid z1 z
        MatMul x Wr xr; MatMul h Ur hr; Add xr hr r0; Add r0 br r1; Sigmoid r1 r
        MatMul x Wh xh; Mul r h rh; MatMul rh Uh hh; Add xh hh h0; Add h0 bh h1; Tanh h1 hc
        Sub one z nz; Mul nz hc new; Mul z h old; Add new old h_next
    """
    nodes = [helper.make_node("Gather", ["X", "i"], ["x"], axis=0)]
    for line in lines.replace("\n", ";").split(";"):
        if line.strip():
            op_type, *names = line.split()
            nodes.append(helper.make_node(op_type, names[:-1], names[-1:]))
    assert len(nodes) == 21
    return nodes


def by_bare_copy(model: onnx.ModelProto, iterations: int) -> onnx.ModelProto:
    """Copy and rename messages."""
    made = onnx.ModelProto()
    body = model.graph.node[0].attribute[0].g
    made.graph.initializer.extend(model.graph.initializer)
    carried = {"h": "H0"}
    for iteration in range(iterations):
        number = numpy_helper.from_array(np.array(iteration, np.int64), f"i_{iteration}")
        made.graph.initializer.append(number)
        names = {**carried, "i": number.name}
        for node in body.node:
            copy = made.graph.node.add()
            copy.CopyFrom(node)
            for index, name in enumerate(node.input):
                copy.input[index] = names.get(name, name)
            for index, name in enumerate(node.output):
                names[name] = copy.output[index] = f"{name}_{iteration}"
        carried = {"h": names["h_next"]}
    return made


def by_onnx_ir(proto: onnx.ModelProto, iterations: int) -> onnx.ModelProto:
    """The same on onnx_ir: nodes that share attributes, uses replaced, the Loop removed."""
    model = onnx_ir.from_proto(proto)
    graph = model.graph
    loop = graph[0]
    body = loop.attributes["body"].as_graph()
    state = loop.inputs[2]
    for iteration in range(iterations):
        number = onnx_ir.tensor(np.array(iteration, np.int64), name=f"i_{iteration}")
        index = onnx_ir.Value(name=number.name, const_value=number)
        graph.register_initializer(index)
        values = {body.inputs[0]: index, body.inputs[2]: state}
        for node in body:
            copy = onnx_ir.Node(
                node.domain,
                node.op_type,
                [values.get(value, value) for value in node.inputs],
                list(node.attributes.values()),
                num_outputs=len(node.outputs),
            )
            for old, new in zip(node.outputs, copy.outputs, strict=True):
                new.name = f"{old.name}_{iteration}"
                new.type, new.shape = old.type, old.shape
                values[old] = new
            graph.insert_before(loop, copy)
        state = values[body.outputs[1]]
    state.name = graph.outputs[0].name
    state.type, state.shape = graph.outputs[0].type, graph.outputs[0].shape
    graph.outputs[0] = state
    graph.remove(loop, safe=True)
    return onnx_ir.to_proto(model)


def by_straightline(model: onnx.ModelProto, iterations: int) -> onnx.ModelProto:
    """The public function without verification."""
    return sl.rewrite(model, "unroll-loops", max_nodes=BUDGET, verify=False)


def by_default(model: onnx.ModelProto, iterations: int) -> onnx.ModelProto:
    """The public function with its proof."""
    return sl.rewrite(model, "unroll-loops", max_nodes=BUDGET)


METHODS: dict[str, Callable[[onnx.ModelProto, int], onnx.ModelProto]] = {
    "bare copy": by_bare_copy,
    "straightline": by_straightline,
    "straightline, proved": by_default,
    "onnx_ir": by_onnx_ir,
}


def seconds(method: Callable[[onnx.ModelProto, int], onnx.ModelProto], iterations: int) -> float:
    """The least processor time of several runs, which the load of the machine disturbs least."""
    model = gru_loop(iterations)
    spent, result = timed(lambda: method(model, iterations), 7 if iterations <= 1_000 else 3)
    assert len(result.graph.node) == 21 * iterations
    return spent


def memory_of_ir(iterations: int) -> float:
    """Bytes that the unrolled IR holds for each node made (Python's own allocations)."""
    model = sl.ir.load(gru_loop(iterations))
    pipeline = sl.passes.parse_pipeline("unroll-loops", max_nodes=BUDGET)
    gc.collect()
    tracemalloc.start()
    pipeline.apply(model)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / (21 * iterations)


def peak_of_process(method: str, iterations: int) -> float:
    """Bytes by which a process of its own grows at its peak for each node made, message and all."""

    def peak(count: int) -> int:
        command = [sys.executable, __file__, "--peak", method, str(count)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    return (peak(iterations) - peak(1)) * 1024 / (21 * iterations)


def main() -> None:
    # First, because on Linux a child's peak starts at the size of its parent.
    peaks = {name: peak_of_process(name, 5_000) for name in METHODS}
    print("body copies     nodes   us a node:  bare  straightline    proved  onnx_ir", end="")
    print("    of bare    proved  of onnx_ir")
    totals = []
    for iterations in ITERATIONS:
        times = {name: seconds(method, iterations) for name, method in METHODS.items()}
        totals.append(times["straightline"])
        print(row(iterations, times))
    factors = [b / a for a, b in itertools.pairwise(totals)]
    print(
        f"ten times the iterations take {' and '.join(f'{f:.1f}' for f in factors)} times the time"
    )
    print(f"the IR holds {memory_of_ir(1_000):.0f} bytes a node made")
    text = ", ".join(f"{name} {peak:.0f}" for name, peak in peaks.items())
    print(f"a process peaks at so many bytes a node made, from message to message: {text}")


def row(iterations: int, times: dict[str, float]) -> str:
    made = 21 * iterations
    bare, ours, proved, other = (times[name] / made * 1e6 for name in METHODS)
    return (
        f"{iterations:11,}{made:10,}{bare:17.1f}{ours:14.1f}{proved:10.1f}{other:9.1f}"
        f"{ours / bare:11.2f}{proved / bare:10.2f}{ours / other:12.2f}"
    )


def measure_peak(arguments: Sequence[str]) -> None:
    """Print the peak memory of this process in KB after one unroll."""
    method, iterations = arguments[0], int(arguments[1])
    made = METHODS[method](gru_loop(iterations), iterations)
    assert len(made.graph.node) == 21 * iterations
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        measure_peak(sys.argv[2:])
    else:
        main()
