"""The checker of messages at load: conditions on which every pass relies.

Names are text; tensors and types have element types of ONNX; nodes of ONNX's own operators have the
inputs, outputs and attributes of their schemas; functions are not recursive. Operators without a
schema pass.

One linear walk over the message. Nodes of the same form are checked once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import onnx

from ..errors import ModelError
from ..io.protobuf.opset_imports import Imports, imports_of
from ..places import Place, key_of
from ..tensor_contents import Types
from ..valid_text import first_odd_text, has_odd_text
from .calls import Calls
from .graphs import GraphChecker, Row, rows_of
from .schemas import Forms, forms_of

_NEWEST = onnx.defs.onnx_opset_version()
_MANY = 2**31 - 1
_LARGE = ("graph", "functions", "training_info")


def check_well_formed(proto: onnx.ModelProto, rows: Iterable[Row] | None = None) -> None:
    """Check a message.

    Args:
        proto: the message.
        rows: nodes of the main graph, if the caller has read them.

    Raises:
        ModelError: it is not well formed; the error names the place.
    """
    with naming_odd_text(proto):
        frame = Frame(proto)
        for function in proto.functions:
            checker = frame.of_function(function, imports_of(function.opset_import))
            checker.check_nodes(function.node)
            checker.close()
        frame.main.check_rows(rows_of(proto.graph.node) if rows is None else rows)
        frame.finish()


@contextlib.contextmanager
def naming_odd_text(proto: onnx.ModelProto) -> Iterator[None]:
    """Turn the TypeError of text that is not UTF-8 into an error that names it.

    Raises:
        ModelError: a text is not UTF-8.
    """
    try:
        yield
    except TypeError as error:  # from joining text that was not UTF-8
        odd = first_odd_text(proto)
        if odd is None:
            raise
        raise ModelError(odd) from error


class Frame:
    """Checks of a message without its functions and the nodes of its main graph. Their reader
    checks each of these just before it reads it, which saves a walk.

    Attributes:
        main: the checker of nodes of the main graph.

    Raises:
        ModelError: it is not well formed.
        TypeError: a text is not UTF-8.
    """

    def __init__(self, proto: onnx.ModelProto) -> None:
        if has_odd_text(proto, _LARGE):
            raise ModelError(str(first_odd_text(proto)))
        self._ir_version = proto.ir_version
        self._calls = Calls(proto.functions)
        self._has_functions = bool(proto.functions)
        self._types = Types()
        self._forms: dict[Imports, Forms] = {}
        name = proto.graph.name
        forms = self._forms_of(imports_of(proto.opset_import), f"model '{name}'")
        self.main = GraphChecker(forms, self._calls, self._types, Place(name))
        self.main.check_frame(proto.graph, self.main.place)
        for info in proto.training_info:
            for graph in (info.initialization, info.algorithm):
                self.main.check(graph, Place(graph.name))

    def of_function(self, function: onnx.FunctionProto, imports: Imports) -> GraphChecker:
        """Check a function and return the checker of its nodes. Errors as the constructor."""
        domain, name = function.domain, function.name
        forms = self._forms.get(imports)
        if forms is None:
            "".join([domain for domain, *_ in imports])
            forms = self._forms_of(imports, f"function '{domain}::{name}'")
            self._forms[imports] = forms
        root = key_of(domain, name, function.overload)
        checker = GraphChecker(forms, self._calls, self._types, Place(name, domain), root)
        checker.check_function(function)
        return checker

    def _forms_of(self, imports: Imports, where: str) -> Forms:
        # Below IR version 3 there are no imports: all is opset 1.
        version = 1 if self._ir_version < 3 else 0
        for domain, imported, _ in imports:
            if domain in ("", "ai.onnx"):
                version = imported
                if not 1 <= version <= _NEWEST:
                    raise ModelError(
                        f"{where} imports opset {version}; known are 1 to {_NEWEST}"
                        " (a newer onnx package may know it)"
                    )
            elif not -_MANY <= imported <= _MANY:
                raise ModelError(f"{where} imports version {imported} of domain '{domain}'")
        return Forms(version) if self._has_functions else forms_of(version)

    def finish(self) -> None:
        """Check calls, after all functions. Errors as the constructor."""
        self._calls.check()
