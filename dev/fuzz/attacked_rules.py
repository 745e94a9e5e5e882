"""Rules on small numbers: the term of a node, evaluated, is what the reference gives, bit for bit.

    PYTHONPATH=tests/support python dev/fuzz/attacked_rules.py --cases 2000
    PYTHONPATH=tests/support python dev/fuzz/attacked_rules.py --family Slice --cases 0

A family makes cases by picking one of several numbers again and again; so all of its cases can be
gone through in order (`--cases 0`), or some of them be taken at random. Sizes are small, bounds lie
on both sides of what an axis has, and floats are special ones. Each case is asked with sizes that
are declared and with run-time sizes.
"""

import argparse
import dataclasses
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from proof_mutants import bits
from straightline import Error, reference
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.slice_pushdown import SlicePushdown
from straightline.verification.proof.terms.budget import OpenError
from term_values import Values, terms_of

LEAST, MOST = -(1 << 63), (1 << 63) - 1
BOUNDS = (0, 1, 2, 3, -1, -2, -3, -4, 4, 6, -6, LEAST, LEAST + 1, MOST, (1 << 31) - 1)
STEPS = (1, -1, 2, -2, 3, -3, LEAST, MOST)
SPECIAL = (0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 3e38)
OPSETS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)

Pick = Callable[[Sequence[Any]], Any]


@dataclasses.dataclass
class Case:
    """Nodes, and what they are given.

    Attributes:
        nodes: the nodes; the last one gives "y".
        inputs: what is an input of the model, by name.
        constants: what is an initializer.
        opset: the version that they are written for.
    """

    nodes: list[onnx.NodeProto]
    inputs: dict[str, Any]
    constants: dict[str, Any]
    opset: int = 18

    def model(self, *, declared: bool) -> onnx.ModelProto:
        """The model.

        Args:
            declared: whether inputs declare their sizes; else each has a name.
        """
        infos = []
        for name, array in self.inputs.items():
            names = [f"{name}{axis}" for axis in range(array.ndim)]
            infos.append(_info(name, array, array.shape if declared else names))
        kept = [onnx.numpy_helper.from_array(np.array(a), n) for n, a in self.constants.items()]
        outputs = [onnx.ValueInfoProto(name="y")]
        graph = helper.make_graph(self.nodes, "g", infos, outputs, kept)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8
        )


def _info(name: str, array: Any, sizes: Any) -> onnx.ValueInfoProto:
    elem_type = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, elem_type, list(sizes))


# What is asked ------------------------------------------------------------------------------------

FAMILIES: dict[str, Callable[[Pick], Case]] = {}


def family(function: Callable[[Pick], Case]) -> Callable[[Pick], Case]:
    """Let a function make cases, under its own name."""
    FAMILIES[function.__name__] = function
    return function


def data(*shape: int, dtype: Any = np.float32) -> Any:
    """Different numbers in a shape."""
    return np.arange(1, np.prod(shape, dtype=int) + 1).astype(dtype).reshape(shape)


def special(pick: Pick, count: int) -> Any:
    return np.array([pick(SPECIAL) for _ in range(count)], np.float32)


def node(op_type: str, *inputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, list(inputs), ["y"], **attributes)


@family
def slices(pick: Pick) -> Case:
    bounds = {"s": pick(BOUNDS), "e": pick(BOUNDS), "a": pick((0, -1)), "k": pick(STEPS)}
    arrays = {name: np.array([number], np.int64) for name, number in bounds.items()}
    return Case([node("Slice", "x", *arrays)], {"x": data(pick(range(5)))}, arrays, 13)


@family
def slices_of_older_opsets(pick: Pick) -> Case:
    bounds = {"starts": [pick(BOUNDS)], "ends": [pick(BOUNDS)], "axes": [pick((0, 1))]}
    return Case([node("Slice", "x", **bounds)], {"x": data(pick(range(4)), 2)}, {}, pick((7, 9)))


@family
def slices_of_two_axes(pick: Pick) -> Case:
    arrays = {name: np.array([pick(BOUNDS), pick(BOUNDS)], np.int64) for name in ("s", "e")}
    arrays["a"] = np.array(pick(((0, 1), (1, 0), (-1, -2))), np.int64)
    arrays["k"] = np.array([pick(STEPS), pick(STEPS)], np.int64)
    return Case([node("Slice", "x", *arrays)], {"x": data(3, pick(range(4)))}, arrays, 13)


