from collections import Counter

import numpy as np
import onnx
import pytest
from depth import DEEP
from onnx.reference import ReferenceEvaluator
from operator_cases import cases
from proofs import model
from straightline.ir import Tensor
from straightline.reference.interpreter.node_kernels import operator_kernel
from straightline.verification.certificate_check import Definitions
from straightline.verification.checker.execution import execute
from straightline.verification.checker.inference import RULES, broadcast, fact_of, fact_of_output
from straightline.verification.checker.meaning import head_of
from straightline.verification.checker.polynomials import add, wider
from straightline.verification.checker.terms import Fact, Head, Terms, is_own
from tables import table


def facts(text, opset=18):
    """Facts of the outputs of a model."""
    proto = text if isinstance(text, onnx.ModelProto) else model(text, opset)
    models = execute((proto, proto), {}, (None, None), Definitions("bits"))
    return [models.terms.fact(term) for term in models.before.outputs.values()]


def applied(case, *, shows_constants):
    """Terms with the operands of a case, its head and its arguments. Operands that are shown are
    constants; of the others, types and shapes are known."""
    terms, args = Terms(), []
    for number, array in enumerate(case.operands):
        if array is None:
            args.append(-1)
        elif shows_constants:
            args.append(terms.constant(array))
        else:
            tensor = Tensor(array=array)
            fact = Fact(tensor.elem_type, tuple(tensor.dims))
            args.append(terms.add(Head("input", key=str(number)), fact=fact))
    pairs = sorted((a.name, a.SerializeToString(deterministic=True)) for a in case.node.attribute)
    name, width = case.node.op_type, len(case.node.output)
    return terms, head_of(name, "", case.opset, tuple(pairs), width), tuple(args)


def computed(case):
    """Results by the reference; None where it computes none."""
    try:
        results = operator_kernel(case.node, {"": case.opset})(list(case.operands))
    except Exception:  # noqa: BLE001 - whatever onnx raises
        return None
    return results if all(isinstance(each, np.ndarray) for each in results) else None


def test_derived_facts_agree_with_the_reference():
    """Each operator in each version on random operands."""
    seen, wrong = Counter(), []
    for case in cases(1, 41, RULES):
        form = case.node.op_type, case.opset
        results = None if seen[form] and not DEEP else computed(case)
        if case.node.op_type == "RMSNormalization":  # whose type in the reference is another
            results = results if case.operands[0].dtype == case.operands[1].dtype else None
        seen[form] += results is not None
        for number, result in enumerate(results or ()):
            for shows_constants in (False, True):
                terms, head, args = applied(case, shows_constants=shows_constants)
                fact = fact_of_output(terms, head, args, number)
                tensor = Tensor(array=np.asarray(result))
                dims = None if fact.shape is None else zip(fact.shape, tensor.dims, strict=False)
                fits = fact.elem_type in (0, tensor.elem_type)
                fits &= fact.shape is None or len(fact.shape) == len(tensor.dims)
                fits &= all(a in (None, b) for a, b in dims or ())
                wrong += [] if fits else [f"{case}: {fact.text()}, not {tensor.dims}"]
                seen[case.node.op_type] += fact.shape is not None
    assert not wrong, "\n".join(wrong[:20])
    unseen = {name for name in RULES if not seen[name] and "::" not in name}
    assert unseen <= {"CastLike", "RMSNormalization", *DRAWS}


DRAWS = ("Bernoulli", "RandomNormalLike", "RandomUniformLike")


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", ["", "<dtype = 11>"])
def test_draws_have_the_sizes_of_their_operand(name, dtype):
    text = f"g (float[3, 2] x) => (y) {{ y = {name} {dtype} (x) }}"
    feeds = {"x": np.full((3, 2), 0.5, np.float32)}
    (result,) = ReferenceEvaluator(model(text, 17)).run(None, feeds)
    kind = onnx.helper.np_dtype_to_tensor_dtype(result.dtype)
    assert facts(text, 17) == [Fact(kind, result.shape)]


@pytest.mark.parametrize("opset", [17, 21])
def test_operators_of_machine_learning(opset):
    proto = model(f"""<ir_version: 8, opset_import: ["" : {opset}, "ai.onnx.ml" : 3]>
        g (float[n, 4] x) => (y, z, w) <int64[3] k = {{2, 0, 2}}, float[3] v = {{1, 2, 3}}> {{
            y = ai.onnx.ml.Scaler <scale = [2.0], offset = [1.0]> (x)
            z = ai.onnx.ml.ArrayFeatureExtractor (x, k)
            w = ai.onnx.ml.ArrayFeatureExtractor (v, k) }}""")
    results = ReferenceEvaluator(proto).run(None, {"x": np.ones((5, 4), np.float32)})
    assert [fact.shape for fact in facts(proto)] == [("n", 4), ("n", 3), (1, 3)]
    assert [result.shape for result in results] == [(5, 4), (5, 3), (1, 3)]


