import math
from typing import ClassVar

import numpy as np
import pytest
from harness import as_model
from straightline import ir
from straightline.analysis import guarded_evaluation
from straightline.analysis.constants.folding import Folder
from straightline.ir import Tensor
from straightline.limits import Limits, governed
from straightline.runtimes.isolated_op import Apart
from straightline.runtimes.workers import RuntimeFailure

TEXT = '<ir_version: 9, opset_import: ["" : 20]> g (string[N] x) => (y) {{ y = {} (x) }}'
TRAP = "RegexFullMatch <pattern = '(a+)+$'>"


def node_of(body):
    model = ir.load(as_model(TEXT.format(body).replace("'", '"')))
    return next(iter(model.graph.nodes())), Folder(model)


def texts(*given):
    return Tensor(array=np.array(given, object))


class Asked:
    """Takes the place of the other process."""

    answers: ClassVar[list] = []
    seconds: ClassVar[list] = []

    def run(self, node, opsets, arrays, seconds):
        self.seconds.append(seconds)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer, 1.0

    def close(self):
        pass


@pytest.fixture
def asked(monkeypatch):
    monkeypatch.setattr("straightline.runtimes.isolated_op.Apart", Asked)
    monkeypatch.setattr(Asked, "answers", [])
    monkeypatch.setattr(Asked, "seconds", [])
    return Asked


def test_a_pattern_without_end_is_ended_and_what_comes_next_is_computed():
    """One process for all; where one is ended nothing of this kind is begun any more."""
    node, folder = node_of(TRAP)
    with governed(Limits(timeout=0.5)) as governor:
        (found,) = folder.fold(node, [texts("aa", "ab")])
        assert found.numpy().tolist() == [True, False]
        assert isinstance(governor.helper(Apart), Apart)
        assert folder.fold(node, [texts("a" * 40 + "b")]) is None
        ((why, (place, count)),) = governor.refused.items()
        assert "timeout=0.5 allows; raise it with --timeout" in why
        assert (place, count) == (node, 1)
        assert folder.fold(node, [texts("aaa")]) is None
        assert governor.refused[why] == (node, 2)
        plain, other = node_of("RegexFullMatch <pattern = 'a*'>")
        assert other.fold(plain, [texts("aaa")]) is not None


def test_seconds_are_those_of_all_together(asked):
    node, folder = node_of(TRAP)
    asked.answers[:] = [[np.array([True])]] * 2
    with governed(Limits(timeout=3)):
        assert folder.fold(node, [texts("a")]) and folder.fold(node, [texts("b")])
    assert asked.seconds == [3, 2]


def test_a_process_that_ends_leaves_the_node_as_it_is(asked):
    node, folder = node_of(TRAP)
    asked.answers[:] = [RuntimeFailure("reference", "crashed", "SIGSEGV"), [np.array([True])]]
    with governed() as governor:
        assert folder.fold(node, [texts("a")]) is None
        assert any("SIGSEGV" in why for why in governor.refused)
        assert folder.fold(node, [texts("b")]) is not None


def test_no_process_without_a_governor(asked):
    node, folder = node_of(TRAP)
    assert folder.fold(node, [texts("a")]) is None


def test_long_runs_are_counted_apart(asked, monkeypatch):
    node, folder = node_of("StringNormalizer")
    monkeypatch.setattr(guarded_evaluation, "_AT_ONCE", guarded_evaluation.CALL)
    asked.answers[:] = [[np.array(["elsewhere"], object)]]
    with governed():
        (found,) = folder.fold(node, [texts("a")])
    assert found.numpy().tolist() == ["elsewhere"]


def test_an_operator_without_a_description_runs_apart():
    from straightline.ir import Operator
    from straightline.ops import rules_of

    node, _ = node_of("StringNormalizer")
    assert rules_of(node.op).work(node, [np.array(["a"], object)]) < 1e6
    assert rules_of(Operator.make("FromTheFuture")).work(node, [np.zeros(3)]) == math.inf