@family
def slices_of_slices(pick: Pick) -> Case:
    """Of what is itself a part, a Concat, backward or stretched."""
    below = pick(("Slice", "Concat", "Expand", "Gather", "Reshape", "Transpose"))
    arrays: dict[str, Any] = {"axes": np.array([0], np.int64)}
    for name in ("s", "e", "s2", "e2"):
        arrays[name] = np.array([pick(BOUNDS)], np.int64)
    arrays["k"], arrays["k2"] = (np.array([pick((1, -1, 2, -2))], np.int64) for _ in "ab")
    x, inner = data(3, 2), node("Slice", "x", "s", "e", "axes", "k")
    if below == "Concat":
        inner = node("Concat", "x", "x", axis=0)
    elif below == "Expand":
        x, arrays["shape"] = data(1, 2), np.array([4, 2], np.int64)
        inner = node("Expand", "x", "shape")
    elif below == "Gather":
        arrays["places"] = np.array([pick((0, -1)), pick((1, -2)), pick((2, -3))], np.int64)
        inner = node("Gather", "x", "places", axis=0)
    elif below == "Reshape":
        arrays["shape"] = np.array(pick(((6,), (2, 3), (3, 1, 2), (1, 6))), np.int64)
        inner = node("Reshape", "x", "shape")
    elif below == "Transpose":
        inner = node("Transpose", "x", perm=[1, 0])
    inner.output[0] = "z"
    return Case([inner, node("Slice", "z", "s2", "e2", "axes", "k2")], {"x": x}, arrays, 13)


@family
def gather(pick: Pick) -> Case:
    places = pick(((0,), (0, 1), (1, 2), (-1,), (-2, -1), (-1, 0), (2, 1), (0, 2), ()))
    index = np.array(places, np.int64)
    index = index[0].reshape(()) if len(places) == 1 and pick((True, False)) else index
    return Case(
        [node("Gather", "x", "i", axis=pick((0, 1, -1, -2)))],
        {"x": data(3, pick((3, 1, 0)))},
        {"i": index},
    )


@family
def gather_at_any_place(pick: Pick) -> Case:
    op_type = pick(("GatherElements", "GatherND"))
    places = [pick((0, 1, 2, -1, -2, -3)) for _ in range(2)]
    index = np.array(places, np.int64).reshape((1, 2))
    attributes = {"axis": pick((0, 1, -1))} if op_type == "GatherElements" else {}
    return Case([node(op_type, "x", "i", **attributes)], {"x": data(3, 3)}, {"i": index})


@family
def pads(pick: Pick) -> Case:
    mode = pick(("constant", "reflect", "edge", "wrap"))
    numbers = np.array([pick((0, 1, 2, -1, -2, 3, -3)) for _ in range(2)], np.int64)
    arrays = {"p": numbers, "v": np.float32(pick((0, 7)))}
    inputs = ["x", "p", "v"]
    if pick((True, False)):
        arrays["a"] = np.array([pick((0, -1))], np.int64)
        inputs.append("a")
    return Case([node("Pad", *inputs, mode=mode)], {"x": data(pick(range(1, 5)))}, arrays, 19)


@family
def splits(pick: Pick) -> Case:
    opset, size, count = pick((9, 11, 13, 18)), pick(range(7)), pick((1, 2, 3, 4))
    arrays, inputs, attributes = {}, ["x"], {"axis": pick((0, -1))}
    outputs = ["y", *(f"y{n}" for n in range(1, count))]
    if pick((True, False)):
        lengths = [pick((0, 1, 2, 3)) for _ in range(count)]
        size = sum(lengths)  # onnx's kernel takes others, too
        if opset < 13:
            attributes["split"] = lengths
        else:
            arrays["l"], inputs = np.array(lengths, np.int64), ["x", "l"]
    elif opset >= 18:
        attributes["num_outputs"] = count
    made = helper.make_node("Split", inputs, outputs[::-1], **attributes)
    return Case([made], {"x": data(size)}, arrays, opset)


@family
def ranges(pick: Pick) -> Case:
    dtype = pick((np.int64, np.int32, np.float32))
    arrays = {name: np.array(pick(range(-4, 5)), dtype) for name in ("s", "e")}
    arrays["k"] = np.array(pick((1, -1, 2, -2, 3, -5)), dtype)
    return Case([node("Range", *arrays)], *_apart(pick, arrays))


