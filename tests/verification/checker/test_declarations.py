import onnx
import pytest
from certificates import assert_derived, assert_none
from proofs import model, of_any_size
from tables import table

TEXT = "g (float[n, 3] x, float[m] w) => (y, z) { t = Neg (x) y = Abs (t) z = Neg (w) }"
UNKNOWN = "g (float[n] x) => (y) { t = other.Op (x) y = Neg (t) }"


def declaring(text, **shapes):
    """A model that declares types of values: an element type and sizes for each."""
    proto = model(text)
    proto.opset_import.add(domain="other", version=1)
    for name, (elem_type, sizes) in shapes.items():
        info = onnx.helper.make_tensor_value_info(name, elem_type, sizes)
        outputs = [output for output in proto.graph.output if output.name == name]
        if outputs:
            outputs[0].CopyFrom(info)
        else:
            proto.graph.value_info.append(info)
    return proto


@table(
    {"t": (1, ["n", 3])},
    {"t": (1, None)},
    {"t": (1, ["k", "l"])},
    {"t": (1, ["k", 3]), "y": (1, ["k", 3])},
    {"t": (1, ["n", 3]), "y": (1, ["n", "q"])},
)
def test_derived_declarations_are_accepted(declared):
    plain = declaring(TEXT)
    assert_derived(plain, declaring(TEXT, **declared))
    assert_derived(declaring(TEXT, **declared), plain)


WRONG = [
    {"t": (7, ["n", 3])},
    {"y": (7, ["n", 3])},
    {"t": (1, ["n", 4])},
    {"t": (1, [2, 3])},
    {"t": (1, ["n"])},
    {"t": (1, ["m", 3])},
    {"t": (1, ["k", "k"])},
    {"y": (1, ["k", 3]), "z": (1, ["k"])},
    {"y": (1, ["n", 3]), "z": (1, ["n"])},
]


@pytest.mark.parametrize("declared", WRONG)
def test_other_declarations_are_refused(declared):
    (name,) = declared if len(declared) == 1 else ("",)
    reason = f"declares of '{name}'" if name and name != "y" else ""
    assert_none(declaring(TEXT), declaring(TEXT, **declared), reason)


@pytest.mark.parametrize("declared", WRONG[3:])
def test_declarations_of_the_original_are_accepted(declared):
    proto = declaring(TEXT, **declared)
    assert_derived(proto, proto)


@pytest.mark.parametrize("declared", [{"t": (1, ["n"])}, {"t": (1, [])}, {"y": (1, ["k"])}])
def test_nothing_is_derived_of_an_unknown_operator(declared):
    assert_none(declaring(UNKNOWN), declaring(UNKNOWN, **declared))
    assert_derived(declaring(UNKNOWN, **declared), declaring(UNKNOWN, **declared))
    assert_derived(declaring(UNKNOWN, **declared), declaring(UNKNOWN))


def test_an_unentered_body_declares_alike():
    text = """g (float[n] x, int64 t, bool u) => (y) {{ v = other.Op (x) y = Loop (t, u) <body = b
        (int64 i, bool c) => (bool d, float[{}] e) {{ d = Identity (c) e = Identity (v) }}> }}"""
    plain, other = text.format("k"), text.format("j")
    assert_derived(declaring(plain), declaring(other))
    assert_none(declaring(plain, v=(1, [3])), declaring(plain), "may have no iteration")
    assert_none(declaring(plain), declaring(text.format("3")))
    assert_derived(declaring(text.format("3")), declaring(text.format("3")))


@table((0, 1), (1, 0), (2, 3), (3, 2))
def test_declarations_of_a_body_count_where_it_runs(one, other):
    here, there = ((body, "ttuv"[body]) for body in (one, other))
    assert_derived(of_any_size([here]), of_any_size([here]))
    assert_derived(of_any_size([here]), of_any_size([]))
    assert_derived(of_any_size([here, there]), of_any_size([there]))
    for left in ([], [here]):
        for right in ([there], [here, there]):
            assert_none(of_any_size(left), of_any_size(right), "declares of")
