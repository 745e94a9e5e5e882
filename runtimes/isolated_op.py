"""One operator on arrays in another process, which is ended when it takes too long."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import helper

from ..ir import Tensor, normal_domain
from ..reference.errors import EvaluationError
from .source import Source
from .workers import RuntimeFailure, Worker


class Apart:
    """A process that computes operators, one after the other; it is started when it is needed, and
    anew after it was ended."""

    def __init__(self) -> None:
        self._worker = Worker("reference")

    def run(
        self, node: onnx.NodeProto, opsets: Mapping[str, int], arrays: Sequence[Any], seconds: float
    ) -> tuple[list[Any], float]:
        """The outputs of an operator, and how many seconds they took.

        Args:
            node: the operator, free of references and of outer values.
            opsets: the versions in which it is written.
            arrays: one for each of its inputs, None where it is left out.
            seconds: how long it may take.

        Raises:
            EvaluationError: it fails on these arrays, or nothing implements it.
            RuntimeFailure: it took too long, or its process has ended.
        """
        feeds = {f"i{i}": array for i, array in enumerate(arrays) if array is not None}
        source = Source(_alone(node, opsets, feeds))
        self._worker.ready()
        self._worker.timeout = seconds
        begin = time.monotonic()
        try:
            results = self._worker.run(source, feeds)
            self._worker.forget(source)
        except RuntimeFailure as failure:
            if failure.reason in ("unsupported", "failed"):
                raise EvaluationError(str(failure)) from failure
            raise
        return results, time.monotonic() - begin

    def close(self) -> None:
        """End the process."""
        self._worker.close()


def _alone(
    node: onnx.NodeProto, opsets: Mapping[str, int], feeds: Mapping[str, Any]
) -> onnx.ModelProto:
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.input[:], copy.output[:]
    last = max((int(name[1:]) for name in feeds), default=-1)
    copy.input.extend(f"i{i}" if f"i{i}" in feeds else "" for i in range(last + 1))
    copy.output.extend(f"o{i}" if name else "" for i, name in enumerate(node.output))
    inputs = [onnx.ValueInfoProto(name=name) for name in feeds]
    for value, array in zip(inputs, feeds.values(), strict=True):
        value.type.tensor_type.elem_type = Tensor(array=array).elem_type
    outputs = [onnx.ValueInfoProto(name=name) for name in copy.output if name]
    graph = helper.make_graph([copy], "alone", inputs, outputs)
    imports = [helper.make_opsetid(normal_domain(d), v) for d, v in opsets.items()]
    return helper.make_model(graph, opset_imports=imports)
