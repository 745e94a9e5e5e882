"""Mutants that a run tells apart, or that fail, are never proved; proof_mutants.py makes more."""

import attacked_opsets
import numpy as np
import onnx
import proof_mutants


def test_no_mutant_that_a_run_tells_apart_or_that_fails_is_proved():
    counts, wrong = proof_mutants.counted(proof_mutants.origins(0, 2), 2)
    assert wrong == []
    assert counts["told apart"] >= 5
    assert counts["fails"] >= 1
    assert counts["originals proved"] >= 0.6 * counts["originals"]


def test_no_node_that_two_opsets_run_otherwise_is_proved():
    counts, wrong = attacked_opsets.checked(every=12)
    assert wrong == []
    assert counts["alike"] >= 500
    assert counts["told apart"] >= 1


def test_a_loop_without_an_iteration_has_the_sizes_that_its_body_leads_to():
    text = """<ir_version: 8, opset_import: ["": 18]>
        g (float[2] x, int64 n, bool c) => (float[m, 2] y) { y = Loop (n, c) <body =
        b (int64 i, bool e) => (bool e2, float s) { e2 = Identity (e) s = Neg (x) }> }"""
    model = onnx.parser.parse_model(text)
    model.graph.node[0].attribute[0].g.output[1].type.tensor_type.ClearField("shape")
    feeds = {"x": np.float32([1, 2]), "n": np.array(0), "c": np.array(True)}
    ((elem_type, shape, _),) = proof_mutants.ran(model, [feeds])[0]
    assert (elem_type, shape) == ("float32", (0, 2))
    more = feeds | {"n": np.array(proof_mutants.ITERATIONS + 1)}
    assert proof_mutants.ran(model, [more]) is None