@family
def sums_so_far(pick: Pick) -> Case:
    attributes = {"exclusive": pick((0, 1)), "reverse": pick((0, 1))}
    x = data(pick(range(4)), 2, dtype=pick((np.int64, np.float32)))
    return Case(
        [node("CumSum", "x", "a", **attributes)],
        {"x": x},
        {"a": np.array(pick((0, 1, -1, -2)), pick((np.int32, np.int64)))},
    )


@family
def largest(pick: Pick) -> Case:
    attributes = {"largest": pick((0, 1)), "sorted": 1, "axis": pick((0, 1, -1, -2))}
    x = np.array([[pick((1, 2)), 2, 1], [0, pick((0, 3)), 3]], np.float32)
    made = helper.make_node("TopK", ["x", "k"], pick((["y"], ["v", "y"])), **attributes)
    return Case([made], {"x": x}, {"k": np.array([pick((0, 1, 2, 3))], np.int64)})


@family
def largest_place(pick: Pick) -> Case:
    attributes = {"axis": pick((0, 1, -1, -2)), "keepdims": pick((0, 1))}
    attributes["select_last_index"] = pick((0, 1))
    x = np.array([[pick((1, 2)), 2, 1], [0, pick((0, 3)), 3]], np.float32)
    return Case([node(pick(("ArgMax", "ArgMin")), "x", **attributes)], {"x": x}, {})


