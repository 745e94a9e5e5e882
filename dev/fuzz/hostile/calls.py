"""Functions that call functions: a few of them stand for more nodes than there are atoms."""

import numpy as np
from case import BOOL, INT, Case, body, call, function, loop, model, tensor
from onnx.helper import make_node, make_tensor_value_info


def doubling(size, first):
    """Each function calls the one before twice."""
    made = [function("f0", ["x"], ["y"], first)]
    for index in range(1, size):
        calls = [call(f"f{index - 1}", ["x"], ["a"]), call(f"f{index - 1}", ["a"], ["y"])]
        made.append(function(f"f{index}", ["x"], ["y"], calls))
    return model([call(f"f{size - 1}", ["x"], ["y"])], [("x", [2])], [("y", [2])], (), made)


def plain(size):
    return doubling(size, [make_node("Neg", ["x"], ["y"])])


def branching(size):
    """What is called in the end holds an If that run time decides."""
    branches = {
        name: model([make_node(op, ["x"], ["z"])], [], [("z", [2])]).graph
        for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    decide = [
        make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        make_node("Cast", ["s"], ["b"], to=BOOL),
        make_node("If", ["b"], ["y"], **branches),
    ]
    return doubling(size, decide)


def decided(size):
    """What is called in the end holds a Loop whose iterations are a constant."""
    turn = loop("n", [make_node("Neg", ["v"], ["w"])], [("x", "v", "w", [2])])
    iterations = make_node("Constant", [], ["n"], value_int=2)
    return doubling(size, [iterations, turn, make_node("Identity", ["w_out"], ["y"])])


def given(size):
    """Each call hands on how often the Loop in the innermost function turns."""
    turn = loop("n", [make_node("Neg", ["v"], ["w"])], [("x", "v", "w", [2])])
    made = [function("f0", ["x", "n"], ["y"], [turn, make_node("Identity", ["w_out"], ["y"])])]
    for index in range(1, size):
        calls = [call(f"f{index - 1}", ["x", "n"], ["a"]), call(f"f{index - 1}", ["a", "n"], ["y"])]
        made.append(function(f"f{index}", ["x", "n"], ["y"], calls))
    top = call(f"f{size - 1}", ["x", "n"], ["y"])
    return model([top], [("x", [2])], [("y", [2])], [tensor("n", 2)], made)


def constant(size):
    """The calls are given nothing but a constant."""
    whole = plain(size)
    whole.graph.node[0].input[0] = "k"
    whole.graph.node[0].output[0] = "r"
    whole.graph.node.append(make_node("Add", ["x", "r"], ["y"]))
    whole.graph.initializer.append(tensor("k", np.ones(2, np.float32)))
    return whole


def chain(size):
    """Each function calls the one before."""
    made = [function("f0", ["x"], ["y"], [make_node("Neg", ["x"], ["y"])])]
    made += [
        function(f"f{index}", ["x"], ["y"], [call(f"f{index - 1}", ["x"], ["y"])])
        for index in range(1, size)
    ]
    return model([call(f"f{size - 1}", ["x"], ["y"])], [("x", [2])], [("y", [2])], (), made)


def constant_chain(size):
    """What a chain of calls is given is a constant."""
    whole = constant(2)
    del whole.functions[:]
    whole.functions.extend(chain(size).functions)
    whole.graph.node[0].op_type = f"f{size - 1}"
    return whole


def looped_chain(size):
    """A Loop whose end run time decides calls a chain of functions, of a value from outside too."""
    whole = chain(size)
    last = f"f{size - 1}"
    nodes = [
        call(last, ["x"], ["k"]),
        call(last, ["v"], ["u"]),
        make_node("Add", ["u", "k"], ["w"]),
    ]
    del whole.graph.node[:]
    whole.graph.node.append(loop("n", nodes, [("x", "v", "w", [2])]))
    whole.graph.input.append(make_tensor_value_info("n", INT, []))
    whole.graph.output[0].name = "w_out"
    return whole


def doubled_rows(size):
    """A Scan whose body calls a function that calls another twice, and so on."""
    whole = plain(size)
    inner = body([call(f"f{size - 1}", ["v"], ["w"])], [("v", [])], [("w", [])])
    del whole.graph.node[:]
    whole.graph.node.append(make_node("Scan", ["x"], ["y"], num_scan_inputs=1, body=inner))
    return whole


def shaped_chain(size):
    """The size of what a chain of calls gives out decides something."""
    whole = chain(size)
    whole.graph.node.append(make_node("Shape", ["y"], ["s"]))
    whole.graph.node.append(make_node("ConstantOfShape", ["s"], ["z"]))
    whole.graph.output[0].name = "z"
    return whole


CASES = [
    Case("doubled-calls", plain, 60, 60),
    Case("doubled-branches", branching, 60, 60),
    Case("doubled-loops", decided, 60, 60),
    Case("doubled-iterations", given, 60, 60),
    Case("doubled-constants", constant, 60, 60),
    Case("doubled-rows", doubled_rows, 60, 20),
    Case("chained-calls", chain, 100_000, 1_000),
    Case("chained-constants", constant_chain, 10_000, 1_000),
    Case("chained-calls-in-a-loop", looped_chain, 10_000, 1_000),
    Case("chained-calls-sized", shaped_chain, 10_000, 1_000),
]
