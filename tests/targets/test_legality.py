import datetime

import pytest
from straightline import ir
from straightline.targets import Form, Opsets, Source, Target
from straightline.targets.legality import Legality
from tables import table

SOURCE = Source("a list", "1", datetime.date(2026, 1, 1))
HEAD = '<ir_version: 8, opset_import: ["" : 17, "npu" : 1, "own" : 1]>'


def reasons(body, inputs="float[2, 3] x", more="", **told):
    text = f"{HEAD} g ({inputs}) => (y) {{ {body} }} {more}"
    target = Target("npu", "a chip", Opsets(13, 17), SOURCE, **told)
    return list(Legality(target, ir.parse(text)).unsupported().values())


def only(**form):
    return {"forms": {"Resize": (Form(**form),)}}


RESIZE = 'y = Resize <mode = "linear"> (x, , s)'
KNOWN = "k = Constant <value = float[2] {1., 2.}> () " + RESIZE.replace("s)", "k)")


@table(
    ("y = Neg (x)", {"operators": {"Neg": (Opsets(1, 17),)}}, []),
    ("y = Neg (x)", {"operators": {}}, ["npu does not support Neg"]),
    ("y = Neg (x)", {"operators": {"Neg": (Opsets(13, 15),)}},
     ["npu does not support Neg of opset 17, only of 13 to 15"]),
    ("y = Neg (x)", {"lacks": {"Neg": (Opsets(1, 99),)}}, ["npu does not support Neg"]),
    ("y = Neg (x)", {"lacks": {"Neg": (Opsets(16, 99),)}},
     ["npu does not support Neg of opset 17"]),
    ("y = npu.Fused (x)", {"operators": {}}, ["npu does not support npu.Fused"]),
    ("y = npu.Fused (x)", {"operators": {}, "domains": frozenset(["npu"])}, []),
    (RESIZE, only(attributes={"mode": ("nearest", "cubic")}),
     ["npu supports Resize only with mode = 'nearest' or 'cubic', not 'linear'"]),
    (RESIZE, only(lacks_attributes={"mode": ("linear",)}, why="no filter"),
     ["npu supports Resize only with another mode than 'linear' (no filter)"]),
    (RESIZE, only(attributes={"nearest_mode": ("round_prefer_floor",)}), []),
    (RESIZE, only(constant=("scales",)), ["npu supports Resize only with a constant 'scales'"]),
    (KNOWN, only(constant=("scales",)), []),
    (RESIZE, only(absent=("scales",)), ["npu supports Resize only without 'scales'"]),
    (RESIZE, only(absent=("sizes",)), []),
    (RESIZE, only(present=("roi",)), ["npu supports Resize only with 'roi'"]),
    (RESIZE, only(present=("scales",)), []),
    ("y = MaxPool <kernel_shape = [2], pads = [0, 1]> (x)",
     {"forms": {"MaxPool": (Form(even_pads=True),)}},
     ["npu supports MaxPool only with the same pads at both ends"]),
    ("y = MaxPool <kernel_shape = [2], pads = [1, 1]> (x)",
     {"forms": {"MaxPool": (Form(even_pads=True),)}}, []),
    ("whole = Shape (x) y = Reshape (x, whole)",
     {"forms": {"Reshape": (Form(from_data=("shape",)),)}},
     ["npu supports Reshape only with a 'shape' that is neither constant nor computed from sizes"]),
    ("whole = Shape (x) y = Reshape (x, whole)",
     {"forms": {"Reshape": (Form(computed=("shape",)),)}}, []),
    (RESIZE, only(max_rank=1), ["npu supports Resize only up to rank 1, and 'X' has 2"]),
    (RESIZE, only(static=("X",)), []),
    ("y = Max (x, x, x)", {"forms": {"Max": (Form(max_inputs=2),)}},
     ["npu supports Max only with 2 inputs, not 3"]),
    (RESIZE, only(types={"X": ("double", "int64")}),
     ["npu supports Resize only with 'X' of type double or int64, not float"]),
    (RESIZE, only(types={"Y": ("float",)}, ranks={"Y": (2,)}), []),
    (RESIZE, only(ranks={"Y": (4,)}), ["npu supports Resize only with 'Y' of rank 4, not 2"]),
    (RESIZE.replace("s)", "q)").replace("y =", "q = Neg (s) y ="),
     only(not_from={"scales": ("Neg",)}, why="they fuse"),
     ["npu supports Resize only with a 'scales' that is not a result of Neg (they fuse)"]),
    (RESIZE, {"anywhere": Form(lacks_element_types=frozenset(["float"]))},
     ["npu supports Resize only of other element types than float, as 'X' is"]),
    (RESIZE, {"anywhere": Form(element_types=frozenset(["float16"]))},
     ["npu supports Resize only of other element types than float, as 'X' is"]))  # fmt: skip