def test_sizes_follow_from_inputs():
    y, z, w = facts(
        "g (float[n, 3] x) => (y, z, w) <int64[1] a = {0}>"
        " { y = Unsqueeze (x, a) k = NonZero (x) z = Cast <to = 1> (k) w = Neg (z) }"
    )
    assert y == Fact(1, (1, "n", 3))
    assert z.shape[0] == 2 and is_own(z.shape[1])
    assert w == z


def test_sizes_are_taken_out_of_shapes():
    (y, z) = facts("""g (float[n, 3] x, float[m] w) => (y, z) <int64[1] a = {0}, int64 b = {1}> {
        s = Shape (x) p = Gather (s, a) q = Gather (s, b) r = Unsqueeze (q, a) t = Mul (r, r)
        u = Concat <axis = 0> (p, t) y = ConstantOfShape (u)
        v = Cast <to = 7> (t) z = Reshape (w, v) }""")
    assert (y.shape, z.shape) == (("n", 9), (9,))


@table(
    "c = Cast <to = 3> (s) d = Cast <to = 7> (c)",  # 300 becomes 44
    "i = Cast <to = 6> (most) j = Cast <to = 6> (s) c = Add (i, j) d = Cast <to = 7> (c)",
    "c = Mul (s, big) d = Identity (c)",  # wraps
    "c = Cast <to = 1> (s) d = Cast <to = 7> (c)",
)
def test_a_size_that_may_not_be_one_any_more_is_unknown(node):
    (y,) = facts(f"""g (float[300] x) => (y) <int64 big = {{4611686018427387904}},
        int64 most = {{2147483647}}> {{ s = Shape (x) {node} y = ConstantOfShape (d) }}""")
    assert y.shape is None or is_own(y.shape[0])


def test_int32_holds_a_number_but_not_any_size():
    (y, z) = facts("""g (float[n, 5] x, float w) => (y, z) { s = Shape (x) c = Cast <to = 6> (s)
        d = Cast <to = 7> (c) y = Expand (w, d) z = Tile (x, d) }""")
    assert is_own(y.shape[0]) and y.shape[1] == 5
    assert is_own(z.shape[0]) and z.shape[1] == 25


@pytest.mark.parametrize(("guard", "size"), [("", "n"), ("c", None)])
def test_a_state_of_an_operator_that_ran_has_the_columns_of_its_input(guard, size):
    text = """g (float[t, n, 5] x, float[1, 8, 5] w, float[1, 8, 8] r, int64[3] s, float z, bool c)
        => (h, y) { h = Expand (z, s) """
    cell = "y = RNN <hidden_size = 8> (x, w, r, , , h) "
    other = "else_branch = e () => (o) { o = Identity (x) }"
    branch = f"y = If (c) <then_branch = a () => (o) {{ {cell.replace('y', 'o', 1)} }}, {other}> "
    h, _ = facts(text + (branch if guard else cell) + "}")
    assert h.shape[1] == size or (size is None and is_own(h.shape[1]))


def test_sizes_of_operands_that_broadcast_again():
    (u, v, y, z) = facts("""g (float[n] x, float[m] w, float[1] k) => (u, v, y, z) {
        u = Add (x, w) v = Mul (w, x) a = Sub (u, w) y = Div (k, a) z = Add (y, k) }""")
    assert u == v == y == z and is_own(u.shape[0])


def test_a_part_that_may_be_all():
    (y, z, w) = facts("""g (float[n] x) => (y, z, w) <int64[1] a = {0}, int64[1] e = {4},
        int64[1] f = {6}> { y = Slice (x, a, e) t = Slice (x, a, f) z = Slice (t, a, e)
        w = Add (x, y) }""")
    assert y == z and is_own(y.shape[0]) and w.shape == ("n",)


def test_a_product_of_an_unknown_matrix():
    (y,) = facts(
        "g (float x, float[3, 4] w) => (y) { r = Reshape (x, s) y = Gemm (r, w) }".replace(
            "float x,", "float x, int64[k] s,"
        )
    )
    assert is_own(y.shape[0]) and y.shape[1] == 4


