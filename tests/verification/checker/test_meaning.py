from onnx import helper
from straightline.verification.checker.meaning import head_of
from straightline.verification.proof.terms.op_semantics import versions_of
from tables import table


def head(name, version, outputs=1, **attributes):
    items = [helper.make_attribute(key, value) for key, value in sorted(attributes.items())]
    pairs = tuple((item.name, item.SerializeToString(deterministic=True)) for item in items)
    return head_of(name, "", version, pairs, outputs)


@table(
    ("Abs", 7, 13),
    ("Add", 7, 14),
    ("Loop", 11, 21),
    ("Scan", 9, 21),
    ("If", 1, 21),
    ("TopK", 10, 11),
    ("Shape", 13, 19),
    ("BatchNormalization", 9, 15),
)
def test_versions_that_mean_the_same(name, one, other):
    assert head(name, one) == head(name, other)


@table(
    ("Add", 6, 7, {}),
    ("Softmax", 12, 13, {"axis": 1}),
    ("Split", 17, 18, {}),
    ("Scan", 8, 9, {}),
    ("OneHot", 10, 11, {}),
    ("Gather", 10, 11, {}),
    ("Resize", 10, 11, {}),
    ("RoiAlign", 15, 16, {}),
    ("GroupNormalization", 20, 21, {"num_groups": 2}),
    ("BatchNormalization", 8, 9, {}),
    ("AveragePool", 18, 19, {"ceil_mode": 1, "kernel_shape": [2], "strides": [3]}),
    ("Concat", 10, 11, {"axis": -1}),
)
def test_versions_that_do_not(name, one, other, attributes):
    assert head(name, one, **attributes) != head(name, other, **attributes)


def test_defaults_are_attributes():
    assert head("Concat", 13, axis=0) != head("Concat", 13, axis=1)
    assert head("Softmax", 13) == head("Softmax", 13, axis=-1)
    assert head("AveragePool", 18, kernel_shape=[2]) == head("AveragePool", 22, kernel_shape=[2])


def test_an_operator_without_schema_is_itself():
    assert head("NoSuch", 13) != head("NoSuch", 14)


def test_the_table_of_changes_names_versions_that_exist():
    from straightline.verification.checker.meaning import _CHANGED

    for name, version in _CHANGED:
        assert version in [schema.since_version for schema in versions_of(name)], name
