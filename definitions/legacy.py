"""Old experimental operators, which onnxruntime still runs in ONNX's domain below opset 10."""

from .case import Case
from .registry import defines, ship

_FACTS = {
    "since": 7,
    "source": "core/graph/contrib_ops/contrib_defs.cc",
    "tried": "onnxruntime 1.32.0",
}

for _before, _after in (
    ("Affine <alpha = @a ? 1.0, beta = @b ? 0.0>", "t = Mul (x, @a)  y = Add (t, @b)"),
    ("Scale <scale = @a ? 1.0>", "y = Mul (x, @a)"),
    (
        "ScaledTanh <alpha = @a float, beta = @b float>",
        "s = Mul (x, @b)  t = Tanh (s)  y = Mul (t, @a)",
    ),
    (
        "ParametricSoftplus <alpha = @a float, beta = @b float>",
        "s = Mul (x, @b)  t = Softplus (s)  y = Mul (t, @a)",
    ),
):
    ship(f"(floats x) => (y) {{ y = {_before} (x) }}", _after, **_FACTS)


@defines(
    "(floats x) => (y) { y = ImageScaler <bias = @bias floats ?, scale = @scale ? 1.0> (x) }",
    **_FACTS,
)
def image_scaler(case: Case) -> str:
    """The product with a number, plus one number for each channel."""
    numbers = ", ".join(repr(float(number)) for number in case["bias"] or ())
    if not numbers:
        return "y = Mul (x, @scale)"
    return f"""t = Mul (x, @scale)  flat = Cast <to = {case.elem_type("x")}> ([{numbers}])
        b = Unsqueeze <axes = [1, 2]> (flat)  y = Add (t, b)"""


@defines(
    "(floats x) => (y) { y = Crop <border = @border ints, scale = @scale ints ?> (x) }", **_FACTS
)
def crop(case: Case) -> str:
    """A Slice of the last two axes."""
    if len(case["border"]) != 4 or len(case["scale"] or (0, 0)) != 2:
        case.unfit("its border has four numbers, its scale two")
    first, top, right, bottom = case["border"]
    if case["scale"] is not None:
        height, width = case["scale"]
        ends = [top + height, first + width]
    else:
        ends = [-bottom or 1 << 62, -right or 1 << 62]
    return f"y = Slice <starts = {[top, first]}, ends = {ends}, axes = [2, 3]> (x)"


@defines(
    "(T x, I starts, I ends, I axes) => (y) { y = DynamicSlice (x, starts, ends, axes?) }",
    **{**_FACTS, "since": 10},
    exact=True,
)
def dynamic_slice(case: Case) -> str:
    """Slice."""
    return f"y = Slice (x, starts, ends{', axes' if case.has('axes') else ''})"
