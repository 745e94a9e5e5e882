"""A small part of dev/fuzz/conversion_sweep.py: operators, types, shapes and opsets."""

import conversion_sweep
from depth import DEEP


def test_a_conversion_is_right_or_refused():
    operators = ("Celu", "Range", "TopK", "Einsum", "Clip", "Softsign", "CumSum")
    for op_type in operators:
        case = conversion_sweep.seeds(DEEP)[op_type][0]
        counts, faults = conversion_sweep.swept(case, (7, 9, 11, 13, 18, 28), every=150, offset=0)
        assert not faults, "\n".join(faults)
        assert counts["right"], op_type


def test_a_fault_is_noticed(monkeypatch):
    """A conversion that leaves the opset of the schema behind."""

    def relabelled(model, target, **_):
        model.opset_import[0].version = target
        return model

    monkeypatch.setattr(conversion_sweep.sl, "convert_version", relabelled)
    case = conversion_sweep.seeds(DEEP)["Celu"][0]
    _, faults = conversion_sweep.swept(case, (7, 9), every=10, offset=0)
    assert faults