def test_unsupported_nodes_have_a_reason(body, told, expected):
    assert reasons(body, "float[2, 3] x, float[2] s", **told) == expected


def test_one_of_several_forms_must_fit():
    nearest, linear = (Form(attributes={"mode": (mode,)}) for mode in ("nearest", "linear"))
    flat = Form(attributes={"mode": ("linear",)}, max_rank=1, why="rows")
    given = "float[2, 3] x, float[2] s"
    assert reasons(RESIZE, given, forms={"Resize": (nearest, linear)}) == []
    (said,) = reasons(RESIZE, given, forms={"Resize": (nearest, flat)})
    assert said == (
        "npu supports Resize only with mode = 'nearest', not 'linear', or up to rank 1, and 'X' has"
        " 2 (rows)"
    )


def test_constants_that_hold_places_are_no_data():
    form = {"anywhere": Form(lacks_element_types=frozenset(["int64"]))}
    assert reasons("s = Constant <value = int64[1] {-1}> () y = Reshape (x, s)", **form) == []
    (said,) = reasons("y = Reshape (x, s)", "float[2, 3] x, int64[1] s", **form)
    assert said == "npu supports Reshape only of other element types than int64, as 'shape' is"


def test_shapes_that_are_open_are_told_with_what_fixes_them():
    (reason,) = reasons("y = Neg (x)", "float[n, 3] x", anywhere=Form(static=("*",)))
    assert reason.startswith(
        "npu supports Neg only where the shape of 'X' is known; fix it with --shape"
    )


def test_sizes_that_data_decide_are_told():
    (reason,) = reasons("y = NonZero (x)", anywhere=Form(static=("*",)))
    assert reason == "npu supports NonZero only where sizes do not depend on data, as those of 'y'"


@table(
    ("s = Shape (x) t = Neg (s) u = Abs (t) y = Reshape (x, u)", True),
    ("s = Constant <value_ints = [3, 2]> () y = Reshape (x, s)", True),
    ("s = Cast <to = 7> (x) y = Reshape (x, s)", False),
    ("y = Reshape (x, z)", False),
)
def test_sizes_of_a_client_with_symbols(body, is_legal):
    form = {"Reshape": (Form(from_sizes=("shape",)),)}
    left = reasons(body, "float[2, 3] x, int64[2] z", forms=form)
    said = "npu supports Reshape only with a 'shape' that is constant or computed from sizes"
    assert left == [] if is_legal else left == [said]


@table(("[1]", True), ("[0]", False), ("[n]", False), ("", False))
def test_operands_that_may_hold_no_numbers(shape, is_legal):
    """MNN (3.6.1) makes a number of each reduction along no axes, in the shape of the operand."""
    told = {"forms": {"ReduceSum": (Form(filled=("axes",)),)}}
    inputs = f"float[2, 3] x, int64{shape} a" if shape else "float[2, 3] x, int64[] a"
    expected = "npu supports ReduceSum only with numbers in 'axes', which may have none"
    assert reasons("y = ReduceSum (x, a)", inputs, **told) == [expected][is_legal:]


@table(
    ("y = Mod (i, k)", 2**32, False),
    ("y = Mod (i, k)", -(2**31), True),
    ("y = Max (i, k)", 2**63 - 1, True),
    ("y = Max (i, k)", -(2**63), True),
    ("y = Slice (i, z, k)", 2**40, True),
)
def test_constants_beyond_32_bits(body, number, is_legal):
    """A client that saturates compares bounds of 64 bits as they are, and no other number."""
    constants = f"k = Constant <value_ints = [{number}]> () z = Constant <value_ints = [0]> ()"
    expected = f"npu supports {body.split()[2]} only with constants of up to 32 bits"
    told = reasons(f"{constants} {body}", "int64[4] i", short_integers=True)
    assert told == [expected][is_legal:]
    assert not reasons(f"{constants} {body}", "int64[4] i")


