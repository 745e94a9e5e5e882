import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper
from straightline import ir
from straightline.ir.io.function_bytes import encode_function
from straightline.ir.io.protobuf.node_bytes import to_bytes, with_sizes

NAMES = st.sampled_from(["a", "é" * 64, "x" * 127, "x" * 20_000])
VERSIONS = st.dictionaries(st.sampled_from(["", "own"]), st.integers(1, 300))


@given(NAMES, st.just("") | NAMES, VERSIONS, st.lists(NAMES), st.lists(NAMES))
def test_protobuf_reads_what_is_written(
    name: str, domain: str, versions: dict[str, int], inputs: list[str], outputs: list[str]
) -> None:
    written = encode_function(domain, name, versions, with_sizes(inputs), with_sizes(outputs), [])
    expected = onnx.FunctionProto(name=name, input=inputs, output=outputs)
    if domain:
        expected.domain = domain
    expected.opset_import.extend(helper.make_opsetid(*pair) for pair in versions.items())
    assert list(onnx.ModelProto.FromString(to_bytes([written])).functions) == [expected]


HEAD = '<ir_version: 10, opset_import: ["": 21, "own": 1]>'
OWN = '<domain: "own", opset_import: ["": 21, "own": 1]>'
FUNCTIONS = [
    "f (x) => (y) { [n] t = Neg (x) y = Clip (t, , x) }",
    "g (x) => (y) { c = Constant <value = float {2}> () y = Mul (x, c) }",
    "h <alpha> (x) => (y) { y = LeakyRelu <alpha: float = @alpha> (x) }",
    """k (x, c) => (y) { y = If (c) <then_branch = t () => (p) { p = Neg (x) },
                                     else_branch = e () => (q) { q = Abs (x) }> }""",
    "l (x) => (x) { }",
]


@pytest.mark.parametrize("order", [FUNCTIONS, FUNCTIONS[::-1], FUNCTIONS[:1], []])
def test_functions_of_all_kinds_stay_in_order(order: list[str]) -> None:
    text = f"{HEAD} main (float[3] x) => (float[3] y) {{ y = Neg (x) }}"
    proto = onnx.parser.parse_model(text + "".join(f"{OWN} {function}" for function in order))
    for function in proto.functions[:1]:
        function.value_info.append(onnx.ValueInfoProto(name="t"))
    assert ir.to_proto(ir.load(proto)) == proto
    model = ir.load(proto)
    for own in model.functions.values():
        own.opset_imports["more"] = 3
    again = ir.to_proto(model)
    assert [len(f.opset_import) for f in again.functions] == [3] * len(order)
    for function in proto.functions:
        function.opset_import.append(helper.make_opsetid("more", 3))
    assert again == proto
