"""Knowledge of operators stands in their classes: no table of their names stands elsewhere."""

import ast
import re

import onnx
from source_files import ROOT, sources

MOST = 5
"""Fewer names than so many are a choice of a rule, not a table."""

NAMES = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
HOMES = ("ops/", "version_converter/adapters/", "targets/")

REMAINING = {
    "definitions/expansion.py": "forms of older opsets, below `ops/`",
    "definitions/fused_activations.py": "activations that fused operators name",
    "verification/checker/spelling.py": "spellings, which the checker shares with none",
    "passes/costs/calibrate.py": "operators that calibration measures",
    "ir/checker/schemas.py": "operators that hold bodies or take sequences, below `ops/`",
    "passes/base.py": "operators that are or become control flow",
    "passes/cleanup/cancel_movement.py": "operators that the pass moves a reshape over",
    "passes/loops/scans_to_loops.py": "operators that the pass emits",
    "passes/costs/cost_model.py": "operators whose cost is measured",
    "passes/costs/table.py": "measured costs, of control flow above all",
    "passes/recurrences/recognize/bit_matrices.py": "operators that move bits",
    "passes/recurrences/expand/expansion.py": "operators that the pass emits",
    "passes/recurrences/recognize/extents.py": "ranges of the results of operators",
    "passes/recurrences/recognize/recurrence.py": "operators by which a state looks like a cell",
    "passes/recurrences/recognize/rules.py": "rules of cells, one function each",
    "passes/recurrences/recognize/intervals.py": "bounds of integers in a recurrence",
    "passes/recurrences/recognize/matrix_steps.py": "operators that are linear over a semiring",
    "passes/recurrences/recognize/finite_states.py": "operators that keep elements in their places",
    "passes/recurrences/recognize/fractions.py": "rules of fractions",
    "passes/recurrences/recognize/log_sums.py": "rules of logarithms of sums",
    "passes/recurrences/recognize/reductions.py": "steps of a reduction with what they become",
    "passes/recurrences/recognize/search_loops.py": "operators exact in a batch",
    "passes/recurrences/recognize/sink_products.py": "operators that a product is moved over",
    "passes/recurrences/recognize/coefficients.py": "operators of arithmetic, and without signs",
    "passes/recurrences/recognize/step_functions.py": "rules of the normal form of a step",
    "passes/recurrences/recognize/symbolic_cell.py": "operators that move elements of a cell",
    "passes/sequences/lower_sequences.py": "the operators that the pass is about",
    "passes/simplify/omit_zero_states.py": "operators that move the elements of a state",
    "passes/simplify/raising/raise_activations.py": "the operators that the pass is about",
    "passes/simplify/raising/raise_normalizations.py": "the operators that the pass is about",
    "passes/simplify/library/broadcasting.py": "operators that the rules are about",
    "passes/simplify/library/chains.py": "operators that the rules are about",
    "passes/simplify/library/movement.py": "operators that the rules are about",
    "passes/simplify/raising/reading.py": "sums that operators compute",
    "passes/simplify/rules/normal_form.py": "forms of older opsets",
    "passes/simplify/rules/replacement.py": "relative costs of nodes that rules weigh",
    "passes/utils/zero_signs.py": "operators that forget the sign of a zero",
    "passes/iteration/places.py": "operators that repeat one number",
    "passes/vectorize/residual_loop.py": "operators worth computing for all iterations at once",
    "reference/signature.py": "operators that draw random numbers, below `ops/`",
    "reference/interpreter/node_kernels.py": "kernels in numpy",
    "verification/checker/folding.py": "operators that the checker computes, without `ops/`",
    "verification/checker/meaning.py": "versions that changed what an operator means",
    "verification/checker/inference.py": "operators whose operands broadcast, without `ops/`",
    "verification/checker/movement.py": "operators on single elements, without `ops/`",
    "verification/checker/scans.py": "operators that work row by row, without `ops/`",
    "verification/checker/sizes.py": "operators that the checker follows, without `ops/`",
    "verification/checker/terms.py": "laws of arithmetic, and operators that carry signs of zeros",
    "verification/proof/canonicalize/attribute_to_input.py": "forms of older opsets",
    "verification/proof/canonicalize/wide_detours.py": "operators that a rule computes narrowly",
    "verification/proof/cases.py": "comparisons with 0",
    "verification/proof/definitions/composite.py": "reductions by functions before and after a sum",
    "verification/proof/equality/order.py": "operators of keys that order elements",
    "verification/proof/equality/recurrent_cells.py": "activations that attributes name",
    "verification/proof/equality/fold_forms.py": "folds as a table",
    "verification/proof/equality/zero_signs.py": "operators that forget the sign of a zero",
    "verification/proof/reals/conditions.py": "operators over the reals that are total",
    "verification/proof/reals/definitions.py": "formulas over the reals, one each",
    "verification/proof/reals/real_terms.py": "odd and even functions",
    "verification/proof/execution/node_checker.py": "values that attributes may have",
    "verification/proof/execution/safety.py": "operators that draw random numbers and never fail",
    "verification/proof/terms/evaluations.py": "operators whose value leaves no doubt",
    "verification/checker/rules.py": "tests of a checker that shares nothing with `ops`",
    "verification/runs/separators.py": "operators that name entries, in any model",
    "verification/rules_in_words.py": "rules by the operators that they are about",
    "version_converter/bfloat16.py": "operators that take an element type late",
    "verification/proof/terms/exact_operators.py": "laws of arithmetic",
    "verification/proof/terms/op_semantics.py": "versions that changed what an operator means",
    "version_converter/narrow_constants.py": "operators that move constants of any type",
    "version_converter/unblock.py": "constructs that block a conversion",
}
"""Files with tables, and why they are no knowledge of one operator for its class."""


def names(node):
    """The names of operators that a display holds, or a text of names alone."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = node.value.split()
        return words if set(words) <= NAMES else []
    if isinstance(node, ast.Dict):
        return [name for key in node.keys if key for name in names(key)]
    inside = getattr(node, "elts", None) or ([node.value] if isinstance(node, ast.Starred) else [])
    return [name for each in inside for name in names(each)]


def has_table(path):
    """Test for a display or a text of many operators; rules are registered by decorators."""
    text = path.read_text(encoding="utf-8")
    if len(NAMES.intersection(re.findall(r"\w+", text))) < MOST:
        return False
    tree = ast.parse(text)
    decorators = [d for node in ast.walk(tree) for d in getattr(node, "decorator_list", [])]
    registered = {node for decorator in decorators for node in ast.walk(decorator)}
    return any(len(set(names(node))) >= MOST for node in ast.walk(tree) if node not in registered)


def test_tables_of_operators_stand_in_their_classes():
    elsewhere = [path for path in sources() if not path.startswith(HOMES)]
    assert {path for path in elsewhere if has_table(ROOT / path)} == set(REMAINING)
