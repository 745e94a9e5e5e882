"""Definitions of operators beside the kernels of onnxruntime, on drawn nodes.

A kernel runs in a process of its own, which it may abort.
"""

import itertools
import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Literal

import numpy as np

from ...definitions import Definition, registry
from ...definitions.define import define as _define
from ...definitions.pattern import RuleError
from ...ir import Array, Error
from ...records import record
from ...reference.interpreter.evaluator import Evaluator
from ...runtimes.kernel_schemas import kernel_schema
from ...runtimes.source import Source
from ...runtimes.workers import RuntimeFailure, Worker, Workers
from .drawn_nodes import DrawnNode, drawn_nodes
from .options import has_onnxruntime

Status = Literal["equal", "different", "no kernel", "not compared"]

_COMPARED = 12
"""The number of nodes on which a definition and its kernel are compared."""
_DRAWN = 400
_LEAST_COMPARED = 200
"""The number of drawn nodes after which an operator that no kernel accepts is left."""
_OPSET = 17
_MISSING = ("Could not find an implementation", "is not a registered function/op")
_MOST_CRASHES = 3
_TOLERANCES = {2: 5e-3, 4: 5e-5, 8: 1e-6}
"""The tolerance of floats by their bytes, relative to the largest one."""


@record(frozen=True)
class KernelCheck:
    """Comparison of the definitions of one operator with its kernel.

    Attributes:
        operator: its name, with the domain in front.
        status: the outcome. "not compared": the kernel accepts no drawn node that has a definition.
        nodes: the number of nodes on which both ran.
        reason: the difference, or the last reason of the kernel.
    """

    operator: str
    status: Status
    nodes: int
    reason: str = ""

    def __str__(self) -> str:
        """The outcome in a sentence."""
        return f"definition of {self.operator}: {_words(self)}"


def _words(check: KernelCheck) -> str:
    if check.status == "equal":
        return f"it equals the kernel of onnxruntime on {check.nodes} drawn nodes"
    if check.status == "different":
        return f"it contradicts the kernel of onnxruntime: {check.reason}"
    if check.status == "no kernel":
        return "not compared: onnxruntime has no kernel of it"
    return f"not compared: {check.reason}"


def define(text: str | os.PathLike[str], *, check: bool = False) -> list[str]:
    """Define operators of any domain out of ONNX's own, for this process.

    Earlier definitions of the same operators are replaced; functions of a model have precedence.

    Args:
        text: the text, or the path of a file with it.
        check: compare each definition with the kernel of onnxruntime, where it has one, on drawn
            nodes.

    Returns:
        the names of the operators.

    Raises:
        RuleError: the file cannot be read, a definition is invalid, or it contradicts the kernel.

    >>> import straightline as sl
    >>> sl.define('''
    ... before (floats x) => (y) { y = com.acme.HalfTanh (x) }
    ... after (x) => (y) { h = Mul (x, 0.5)  y = Tanh (h) }''')
    ['com.acme.HalfTanh']
    """
    names = _define(text)
    if check:
        require_kernels(names)
    return names


def require_kernels(operators: Iterable[str]) -> list[KernelCheck]:
    """Compare definitions with kernels; those that contradict theirs are dropped.

    Raises:
        RuleError: one contradicts its kernel.
    """
    checks = check_kernels(operators)
    wrong = [check for check in checks if check.status == "different"]
    for check in wrong:
        registry.forget(check.operator)
    if wrong:
        raise RuleError("; ".join(map(str, wrong)))
    return checks


def require_own_kernels() -> list[KernelCheck]:
    """Compare the definitions of users with kernels, as `require_kernels` does."""
    return require_kernels(registry.own_names())


def check_kernels(operators: Iterable[str]) -> list[KernelCheck]:
    """Compare the definitions of operators, by name, with the kernels of onnxruntime."""
    names = list(operators)
    if not has_onnxruntime():
        return [KernelCheck(n, "not compared", 0, "onnxruntime is not installed") for n in names]
    forms: dict[str, list[Definition]] = {name: [] for name in names}
    for definition in registry.every():
        if definition.name in forms:
            forms[definition.name].append(definition)
    with ExitStack() as stack:
        worker = stack.enter_context(Workers()).get("onnxruntime")
        return [_check(name, forms[name], worker) for name in names]


def _check(name: str, forms: list[Definition], worker: Worker) -> KernelCheck:
    """Compare the definitions of one operator."""
    domain, _, op_type = name.rpartition(".")
    schema = kernel_schema(domain, op_type, _OPSET)
    if schema is None:
        return KernelCheck(name, "no kernel", 0)
    draws = [drawn_nodes(form, max(form.since, _OPSET), schema) for form in forms]
    compared, crashes, reason, has_kernel = 0, 0, "", False
    exact = all(form.exact for form in forms)
    for number, nodes in enumerate(itertools.islice(itertools.cycle(draws), _DRAWN)):
        if compared == _COMPARED or (not compared and number == _LEAST_COMPARED):
            break
        node = next(nodes)
        try:
            results = _results(node, worker)
        except RuntimeFailure as failure:
            # A refusal for any other reason than a missing kernel shows that there is one.
            has_kernel = has_kernel or not any(text in str(failure) for text in _MISSING)
            reason = (
                "onnxruntime accepts none of the drawn nodes; write its types and sizes into"
                f" 'before', such as 'float x[2, 8]' (the last one: {failure})"
            )
            crashes += failure.reason == "crashed"
            if crashes == _MOST_CRASHES:
                break
            continue
        except Error as error:
            reason = f"no definition covers a node that onnxruntime accepts: {error}"
            continue
        compared += 1
        if difference := _difference(node, *results, exact):
            return KernelCheck(name, "different", compared, difference)
    if compared:
        return KernelCheck(name, "equal", compared)
    return KernelCheck(name, "not compared" if has_kernel else "no kernel", 0, reason)


def _results(node: DrawnNode, worker: Worker) -> tuple[list[Array], list[Array]]:
    """The outputs of the kernel and of the definition.

    Raises:
        RuntimeFailure: onnxruntime does not accept the node.
        Error: no definition covers it.
    """
    source = Source(node.model)
    try:
        kernel = worker.run(source, node.feeds)
    finally:
        worker.forget(source)
    return kernel, list(Evaluator(node.model).run(node.feeds))


def _difference(node: DrawnNode, kernel: list[Array], own: list[Array], exact: bool) -> str:
    """The difference of two results; "" for none."""
    outputs = node.model.graph.node[0].output
    for name, one, other in zip(outputs, kernel, own, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            types = f"{one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
            return f"it returns '{name}' as {types} ({node})"
        if off := _distance(one, other, exact):
            return f"'{name}' differs by {off:.3g} ({node})"
    return ""


def _distance(kernel: Array, own: Array, exact: bool) -> float:
    """The largest difference of two tensors; 0 within the tolerance.

    Where the kernel overflows, the definition says nothing; quantized numbers may be off by a step.
    """
    if kernel.dtype.kind not in "fiub":
        return float(np.any(kernel != own))
    numbers = np.isfinite(kernel)
    one, other = kernel[numbers].astype(np.float64), own[numbers].astype(np.float64)
    off = float(np.max(np.abs(one - other), initial=0.0))
    if kernel.dtype.kind == "f":
        limit = _TOLERANCES[kernel.itemsize] * float(np.max(np.abs(one), initial=1.0))
    else:
        limit = 0.0 if exact or kernel.itemsize > 1 else 1.0
    return 0.0 if off <= limit else off