def test_a_name_in_a_reshape_may_be_0_which_copies_a_size():
    (y, z) = facts("""g (float[2, k] x, float[n] w) => (y, z) <int64[1] m = {-1}> {
        s = Shape (w) t = Concat <axis = 0> (s, m) y = Reshape (x, t)
        z = Reshape <allowzero = 1> (x, t) }""")
    assert is_own(y.shape[0]) and z.shape[0] == "n"


def test_declared_types_of_values_are_ignored():
    (y,) = facts("g (float[n] x) => (float[n] y) <float[n] v> { v = Abs (x) y = Neg (v) }")
    assert y == Fact(1, ("n",))


def test_names_of_inputs_do_not_collide_with_those_of_the_checker():
    (y, z) = facts('g (float["?5.0"] x) => (y, z) { y = Neg (x) k = NonZero (y) z = Neg (k) }', 13)
    assert is_own(y.shape[0]) and y.shape[0].startswith("?0.") and z.shape[1] != y.shape[0]


def test_branches_of_other_sizes_have_no_common_one():
    text = """g (float[n] x, bool c) => (y) <float[3] k = {1, 2, 3}> {
        y = If (c) <then_branch = t () => (a) { a = Identity (x) },
                    else_branch = e () => (b) { b = %s (k) }> }"""
    for opset in (7, 11, 18):
        (y,) = facts(text % "Identity", opset)
        assert is_own(y.shape[0])


def test_a_loop_has_sizes_that_each_iteration_keeps():
    y, s = facts("""g (float[n] x, int64 t) => (y, s) { y, s = Loop (t, , x) <body = b
        (int64 i, bool c, float[4] s) => (bool d, float[4] u, float[n] v) {
            d = Identity (c) u = Abs (s) v = Abs (x) }> }""")
    assert (y, s) == (Fact(1, ("n",)), Fact(1))


def test_functions_have_facts():
    (y,) = facts("""<ir_version: 8, opset_import: ["" : 18, "l" : 1]>
        g (float[n, 3] x) => (y) { y = l.f (x) }
        <domain: "l", opset_import: ["" : 18]> f (a) => (b) { b = Transpose (a) }""")
    assert y == Fact(1, (3, "n"))


@table(
    ([("n",), (1,)], ("n",)),
    ([("n",), ("n",)], ("n",)),
    ([("n",), (5,)], (5,)),
    ([("n",), ("m",)], (wider(["n", "m"]),)),
    ([("n",), (0,)], (0,)),
    ([(2,), (3,)], (None,)),
    ([(1,), ()], (1,)),
    ([("n", 1), (4,)], ("n", 4)),
    ([(2,), None], None),
)
def test_broadcasting(shapes, result):
    assert broadcast(shapes) == result


def test_facts_of_types():
    proto = model("g (float[n, 3] x, seq(float[n]) s) => (float y) { y = Abs (x) }")
    assert fact_of(proto.graph.input[0].type) == Fact(1, ("n", 3))
    assert fact_of(proto.graph.input[1].type) == Fact()
    assert fact_of(proto.graph.output[0].type).elem_type == 1


def test_sums_are_sizes_where_a_tensor_has_them():
    text = """g (float[p, 2] a, float[t, 2] b) => (c, r, e)
        <int64 zero = {{0}}, int64 one = {{1}}> {{
        s = Shape (a) w = Shape (b) i = Gather (s, zero) j = Gather (w, zero) k = Add (i, j)
        c = {} r = Range (i, k, one) e = Range (zero, k, one) }}"""
    c, r, e = facts(text.format("Concat <axis = 0> (a, b)"))
    assert c.shape == (add("p", "t"), 2) and r.shape == ("t",)
    assert e.shape == c.shape[:1]
    _, r, e = facts(text.format("Neg (a)"))  # the sum may wrap, and the ranges are empty then
    assert [is_own(each.shape[0]) for each in (r, e)] == [True, True]


def test_a_part_of_an_axis_is_as_long_as_what_it_is_expanded_to():
    text = """g (float[1, {}] x, float[t] w) => (y) <int64[1] z = {{0}}, int64[1] one = {{1}}> {{
        s = Shape (w) p = Slice (x, z, s, one) y = Add (p, w) }}"""
    assert facts(text.format(8))[0].shape == (1, "t")
    assert is_own(facts(text.format("n"))[0].shape[1])
    assert is_own(facts(text.format(0))[0].shape[1])
