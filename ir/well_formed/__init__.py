"""What every pass relies on, checked once when a model is loaded.

Names are text; tensors and types are of types that ONNX knows; nodes of ONNX's own operators have
the inputs, outputs and attributes that their schemas demand; no function of the model calls itself.
What ONNX has no schema for is passed through untouched.

One walk over the message, linear in it. Nodes of the same form are decided once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence

import onnx

from ..errors import ModelError
from .calls import Calls
from .graphs import GraphChecker
from .places import Place, key_of
from .schemas import Forms
from .text import first_odd_text, has_odd_text

_NEWEST = onnx.defs.onnx_opset_version()
_MANY = 2**31 - 1
_LARGE = ("graph", "functions", "training_info")


def check_well_formed(proto: onnx.ModelProto) -> None:
    """Check a message.

    Raises:
        ModelError: it is not well formed; the error names the place.
    """
    with text_checked(proto):
        frame = Frame(proto)
        frame.check_nodes(proto.graph.node)
        frame.finish()


@contextlib.contextmanager
def text_checked(proto: onnx.ModelProto) -> Iterator[None]:
    """Say which text of a message is none, where that was come across.

    Raises:
        ModelError: there is one.
    """
    try:
        yield
    except TypeError as error:  # text was joined that was no text
        odd = first_odd_text(proto)
        if odd is None:
            raise
        raise ModelError(odd) from error


class Frame:
    """All of a message but the nodes of its main graph, checked. Who reads those checks each just
    before, which spares a walk.

    Raises:
        ModelError: it is not well formed.
        TypeError: a text is no text.
    """

    def __init__(self, proto: onnx.ModelProto) -> None:
        if has_odd_text(proto, _LARGE):
            raise ModelError(str(first_odd_text(proto)))
        functions = {key_of(f.domain, f.name, f.overload): f for f in proto.functions}
        self._calls = Calls(functions)
        forms = _forms(proto.opset_import, proto.ir_version, f"model '{proto.graph.name}'")
        self._main = GraphChecker(forms, self._calls, None)
        self._place = Place.of_graph(proto.graph.name)
        self._main.check_frame(proto.graph, self._place)
        for info in proto.training_info:
            for graph in (info.initialization, info.algorithm):
                self._main.check(graph, Place.of_graph(graph.name))
        for key, function in functions.items():
            where = f"function '{function.domain}::{function.name}'"
            forms = _forms(function.opset_import, proto.ir_version, where)
            GraphChecker(forms, self._calls, key).check_function(function)

    def check_node(
        self, node: onnx.NodeProto, inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        """Check a node of the main graph, and all that it holds. Errors as the constructor; names
        are left to the caller."""
        self._main.check_node(node, inputs, outputs, self._place)

    def check_nodes(self, nodes: Iterable[onnx.NodeProto]) -> None:
        """Check nodes of the main graph with their names. Errors as the constructor."""
        self._main.check_nodes(nodes, self._place)

    def finish(self) -> None:
        """Check what is seen in the end only: that calls fit. Errors as the constructor."""
        self._calls.check()


def _forms(imports: Iterable[onnx.OperatorSetIdProto], ir_version: int, where: str) -> Forms:
    # Below IR version 3 nothing was imported: everything was opset 1.
    version = 1 if ir_version < 3 else 0
    for entry in imports:
        if entry.domain in ("", "ai.onnx"):
            version = entry.version
            if not 1 <= version <= _NEWEST:
                raise ModelError(
                    f"{where} imports opset {version}; known are 1 to {_NEWEST}"
                    " (a newer onnx package may know it)"
                )
        elif not -_MANY <= entry.version <= _MANY:
            raise ModelError(f"{where} imports version {entry.version} of domain '{entry.domain}'")
    return Forms(version, where)