@family
def resized(pick: Pick) -> Case:
    opset = pick((9, 10, 11, 13, 18))
    mode, scale = pick(("nearest", "linear")), pick((1.0, 2.0, 0.5, 1.5, 0.75, 3.0))
    scales = {"s": np.array([1, 1, scale], np.float32)}
    x = {"x": data(1, 1, pick((1, 2, 3, 4)))}
    if opset < 11:
        op_type = "Upsample" if opset == 9 else "Resize"
        return Case([node(op_type, "x", "s", mode=mode)], x, scales, opset)
    places = pick(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
    rounding = pick(("round_prefer_floor", "floor", "ceil", "round_prefer_ceil"))
    attributes = {"coordinate_transformation_mode": places, "nearest_mode": rounding}
    return Case([node("Resize", "x", "", "s", mode=mode, **attributes)], x, scales, opset)


@family
def shapes(pick: Pick) -> Case:
    attributes = {name: pick((0, 1, 2, -1, -2, 5, -5)) for name in ("start", "end")}
    return Case([node("Shape", "x", **attributes)], {"x": data(2, pick((0, 3)))}, {})


@family
def reshaped(pick: Pick) -> Case:
    shape = [pick((0, 1, -1, 2, 3, 6)) for _ in range(pick((1, 2, 3)))]
    made = node("Reshape", "x", "s", **({"allowzero": 1} if pick((True, False)) else {}))
    return Case([made], {"x": data(2, pick((3, 0)))}, {"s": np.array(shape, np.int64)})


@family
def axes_of_one(pick: Pick) -> Case:
    op_type, opset = pick(("Squeeze", "Unsqueeze")), pick((11, 13))
    axes = pick(((0,), (-1,), (2,), (-3,), (0, 2), (2, 0), (0, -1), (1,), (3,)))
    x = {"x": data(1, 3, 1)}
    if opset < 13:
        axes = sorted(axes)  # onnx's kernel inserts them in the order in which they are written
        return Case([node(op_type, "x", axes=list(axes))], x, {}, opset)
    return Case([node(op_type, "x", "a")], x, {"a": np.array(axes, np.int64)}, opset)


@family
def flattened(pick: Pick) -> Case:
    return Case(
        [node("Flatten", "x", axis=pick(range(-3, 4)))], {"x": data(2, 3, pick((1, 0)))}, {}
    )


@family
def stretched(pick: Pick) -> Case:
    shape = [pick((1, 2, 3, 0)) for _ in range(pick((0, 1, 2, 3)))]
    x = data(*pick(((), (1,), (3,), (1, 3), (2, 1), (0,))))
    return Case([node("Expand", "x", "s")], {"x": x}, {"s": np.array(shape, np.int64)})


@family
def repeated(pick: Pick) -> Case:
    repeats = np.array([pick((0, 1, 2, 3)), pick((1, 0, 2))], np.int64)
    return Case([node("Tile", "x", "r")], {"x": data(2, pick((1, 0)))}, {"r": repeats})


@family
def turned(pick: Pick) -> Case:
    perm = pick(((0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0), (2, 0, 1), None))
    inner = node("Transpose", "x", **({"perm": perm} if perm else {}))
    inner.output[0] = "z"
    again = node("Transpose", "z", perm=list(pick(((1, 2, 0), (0, 2, 1), (2, 0, 1)))))
    return Case([inner, again], {"x": data(2, pick((1, 3)), 4)}, {})


@family
def joined(pick: Pick) -> Case:
    """Parts of one tensor, side by side or not."""
    arrays: dict[str, Any] = {"a": np.array([0], np.int64)}
    for name in ("s1", "e1", "s2", "e2"):
        arrays[name] = np.array([pick((0, 1, 2, 3, -1, -2, 5))], np.int64)
    nodes = [node("Slice", "x", f"s{n}", f"e{n}", "a") for n in (1, 2)]
    for n, made in enumerate(nodes):
        made.output[0] = f"p{n}"
    nodes.append(node("Concat", "p0", "p1", axis=pick((0, -2))))
    return Case(nodes, {"x": data(3, 2)}, arrays)


@family
def reduced(pick: Pick) -> Case:
    op_type = pick(("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean", "ReduceL1"))
    axes = pick(((0,), (1,), (-1,), (0, 1), (1, 0), ()))
    opset = pick((11, 18))
    attributes = {"keepdims": pick((0, 1))}
    x = {"x": data(2, pick((3, 1)), dtype=pick((np.int32, np.float32)))}
    if opset == 11:
        attributes |= {"axes": list(axes)} if axes else {}
        return Case([node(op_type, "x", **attributes)], x, {}, opset)
    attributes["noop_with_empty_axes"] = pick((0, 1))
    return Case([node(op_type, "x", "a", **attributes)], x, {"a": np.array(axes, np.int64)})


@family
def clipped(pick: Pick) -> Case:
    if pick((True, False)):
        arrays = {name: np.array(pick((-2, 0, 3)), np.int64) for name in ("l", "h")}
        return Case([node("Clip", "x", *arrays)], {"x": np.arange(-3, 5)}, arrays)
    bounds = {name: float(pick((-1.0, 0.0, -0.0, 2.0))) for name in ("min", "max")}
    return Case([node("Clip", "x", **bounds)], {"x": np.array(SPECIAL, np.float32)}, {}, 9)


@family
def remainders(pick: Pick) -> Case:
    dtype = pick((np.int64, np.int32, np.int8))
    arrays = {name: np.array([pick((-7, -3, -1, 1, 2, 5))], dtype) for name in ("x", "k")}
    made = pick(("Mod", "Div", "Mul", "Sub", "Add"))
    attributes = {"fmod": pick((0, 1))} if made == "Mod" else {}
    return Case([node(made, *arrays, **attributes)], *_apart(pick, arrays))


@family
def comparisons(pick: Pick) -> Case:
    """Comparisons, and what is made of two of them."""
    arrays = {"x": special(pick, 2), "k": special(pick, 2)}
    names = ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal")
    nodes = [node(pick(names), *pick((("x", "k"), ("k", "x")))) for _ in "ab"]
    for n, made in enumerate(nodes):
        made.output[0] = f"p{n}"
    nodes.append(node(pick(("And", "Or", "Xor")), "p0", "p1"))
    if pick((True, False)):
        nodes[-1].output[0] = "q"
        nodes.append(node("Not", "q"))
    return Case(nodes, *_apart(pick, arrays))


@family
def casts_and_comparisons(pick: Pick) -> Case:
    types = (np.int8, np.int32, np.int64, np.float32, np.float64, np.uint8)
    x = np.array([0, 1, 100, pick((127, 1 << 24, (1 << 24) + 1, (1 << 31) - 1))]).astype(
        pick(types)
    )
    wide = helper.np_dtype_to_tensor_dtype(np.dtype(pick(types)))
    cast = node("Cast", "x", to=wide)
    cast.output[0] = "z"
    number = np.array([pick((0, 1, 100, 1 << 24))]).astype(helper.tensor_dtype_to_np_dtype(wide))
    if pick((True, False)):
        return Case(
            [cast, node(pick(("Less", "Greater", "Equal")), "z", "k")], {"x": x}, {"k": number}
        )
    back = node("Cast", "z", to=helper.np_dtype_to_tensor_dtype(x.dtype))
    return Case([cast, back], {"x": x}, {})


@family
def extremes(pick: Pick) -> Case:
    arrays = {"x": special(pick, 2), "k": special(pick, 2)}
    compared = node(pick(("Less", "Greater", "LessOrEqual", "GreaterOrEqual")), "x", "k")
    if pick((True, False)):
        arrays = {n: np.array([pick((-3, 0, 2)), 1], np.int64) for n in ("x", "k")}
    compared.output[0] = "c"
    return Case(
        [compared, node("Where", "c", *pick((("x", "k"), ("k", "x"))))], *_apart(pick, arrays)
    )


@family
def choices(pick: Pick) -> Case:
    condition = np.array(pick(((True,), (False,), (True, False), (False, False))))
    arrays = {"c": condition, "k": data(*pick(((1,), (2,), ())))}
    return Case([node("Where", "c", "x", "k")], {"x": data(*pick(((2,), (1,), (2, 2))))}, arrays)


@family
def softmaxes(pick: Pick) -> Case:
    opset, axis = pick((11, 13)), pick((0, 1, 2, -1, -2, -3))
    op_type = pick(("Softmax", "LogSoftmax", "Hardmax"))
    return Case([node(op_type, "x", axis=axis)], {"x": data(2, pick((1, 2)), 3)}, {}, opset)


@family
def hot(pick: Pick) -> Case:
    places = np.array([pick((0, 1, 2, -1, -3, 3, -4))], np.int64)
    arrays = {"d": np.array(pick((1, 3)), np.int64), "v": data(2)}
    return Case(
        [node("OneHot", "x", *arrays, axis=pick((0, 1, -1)))], {"x": places}, arrays, pick((9, 11))
    )


@family
def in_a_list(pick: Pick) -> Case:
    """A list of three, changed at a place and read at another."""
    arrays = {name: np.array(pick((0, 1, 2, -1, -2, -3, 3, -4)), np.int64) for name in ("i", "j")}
    made = helper.make_node("SequenceConstruct", ["x", "k", "x"], ["l"])
    change = pick(("SequenceInsert", "SequenceErase", "SplitToSequence"))
    if change == "SplitToSequence":
        made = helper.make_node("SplitToSequence", ["x"], ["m"], axis=0, keepdims=pick((0, 1)))
        return Case(
            [made, node("SequenceAt", "m", "j")],
            {"x": data(pick(range(1, 4)), 2)},
            {"j": arrays["j"]},
        )
    inputs = ["l", "k", "i"] if change == "SequenceInsert" else ["l", "i"]
    nodes = [made, helper.make_node(change, inputs, ["m"]), node("SequenceAt", "m", "j")]
    return Case(nodes, {"x": data(2), "k": data(2) + 5}, arrays)


@family
def elements_moved(pick: Pick) -> Case:
    """Operators with an axis that may count from the back."""
    axis = pick((0, 1, -1, -2))
    kind = pick(("ScatterElements", "Compress", "LpNormalization", "Trilu", "NonZero", "EyeLike"))
    x = {"x": data(2, 3)}
    if kind == "ScatterElements":
        places = np.array([[pick((0, 1, -1, -2))]], np.int64)
        arrays = {"i": places, "u": np.float32([[9]])}
        return Case([node(kind, "x", *arrays, axis=axis)], x, arrays)
    if kind == "Compress":
        flags = {"c": np.array([pick((True, False)), True])}
        return Case([node(kind, "x", "c", **pick(({}, {"axis": axis})))], x, flags)
    if kind == "LpNormalization":
        return Case([node(kind, "x", axis=axis, p=pick((1, 2)))], x, {})
    if kind == "Trilu":
        return Case(
            [node(kind, "x", "k", upper=pick((0, 1)))], x, {"k": np.array(pick(range(-3, 4)))}
        )
    return Case(
        [node(kind, "x", **({"k": pick(range(-3, 4))} if kind == "EyeLike" else {}))], x, {}
    )


@family
def filled(pick: Pick) -> Case:
    shape = np.array([pick((0, 1, 2)) for _ in range(pick((0, 1, 2)))], np.int64)
    value = helper.make_tensor("v", 1, [1], [pick((0.0, 2.0))])
    made = node("ConstantOfShape", "s", value=value)
    if pick((True, False)):
        made.output[0] = "z"
        return Case([made, node("NonZero", "z")], {}, {"s": shape})
    return Case([made], *_apart(pick, {"s": shape}))


def _apart(pick: Pick, arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which arrays are inputs, and which are constants."""
    inputs = {name: array for name, array in arrays.items() if pick((True, False))}
    return inputs, {name: array for name, array in arrays.items() if name not in inputs}


# How it is asked ----------------------------------------------------------------------------------


def all_cases(make: Callable[[Pick], Case]) -> Iterator[Case]:
    """Every case of a family: the last pick that has others left is moved on."""
    path: list[list[int]] = []
    while True:
        made = iter(list(path))
        path = []

        def pick(options: Sequence[Any], made: Any = made, path: Any = path) -> Any:
            step = next(made, None) or [0, len(options)]
            path.append(step)
            return options[step[0]]

        yield make(pick)
        while path and path[-1][0] + 1 >= path[-1][1]:
            path.pop()
        if not path:
            return
        path[-1] = [path[-1][0] + 1, path[-1][1]]


def some_cases(make: Callable[[Pick], Case], count: int, seed: int) -> Iterator[Case]:
    """Cases at random."""
    dice = random.Random(f"{make.__name__}:{seed}")
    for _ in range(count):
        yield make(dice.choice)


def judged(case: Case, declared: bool) -> str:
    """What became of a case: "fails" when it is run, "open", "held", or what is wrong."""
    model = case.model(declared=declared)
    try:
        with np.errstate(all="ignore"):
            expected = reference.run(model, case.inputs)
    except Error:
        return "fails"
    try:
        terms, outputs = terms_of(model)
    except OpenError:
        return "open"
    values = Values(terms, case.inputs)
    try:
        with np.errstate(all="ignore"):
            got = [values.of(term) for term in outputs]
    except AssertionError as error:
        untold = str(error).startswith("nothing tells")
        return "untold" if untold else f"wrong, {str(error)[:200]}"
    if bits(got) != bits(expected):
        return f"wrong, {expected} is {got}"
    return _parts(terms, values, outputs[0])


def _parts(terms: Any, values: Values, term: Any) -> str:
    """Each part of a result is that of its value."""
    shape = term.fact.shape
    if not shape or term.fact.other is not None or None in [dim.value for dim in shape]:
        return "held"
    pushdown, whole = SlicePushdown(terms), values.of(term)
    for axis, dim in enumerate(shape):
        for start in range(dim.value):
            for size in {1, dim.value - start}:
                try:
                    part = pushdown.of(term, axis, *map(Dimension.constant, (start, size)))
                    got = values.of(part)
                except OpenError:
                    continue
                except AssertionError as error:
                    return f"wrong, part {start}:{start + size} of axis {axis}: {error}"
                if bits(got) != bits(np.take(whole, range(start, start + size), axis)):
                    return f"wrong, part {start}:{start + size} of axis {axis}"
    return "held"


def checked(name: str, sample: int, seed: int = 0) -> tuple[list[str], Counter[str]]:
    """What is wrong in a family, and how many cases of each kind there are.

    Args:
        name: the family.
        sample: how many cases; 0 for all.
        seed: which of them.
    """
    make, counts, wrong = FAMILIES[name], Counter[str](), []
    for case in some_cases(make, sample, seed) if sample else all_cases(make):
        for declared in (True, False):
            kind = judged(case, declared)
            counts[kind.partition(",")[0]] += 1
            if kind.startswith("wrong"):
                text = onnx.printer.to_text(case.model(declared=declared))
                wrong.append(f"{name}: {kind}\n{text} {case.constants} {case.inputs}")
    return wrong, counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES))
    parser.add_argument("--cases", type=int, default=2000, help="of each family; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    for name in arguments.family or sorted(FAMILIES):
        wrong, counts = checked(name, arguments.cases, arguments.seed)
        failed += len(wrong)
        print(f"{name}: {dict(sorted(counts.items()))}", *wrong[:3], sep="\n", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