def test_only_so_many_of_a_kind():
    branches = "<then_branch = {0}t () => (float[3] {0}u) {{ {0}u = Neg (x) }}, "
    branches += "else_branch = {0}e () => (float[3] {0}v) {{ {0}v = Exp (x) }}>"
    body = f"a = If (c) {branches.format('a')} y = If (c) {branches.format('b')}"
    form = {"If": (Form(max_uses=1),)}
    assert reasons(body, "float[3] x, bool c", forms=form) == [
        "npu supports If only 1 time in a graph"
    ]


def test_functions_of_the_model_are_taken_only_where_they_are_listed():
    more = '<domain: "own", opset_import: ["" : 17]> f (a) => (b) { b = Neg (a) }'
    lacks = {"Neg": (Opsets(1, 99),)}
    calls = "npu does not support functions of the model, such as this call"
    assert reasons("y = own.f (x)", more=more, lacks=lacks) == [calls]
    inside = reasons("y = own.f (x)", more=more, lacks=lacks, functions=True)
    assert inside == ["npu does not support Neg"]


def test_outputs_count_where_they_are_read():
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[1, 1, 4] x) => (float[1, 1, 2] y{0})
        {{ y, i = MaxPool <kernel_shape = [2], strides = [2]> (x) {1} }}"""
    form = {"MaxPool": (Form(max_outputs=1),)}
    alone = ir.parse(text.format("", ""))
    read = ir.parse(text.format(", int64[1, 1, 2] z", "z = Neg (i)"))
    target = Target("npu", "a chip", Opsets(13, 17), SOURCE, forms=form)
    assert not Legality(target, alone).unsupported()
    (reason,) = Legality(target, read).unsupported().values()
    assert "only with 1 output" in reason


@pytest.mark.parametrize(("length", "is_legal"), [("N", True), ("3", False), ("1", True)])
def test_branches_of_different_shapes(length, is_legal):
    """tract unifies the shapes of both branches."""
    value = {"N": "Exp (x)", "3": "Pad (x, ends)", "1": "Expand (one, size)"}[length]
    body = f"""ends = Constant <value_ints = [1, 1]> () one = Constant <value_float = 1.0> ()
        size = Shape (x) y = If (c) <then_branch = t () => (float[A] u) {{ u = Neg (x) }},
        else_branch = e () => (float[B] v) {{ v = {value} }}>"""
    told = {"lacks": {}, "forms": {"If": (Form(same_shapes=True),)}}
    left = reasons(body, "float[N] x, bool c", **told)
    assert bool(left) != is_legal and all("the same shapes" in reason for reason in left)


@pytest.mark.parametrize(("other", "is_legal"), [("float[3] v", True), ("float v", False)])
def test_branches_of_different_ranks(other, is_legal):
    """OpenVINO and IREE compile no If whose branches give outputs of different ranks."""
    value = "Exp (x)" if is_legal else "Constant <value = float {0.0}> ()"
    body = f"""y = If (c) <then_branch = t () => (float[3] u) {{ u = Neg (x) }},
        else_branch = e () => ({other}) {{ v = {value} }}>"""
    told = {"lacks": {}, "forms": {"If": (Form(same_ranks=True),)}}
    left = reasons(body, "float[3] x, bool c", **told)
    assert bool(left) != is_legal and all("the same ranks" in reason for reason in left)


@pytest.mark.parametrize(
    ("rows", "fits"), [("neg, i", True), ("neg, k", False), ("neg2, i", False)]
)
def test_rows_of_a_test_are_the_test_of_rows(rows, fits):
    """A pass computes the test of all indices before the loop, which wraps one after the other."""
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[4] x, int64[N] at, int64[N] other, int64 n, int64 k) => (float[M] y)
        <int64 zero = {{0}}, int64 four = {{4}}, bool yes = {{1}}> {{
        neg = Greater (zero, at) neg2 = Greater (zero, other)
        y = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float q) {{
            c2 = Identity (c) p = Gather (at, i) w = Add (p, four) t = Gather ({rows})
            j = Where (t, w, p) q = GatherND (x, j) }}> }}"""
    forms = {"GatherND": (Form(nonnegative=("indices",)),)}
    target = Target("npu", "a chip", Opsets(13, 17), SOURCE, forms=forms)
    assert (not Legality(target, ir.parse(text)).unsupported()) == fits
