import functools
import itertools
import warnings

import numpy as np
import onnx
import pytest
from backend import collected
from proofs import is_proved
from spelled import RUNTIMES, same_bits
from straightline.ir import Operator
from straightline.verification.proof.terms.op_semantics import (
    LATEST,
    has_any_outputs,
    is_known,
    meaning_of,
    newest,
    versions_of,
)
from straightline.verification.proof.terms.term import Heads
from tables import table

OPSETS = range(7, 24)


def named(op_type, version, outputs=1, **attributes):
    op, since, opset = newest(Operator.make(op_type, **attributes), version, outputs)
    return op, since, opset


@table(
    ("Add", (7, 13, 14, 21), 14),
    ("Less", (7, 9, 13), 13),
    ("Transpose", (8, 13, 23), 25),
    ("Reshape", (8, 13, 14, 21), 25),
    ("TopK", (10, 11, 24), 24),
    ("MaxPool", (8, 10, 12, 22), 22),
    ("Cast", (9, 13, 19, 24), 28),
)
def test_versions_that_mean_the_same_are_one(op_type, opsets, expected):
    assert {named(op_type, opset)[1] for opset in opsets} == {expected}


@table(
    ("Softmax", 12, 13),
    ("Slice", 9, 10),
    ("OneHot", 10, 11),
    ("Resize", 10, 11),
    ("GroupNormalization", 20, 21),
    ("Split", 17, 18),
    ("Clip", 10, 11),
    ("Add", 6, 7),
    ("PRelu", 6, 7),
)
def test_versions_that_mean_something_else_are_not(op_type, before, after):
    assert named(op_type, before)[1] != named(op_type, after)[1]


def test_defaults_are_written_out():
    op, _, _ = named("MaxPool", 8, kernel_shape=[2, 2])
    assert (op.attribute("storage_order"), op.attribute("ceil_mode")) == (0, 0)


def test_a_step_may_depend_on_attributes():
    assert named("MaxPool", 12, ceil_mode=0)[1] == 22
    assert named("MaxPool", 12, ceil_mode=1, kernel_shape=[2], strides=[3])[1] == 12
    assert named("AveragePool", 12, ceil_mode=1, kernel_shape=[2], strides=[3])[1] == 11
    assert named("BatchNormalization", 8, spatial=0)[1] == 7
    assert named("BatchNormalization", 9, 1)[1] == 15
    assert named("BatchNormalization", 9, 5)[1] == 9


@table(
    ({"strides": [2], "pads": [0, 0]}, True),
    ({"strides": [1], "pads": [1, 1]}, True),
    ({}, True),
    ({"strides": [3]}, False),
    ({"strides": [2], "pads": [0, 1]}, False),
    ({"strides": [2], "count_include_pad": 1}, False),
    ({"strides": [2], "auto_pad": "SAME_UPPER"}, False),
)
def test_a_last_window_with_an_element_is_the_same_in_all_versions(attributes, is_same):
    """`ceil_mode` may add a window that starts in the padding."""
    op = {"kernel_shape": [2], "ceil_mode": 1, **attributes}
    assert (named("AveragePool", 11, **op)[1] == 22) is is_same


def test_values_of_attributes_may_have_other_names():
    op, since, _ = named("GridSample", 16, mode="bicubic")
    assert (op.attribute("mode"), since) == (b"cubic", 22)
    op, _, _ = named("RoiAlign", 10)
    assert op.attribute("coordinate_transformation_mode") == b"output_half_pixel"


def test_the_last_opset_of_a_version_is_told():
    assert named("Add", 8)[2] == LATEST
    assert named("Softmax", 8)[2] == 12


def test_versions_are_in_order():
    since = [schema.since_version for schema in versions_of("Reshape")]
    assert since == sorted(since) and since[0] == 1


@functools.cache
def cases():
    return [case for case in collected() if len(case.model.graph.node) == 1]


def opset_of(model):
    """The opset of the default domain; 0 where there is none."""
    return next((entry.version for entry in model.opset_import if not entry.domain), 0)


def written_for(model, opset):
    """The same nodes, read as another opset."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for entry in copy.opset_import:
        if not entry.domain:
            entry.version = opset
    return copy


def results(runtime, model, inputs):
    """What a runtime gives; None where it refuses."""
    names = [info.name for info in model.graph.input]
    given = {n: np.asarray(v) for n, v in zip(names, inputs, strict=False)}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return RUNTIMES[runtime](model, given)
    except Exception:  # noqa: BLE001 - whatever a runtime raises is its answer
        return None


def is_run(case):
    values = itertools.chain(*case.data_sets[0])
    return all(isinstance(v, np.ndarray | np.generic) for v in values)


@pytest.mark.sample(5)
@pytest.mark.parametrize("start", range(20))
def test_operators_with_equal_meaning_have_equal_bits(start):
    """Operators of onnx's tests, read as other opsets: where that is proved to mean the same,
    runtimes that run both give the same."""
    for case in cases()[start::400]:
        own = opset_of(case.model)
        if own < OPSETS.start or not is_run(case):
            continue
        for opset in {7, 9, 10, 11, 12, 13, 17, 18, 20, 21, 22, 23} - {own}:
            other = written_for(case.model, opset)
            if not is_proved(case.model, other):
                continue
            for runtime in RUNTIMES:
                pair = [results(runtime, m, case.data_sets[0][0]) for m in (case.model, other)]
                if pair[0] is not None and pair[1] is not None:
                    assert same_bits(*pair), (case.name, own, opset, runtime)


def test_an_operator_means_the_same_in_opsets_that_did_not_change_it():
    one, other = (meaning_of(Operator("Add"), opset, 1) for opset in (7, 21))
    assert (one.since, one.opset) == (other.since, other.opset) == (14, 28)


def test_a_default_that_is_written_is_no_other_meaning():
    heads = Heads()
    bare = heads.of(Operator.make("LeakyRelu"), {"": 6})
    said = heads.of(Operator.make("LeakyRelu", alpha=0.01), {"": 16})
    assert heads.of(Operator.make("LeakyRelu"), {"": 16}) is bare
    assert said is not heads.of(Operator.make("LeakyRelu", alpha=0.02), {"": 16})


def test_domains_have_versions_of_their_own():
    meant = meaning_of(Operator.make("Normalizer", "ai.onnx.ml"), 2, 1)
    assert (meant.since, meant.op.attribute("norm")) == (1, b"MAX")


def test_unknown_operators_mean_themselves():
    meant = meaning_of(Operator("Frobnicate", domain="local"), 3, 1)
    assert (meant.since, meant.opset) == (3, 3)
    assert not is_known(Operator("Frobnicate"), 13)


def test_some_operators_have_as_many_outputs_as_their_node_writes():
    assert has_any_outputs(Operator("Split"), 13)
    assert not has_any_outputs(Operator("TopK"), 13)
