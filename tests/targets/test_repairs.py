import numpy as np
import pytest
from straightline.targets.repairs import _REPAIRS

from targets import fitted, lacking

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
BRANCHES = """z = If (c) <then_branch = t () => (float[2] u) {{ {} }},
    else_branch = {} () => (float[2] v) {{ v = Neg (x) }}>"""
STEP = "<body = b (int64 i, bool k, float[2] a) => (bool {}, float[2] e) {{ {} e = Exp (a) }}>"
BRANCH = "float[2] x, bool c", BRANCHES.format("u = Exp (x)", "t")
CASES = {
    "own_conditions": ("float[2] x, int64 n", f"z = Loop (n, , x) {STEP.format('k', '')}"),
    "own_outputs": (
        "float[2] x, bool c",
        BRANCHES.format("", "f").replace("u)", "u) <float[2] u = {3, 4}>", 1),
    ),
    "computes_empty": ("float[m, 2] x", "z = Concat <axis = 0> (k, x)"),
    "raw_data": ("float[2] x", "z = Add (k, x)"),
    "names_nodes": ("float[2] x", "[Neg_1] a = Neg (x) z = Exp (a)"),
    "names_sizes": ("float[?, 2] x", "z = Neg (x)"),
    "names_bodies": BRANCH,
    "known_declarations": ("float[n] x", "a = Neg (x) z = Exp (a)"),
}
"""By key the inputs and the nodes of a model that the repair changes."""
DECLARED = {"known_declarations": "<float[n] a>", "computes_empty": "<float[0, 2] k = {}>"}
DECLARED["raw_data"] = "<float[2] k = {3, 4}>"
OUTPUTS = dict.fromkeys(("computes_empty", "names_sizes"), "[r, 2]")
OUTPUTS["known_declarations"] = "[n]"
FEEDS = {"x": np.float32([1, 2]), "n": np.array(2), "c": np.array(True)}


def test_every_key_has_a_case():
    assert [each.key for each in _REPAIRS] == list(CASES)


@pytest.mark.parametrize("key", CASES)
def test_a_repair_happens_for_the_targets_that_ask_for_it(key):
    inputs, nodes = CASES[key]
    output = f"float{OUTPUTS.get(key, '[2]')} y"
    text = f"{HEAD} g ({inputs}) => ({output}) {DECLARED.get(key, '')} {{ {nodes} y = Neg (z) }}"
    (remark,) = (each.remark for each in _REPAIRS if each.key == key)
    feeds = {name: FEEDS[name] for name in FEEDS if f" {name}" in inputs}
    if key in ("computes_empty", "names_sizes"):
        feeds["x"] = np.ones((3, 2), np.float32)
    codes = {}
    for is_asked in (True, False):
        outcome = fitted(text, lacking("Tan", **{key: is_asked}), feeds, passes=())
        codes[is_asked] = [r.sentence.code for r in outcome.remarks if r.action == "rewritten"]
    assert codes == {True: [remark.code], False: []}
    # A second run changes nothing.
    assert not fitted(outcome.model, lacking("Tan"), feeds, passes=()).changed
