"""Models of a few KB that ask for much, put together at random: constants that grow or take long,
under loops and functions that repeat them, and something that they decide."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from attack import Attack, some
from case import BOOL, INT, body, call, function, loop, model, tensor
from onnx.helper import make_node

COUNTS = (0, 1, 2, 3, 7, 31, 60, 64, 500, 1000, 20_000, 100_000, 2**20, 2**31, 2**40, 2**62, -1)
SIDES = (1, 2, 8, 30, 64, 250, 500)
PATTERNS = ("(a+)+$", "(a|a)*b", "(x+x+)+y", r"(a*)*\1", "(a|aa)+$", "((a*)*)*b", "a{1,9}" * 9)
PIECES = ("a", "b", "*", "+", "?", "(", ")", "|", ".", "[ab]", r"\w", "{2,30}", "$", "^", r"\1")


class Bomb:
    """A model that grows: `value` is the last float tensor, of unknown size."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.nodes, self.stored, self.functions = [], [], []
        side = rng.choice(SIDES)
        shape = rng.choice([(1,), (side,), (side, side), (1, 1, side, side), (1, 2, side, side)])
        self.rank = len(shape)
        self.value = self.constant(np.ones(shape, np.float32))

    def constant(self, array) -> str:
        name = f"k{len(self.stored)}"
        self.stored.append(tensor(name, array))
        return name

    def node(self, op_type, *inputs, outputs=1, **attributes) -> str:
        names = [f"v{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(make_node(op_type, inputs, names, **attributes))
        return names[0]

    def number(self) -> int:
        rng = self.rng
        return rng.choice(COUNTS) if rng.random() < 0.7 else rng.randrange(1, 3000)

    def sizes(self, rank) -> str:
        rng = self.rng
        few = [rng.choice((1, 1, 2, 30, 250, 500)) for _ in range(rank)]
        if rng.random() < 0.3:
            few[rng.randrange(rank)] = self.number()
        return self.constant(np.array(few, np.int64))

    def image(self) -> str:
        """The value as one image."""
        flat = self.node("Reshape", self.value, self.constant(np.array([1, 1, 1, -1])))
        side = self.rng.choice((16, 64, 250, 500))
        wide = self.node("Resize", flat, "", "", self.constant(np.array([1, 1, side, side])))
        self.rank = 4
        return wide


def expanded(bomb):
    rank = max(bomb.rank, 1)
    bomb.value = bomb.node("Expand", bomb.value, bomb.sizes(rank))


def tiled(bomb):
    bomb.value = bomb.node("Tile", bomb.value, bomb.sizes(bomb.rank))


def filled(bomb):
    rank = bomb.rng.randrange(1, 5)
    bomb.value, bomb.rank = bomb.node("ConstantOfShape", bomb.sizes(rank)), rank


def counted(bomb):
    ends = [
        bomb.constant(np.array(k, np.int64))
        for k in (0, bomb.number(), bomb.rng.choice((1, 1, 7, -1)))
    ]
    bomb.value, bomb.rank = bomb.node("Cast", bomb.node("Range", *ends), to=1), 1


def joined(bomb):
    for _ in range(bomb.rng.choice((1, 5, 20, 70))):
        bomb.value = bomb.node("Concat", bomb.value, bomb.value, axis=bomb.rng.randrange(bomb.rank))


def padded(bomb):
    pads = [bomb.rng.choice((0, 1, 300)) for _ in range(2 * bomb.rank)]
    if bomb.rng.random() < 0.3:
        pads[0] = bomb.number()
    mode = bomb.rng.choice(("constant", "reflect", "edge", "wrap"))
    bomb.value = bomb.node("Pad", bomb.value, bomb.constant(np.array(pads)), mode=mode)


def pooled(bomb):
    width = bomb.rng.choice((3, 31, 101, 500))
    op_type = bomb.rng.choice(("MaxPool", "AveragePool", "LpPool"))
    more = {"pads": [width // 2] * 4} if bomb.rng.random() < 0.7 else {"auto_pad": "SAME_UPPER"}
    if bomb.rng.random() < 0.3:
        more["dilations"] = [bomb.rng.choice((1, 2, 50))] * 2
    bomb.value = bomb.node(op_type, bomb.image(), kernel_shape=[width, width], **more)


def convolved(bomb):
    width, channels = bomb.rng.choice((3, 31, 101)), bomb.rng.choice((1, 4, 64))
    weight = bomb.constant(np.ones((1, 1, 1, 1), np.float32))
    shape = [channels, 1, width, width]
    op_type = bomb.rng.choice(("Conv", "ConvTranspose"))
    if op_type == "ConvTranspose":
        shape[:2] = [1, channels]
    weight = bomb.node("Expand", weight, bomb.constant(np.array(shape)))
    bomb.value = bomb.node(op_type, bomb.image(), weight, pads=[width // 2] * 4)


def multiplied(bomb):
    rng, side = bomb.rng, bomb.rng.choice((64, 250, 500))
    square = bomb.node(
        "Expand", bomb.constant(np.ones((1, 1), np.float32)), bomb.constant(np.array([side, side]))
    )
    if rng.random() < 0.5:
        letters = "abcdefgh"[: rng.randrange(2, 7)]
        terms = [a + b for a, b in itertools.pairwise(letters)]
        equation = (
            f"{','.join(terms)}->{rng.choice((letters[0], letters, letters[0] + letters[-1]))}"
        )
        bomb.value = bomb.node("Einsum", *[square] * len(terms), equation=equation)
    else:
        bomb.value = square
        for _ in range(rng.choice((1, 10, 100))):
            bomb.value = bomb.node("MatMul", bomb.value, square)
    bomb.rank = 2


def matched(bomb):
    rng = bomb.rng
    pattern = rng.choice(PATTERNS)
    if rng.random() < 0.5:
        pattern = "".join(rng.choices(PIECES, k=rng.randrange(1, 12)))
    text = rng.choice("ab") * rng.choice((1, 30, 3000)) + rng.choice(("", "b"))
    texts = bomb.constant(np.array([text] * rng.choice((1, 3)), object))
    found = bomb.node("RegexFullMatch", texts, pattern=pattern)
    found = bomb.node("Cast", found, to=1)
    bomb.value = bomb.node("ReduceMax", found)
    bomb.rank = 1


def spoken(bomb):
    text = bomb.constant(np.array(["ab"], object))
    for _ in range(bomb.rng.choice((3, 20, 60))):
        text = bomb.node("StringConcat", text, text)
    parts = bomb.node(
        "StringSplit", text, outputs=2, delimiter=bomb.rng.choice(("a", "b", "", "zz"))
    )
    bomb.value, bomb.rank = bomb.node("Cast", parts.replace("_0", "_1"), to=1), 1


def suppressed(bomb):
    count = bomb.rng.choice((10, 500, 5000, 60_000))
    boxes = bomb.node(
        "Expand",
        bomb.constant(np.array([[[0, 0, 1, 1]]], np.float32)),
        bomb.constant(np.array([1, count, 4])),
    )
    scores = bomb.node(
        "Expand",
        bomb.constant(np.ones((1, 1, 1), np.float32)),
        bomb.constant(np.array([1, 1, count])),
    )
    most = bomb.constant(np.array([bomb.number()]))
    limit = bomb.constant(np.array([1.5], np.float32))
    kept = bomb.node("NonMaxSuppression", boxes, scores, most, limit)
    bomb.value, bomb.rank = bomb.node("Cast", kept, to=1), 2


def resized(bomb):
    mode = bomb.rng.choice(("nearest", "linear", "cubic"))
    scale = bomb.constant(
        np.array([1, 1, *bomb.rng.choices((0.5, 2.0, 50.0, 1e6, 1e18), k=2)], np.float32)
    )
    bomb.value = bomb.node("Resize", bomb.image(), "", scale, mode=mode)


def sampled(bomb):
    side = bomb.rng.choice((30, 300, 3000))
    grid = bomb.node(
        "Expand",
        bomb.constant(np.zeros((1, 1, 1, 1), np.float32)),
        bomb.constant(np.array([1, side, side, 2])),
    )
    bomb.value = bomb.node(
        "GridSample", bomb.image(), grid, mode=bomb.rng.choice(("linear", "cubic"))
    )


def recurrent(bomb):
    steps, wide = bomb.rng.choice((100, 100_000)), bomb.rng.choice((4, 64))
    op_type, gates = bomb.rng.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    series = bomb.node(
        "Expand",
        bomb.constant(np.ones((1, 1, 1), np.float32)),
        bomb.constant(np.array([steps, 1, 1])),
    )
    weights = [bomb.constant(np.ones((1, gates * wide, k), np.float32)) for k in (1, wide)]
    bomb.value, bomb.rank = bomb.node(op_type, series, *weights, hidden_size=wide), 4


def one_operator(bomb):
    """Any operator that takes one tensor, or one and a few numbers."""
    rng = bomb.rng
    name, numbers = rng.choice(
        (
            *(("CumSum", 0), ("OneHot", None), ("TopK", None), ("Unique", None), ("NonZero", None)),
            *(("Det", None), ("DFT", None), ("MelWeightMatrix", None), ("Trilu", 0), ("LRN", None)),
            *(
                ("DepthToSpace", None),
                ("Hardmax", None),
                ("LpNormalization", None),
                ("EyeLike", None),
            ),
            *(
                ("ReverseSequence", None),
                ("AffineGrid", None),
                ("HannWindow", None),
                ("Compress", None),
            ),
            *(("GatherND", None), ("ScatterElements", None), ("RoiAlign", None), ("Col2Im", None)),
            *(("SplitToSequence", None), ("BitShift", None), ("STFT", None), ("Softmax", None)),
        )
    )
    made = {
        "OneHot": lambda: bomb.node(
            "OneHot",
            bomb.value,
            bomb.constant(np.array(bomb.number())),
            bomb.constant(np.array([0, 1], np.float32)),
        ),
        "TopK": lambda: bomb.node(
            "TopK", bomb.value, bomb.constant(np.array([bomb.number()])), outputs=2
        ),
        "DFT": lambda: bomb.node(
            "DFT",
            bomb.node("Unsqueeze", bomb.value, bomb.constant(np.array([0, -1]))),
            bomb.constant(np.array(bomb.number())),
            axis=1,
        ),
        "MelWeightMatrix": lambda: bomb.node(
            "MelWeightMatrix",
            *[bomb.constant(np.array(bomb.number())) for _ in range(3)],
            *[bomb.constant(np.float32(k)) for k in (0, 8000)],
        ),
        "LRN": lambda: bomb.node("LRN", bomb.image(), size=rng.choice((3, 10**6, 2**62))),
        "HannWindow": lambda: bomb.node("HannWindow", bomb.constant(np.array(bomb.number()))),
        "AffineGrid": lambda: bomb.node(
            "AffineGrid",
            bomb.constant(np.ones((1, 2, 3), np.float32)),
            bomb.constant(np.array([1, 1, bomb.number(), bomb.number()])),
        ),
        "DepthToSpace": lambda: bomb.node(
            "DepthToSpace", bomb.image(), blocksize=rng.choice((1, 2, 2**31))
        ),
        "Col2Im": lambda: bomb.node(
            "Col2Im",
            bomb.constant(np.ones((1, 9, 196), np.float32)),
            bomb.constant(np.array([bomb.number(), 16])),
            bomb.constant(np.array([3, 3])),
        ),
        "RoiAlign": lambda: bomb.node(
            "RoiAlign",
            bomb.image(),
            bomb.constant(np.array([[0, 0, 1e9, 1e9]], np.float32)),
            bomb.constant(np.array([0])),
            output_height=rng.choice((3, 10**6)),
        ),
        "ScatterElements": lambda: bomb.node(
            "ScatterElements", bomb.value, bomb.node("Cast", bomb.value, to=INT), bomb.value
        ),
        "STFT": lambda: bomb.node(
            "STFT",
            bomb.node("Reshape", bomb.value, bomb.constant(np.array([1, -1, 1]))),
            bomb.constant(np.array(rng.choice((1, 10)))),
            "",
            bomb.constant(np.array(rng.choice((4, 500)))),
        ),
    }
    if name in made:
        bomb.value = made[name]()
    else:
        more = [bomb.constant(np.array(numbers))] if numbers is not None else []
        bomb.value = bomb.node(name, bomb.value, *more)


GROWERS = (
    *(expanded, tiled, filled, counted, joined, padded, pooled, convolved, multiplied, matched),
    *(spoken, suppressed, resized, sampled, recurrent, one_operator, one_operator, one_operator),
)


def repeated(bomb):
    """All that there is, in loops in loops."""
    for level in range(bomb.rng.choice((1, 1, 2, 3))):
        inside = [*bomb.nodes, make_node("ReduceMax", [bomb.value], [f"m{level}"], keepdims=0)]
        inside.append(make_node("Add", [f"a{level}", f"m{level}"], [f"b{level}"]))
        iterations = bomb.constant(np.array(bomb.number()))
        first = bomb.constant(np.array(0, np.float32))
        made = loop(iterations, inside, [(first, f"a{level}", f"b{level}", [])])
        bomb.nodes = [made]
        bomb.value = made.output[0]
    bomb.rank = 1


def grown_in_loop(bomb):
    """What is carried doubles on each iteration."""
    iterations = bomb.constant(np.array(bomb.number()))
    flat = bomb.node("Reshape", bomb.value, bomb.constant(np.array([-1])))
    inside = [make_node("Concat", ["g", "g"], ["h"], axis=0)]
    made = loop(iterations, inside, [(flat, "g", "h", [None])])
    bomb.nodes.append(made)
    bomb.value, bomb.rank = made.output[0], 1


def called(bomb):
    """Functions that call the one before twice; with sizes that differ from call to call."""
    bomb.functions = [function("f0", ["x"], ["y"], [make_node("Neg", ["x"], ["y"])])]
    grows = bomb.rng.random() < 0.5
    for index in range(1, bomb.rng.choice((3, 20, 60, 300))):
        first, second = (call(f"f{index - 1}", [a], [b]) for a, b in (("x", "a"), ("t", "y")))
        between = (
            make_node("Concat", ["a", "x"], ["t"], axis=0)
            if grows
            else make_node("Abs", ["a"], ["t"])
        )
        bomb.functions.append(function(f"f{index}", ["x"], ["y"], [first, between, second]))
    if bomb.rng.random() < 0.5:
        name = f"c{len(bomb.nodes)}"
        bomb.nodes.append(call(f"f{len(bomb.functions) - 1}", [bomb.value], [name]))
        bomb.value = name


def multiplied_sizes(bomb):
    """The product of many sizes that are not known."""
    shape = "whole"
    bomb.nodes.append(make_node("Shape", ["p"], [shape]))
    value = None
    for axis in range(bomb.rng.choice((4, 24))):
        size = bomb.node("Gather", shape, bomb.constant(np.array([axis % 4])))
        size = bomb.node("Add", size, bomb.constant(np.array([1 + axis])))
        value = size if value is None else bomb.node("Mul", value, size)
    flat = bomb.node("ConstantOfShape", value)
    bomb.value, bomb.rank = flat, 1


WRAPPERS = (repeated, grown_in_loop, called, multiplied_sizes)


def finished(bomb):
    """A model: the value is added to an input, decides a branch, or how often a loop turns."""
    small = bomb.node("ReduceMax", bomb.value, keepdims=0)
    kind = bomb.rng.randrange(4)
    if kind == 0:
        bomb.nodes.append(make_node("Add", ["x", small], ["y"]))
    elif kind == 1:
        yes = bomb.node("Cast", small, to=BOOL)
        branches = {
            name: body([make_node(op, ["x"], ["z"])], [], [("z", None)])
            for name, op in (("then_branch", "Neg"), ("else_branch", "Abs"))
        }
        bomb.nodes.append(make_node("If", [yes], ["y"], **branches))
    elif kind == 2:
        iterations = bomb.node("Cast", small, to=INT)
        turn = loop(iterations, [make_node("Neg", ["s"], ["t"])], [("x", "s", "t", None)])
        bomb.nodes += [turn, make_node("Identity", ["t_out"], ["y"])]
    else:
        sizes = bomb.node("Reshape", bomb.node("Cast", small, to=INT), bomb.constant(np.array([1])))
        bomb.nodes.append(make_node("Expand", ["x", sizes], ["y"]))
    inputs = [("x", ["n"]), ("p", ["a", "b", "c", "d"])]
    return model(bomb.nodes, inputs, [("y", None)], bomb.stored, bomb.functions, opset=20)


def bomb_of(rng):
    """A model, and the names of what it is made of."""
    bomb, made = Bomb(rng), []
    for _ in range(rng.choice((1, 1, 2, 3))):
        made.append(rng.choice(GROWERS))
        made[-1](bomb)
    if rng.random() < 0.5:
        made.append(rng.choice(WRAPPERS))
        made[-1](bomb)
    return finished(bomb), "+".join(maker.__name__ for maker in made)


def attacks(rng: random.Random, folder: Path) -> Iterator[Attack]:
    whole, name = bomb_of(rng)
    path = folder / "model.onnx"
    path.write_bytes(whole.SerializeToString())
    yield from some(rng, name, path, 2)
