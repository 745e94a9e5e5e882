"""Second computation of constants: onnxruntime computes what a proof folded by the reference."""

import logging
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import onnx
from onnx import helper

from ..analysis.shapes.onnx_inference_cache import connected_message
from ..ir import Array, Tensor
from ..ops import rules_of
from ..ops.agreement import is_float
from ..runtimes.source import Source
from ..runtimes.value_text import text_of
from ..runtimes.workers import RuntimeFailure, Worker, Workers
from .proof import Evaluation
from .runs.comparison import EXACT, Tolerance, compare
from .runs.options import has_onnxruntime

_log = logging.getLogger(__name__)

_TIMEOUT = 10.0
"""Limit in seconds of one model."""
_SHARE = 64
"""Limit of operators in one model."""
_IR_VERSION = 10
"""Version of the format that has all element types of constants."""
_MOST_REMEMBERED = 1 << 12
_agreed: set[Hashable] = set()
"""Evaluations that onnxruntime has confirmed in this process."""


class _Question:
    """One evaluation, as a node whose operands are inputs of a model."""

    def __init__(self, evaluation: Evaluation, number: int) -> None:
        head, node, operands, self.results = evaluation
        self.node, self.opset = connected_message(node.op, node), head.imports[""]
        spelling = self.node.SerializeToString(deterministic=True)
        self.key = spelling, self.opset, evaluation.constants
        self.exact = rules_of(node.op).exact
        arrays = [None if t is None else t.numpy() for t in operands]
        prefix = f"n{number}_"
        for names in (self.node.input, self.node.output):
            names[:] = [prefix + name if name else "" for name in names]
        pairs = zip(self.node.input, arrays, strict=False)
        self.feeds = {name: array for name, array in pairs if name and array is not None}

    @property
    def outputs(self) -> list[tuple[str, Tensor]]:
        """Results by the names of outputs."""
        pairs = zip(self.node.output, self.results, strict=False)
        return [(name, tensor) for name, tensor in pairs if name]

    @property
    def text(self) -> str:
        """The operator and its operands in a line."""
        return f"{self.node.op_type} of {', '.join(map(text_of, self.feeds.values()))}"

    def difference(self, outputs: Mapping[str, Any]) -> str:
        """Describe how onnxruntime differs; "" if it does not."""
        for name, tensor in self.outputs:
            ours, theirs = tensor.numpy(), outputs[name]
            if not _agree(ours, theirs, self.exact, list(self.feeds.values())):
                values = f"{text_of(ours)} by the reference, {text_of(theirs)} in onnxruntime"
                return f"{self.text} is {values}"
        return ""


def disagreement(evaluations: Iterable[Evaluation], workers: Workers | None = None) -> str:
    """Describe an operator on constants that onnxruntime computes in another way.

    Args:
        evaluations: operators and what the reference made of them.
        workers: child processes to reuse.

    Returns:
        a sentence; "" if all agree, or onnxruntime is not installed. An operator that it does not
        run is not compared.
    """
    questions: dict[Hashable, _Question] = {}
    for number, evaluation in enumerate(evaluations):
        question = _Question(evaluation, number)
        if question.key not in _agreed:
            questions.setdefault(question.key, question)
    if not questions or not has_onnxruntime():
        return ""
    with ExitStack() as stack:
        worker = (workers or stack.enter_context(Workers())).get("onnxruntime", _TIMEOUT)
        for group in _groups(list(questions.values())):
            for question, outputs in _answers(worker, group):
                text = question.difference(outputs)
                if text:
                    return text
                if len(_agreed) < _MOST_REMEMBERED:
                    _agreed.add(question.key)
    return ""


def _groups(questions: Sequence[_Question]) -> Iterator[list[_Question]]:
    """Yield questions that one model can hold: of the same opset, and not too many."""
    by_opset: dict[int, list[_Question]] = {}
    for question in questions:
        by_opset.setdefault(question.opset, []).append(question)
    for group in by_opset.values():
        for start in range(0, len(group), _SHARE):
            yield group[start : start + _SHARE]


def _answers(
    worker: Worker, questions: Sequence[_Question]
) -> Iterator[tuple[_Question, Mapping[str, Any]]]:
    """Yield questions with the outputs of onnxruntime. If it refuses their model, halves follow."""
    source = Source(_model(questions))
    feeds = {name: array for question in questions for name, array in question.feeds.items()}
    try:
        outputs = worker.run(source, feeds)
        worker.forget(source)
    except RuntimeFailure as failure:
        if len(questions) > 1:
            middle = len(questions) // 2
            yield from _answers(worker, questions[:middle])
            yield from _answers(worker, questions[middle:])
        else:
            _log.info("not computed a second time: %s: %s", questions[0].text, failure)
        return
    names = [output.name for output in source.proto.graph.output]
    by_name = dict(zip(names, outputs, strict=True))
    yield from ((question, by_name) for question in questions)


def _model(questions: Sequence[_Question]) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, Tensor(array=array).elem_type, array.shape)
        for question in questions
        for name, array in question.feeds.items()
    ]
    # No types: onnxruntime refuses a model that declares another one than it infers.
    names = [name for question in questions for name, _ in question.outputs]
    outputs = [onnx.ValueInfoProto(name=name) for name in names]
    graph = helper.make_graph([question.node for question in questions], "g", inputs, outputs)
    imports = [helper.make_opsetid("", questions[0].opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION)


def _agree(ours: Array, theirs: Any, exact: bool, operands: Sequence[Array]) -> bool:
    """Test for equal results: to the last bit of exact operators, else up to rounding."""
    if not exact:
        return not compare(theirs, ours, Tolerance(slack=_slack(operands))).kind
    if compare(theirs, ours, EXACT).kind:
        return False
    if ours.dtype.kind != "f":
        return True
    zeros = (ours == 0) & (np.signbit(ours) != np.signbit(theirs))
    return not zeros.any()


def _slack(operands: Iterable[Array]) -> float:
    """Absolute tolerance for sums of floats that cancel."""
    floats = [array for array in operands if is_float(array) and array.size]
    largest = max([1.0, *(_magnitude(array) for array in floats)])
    narrow = any(array.dtype.itemsize < 4 for array in floats)
    return 32 * largest * (2.0**-8 if narrow else 2.0**-23)


def _magnitude(array: Array) -> float:
    finite = np.nan_to_num(array.astype(np.float64), posinf=0, neginf=0)
    return float(np.abs(finite).max())
