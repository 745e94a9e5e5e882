"""Checks of messages: the frame of a model, its graphs and their nodes at every depth."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from types import MappingProxyType

import onnx

from ..attributes import check_value, graphs_in, has_value_to_check, kind_of
from ..errors import ModelError
from ..io.protobuf.message_headers import Imports, imports_of
from ..message_contents import Types, check_sparse, check_tensor, first_odd_text, has_odd_text
from ..places import FunctionKey, NodeLabel, Place, key_of
from .calls import Calls
from .scans import check_scan
from .schemas import Forms, Kinds, forms_of

_DEEPEST = 100
"""The limit of nesting; protobuf's readers accept some 30 levels."""

_FEW = 8
"""The most names that a list searches as fast as a set."""

_MOST_FORMS = 1 << 12
"""The limit of forms that are kept beyond a model."""

Row = tuple[onnx.NodeProto, str, bool, list[str], list[str]]
"""Node, its operator, whether it has no attribute and no domain, and the names of its inputs and
outputs: what takes long to read from a message."""

_NO_KINDS: Kinds = MappingProxyType({})
_LARGE = ("graph", "functions", "training_info")
_LARGEST = 2**31 - 1
"""The largest version of a domain."""
_NEWEST = onnx.defs.onnx_opset_version()
_MANY = ("node", "input", "output", "initializer", "sparse_initializer", "value_info")


def rows_of(nodes: Iterable[onnx.NodeProto]) -> list[Row]:
    """Read nodes; one slice of a message is faster than a loop."""
    return [
        (node, node.op_type, not (node.attribute or node.domain), node.input[:], node.output[:])
        for node in nodes
    ]


class GraphChecker:
    """Checker of the graphs of the model itself or of one function.

    Args:
        calls: collects calls of the model's functions.
        place: the outermost graph.
        root: the function of the graphs; None for the model.
    """

    def __init__(
        self,
        forms: Forms,
        calls: Calls,
        types: Types,
        place: Place,
        root: FunctionKey | None = None,
    ) -> None:
        self.forms = forms
        self.calls = calls
        self.types = types
        self.place = place
        self.root = root
        self.parameters: Collection[str] = ()

    def check(self, graph: onnx.GraphProto, place: Place) -> None:
        """Check a graph.

        Raises:
            ModelError: it is not well formed.
            TypeError: a text is not UTF-8.
        """
        self.check_frame(graph, place)
        # A branch may read an input of the function that only some calls have.
        parameters, self.parameters = self.parameters, ()
        self.check_nodes(graph.node, place)
        self.parameters = parameters

    def check_frame(self, graph: onnx.GraphProto, place: Place) -> None:
        """Check a graph without its nodes; errors as `check`."""
        if place.depth > _DEEPEST:
            raise ModelError(f"{place.graph} is nested more than {_DEEPEST} deep")
        if has_odd_text(graph, _MANY):
            raise TypeError
        # Protobuf returns text that is not UTF-8 as bytes, for which `join` raises TypeError.
        "".join([info.name for info in (*graph.input, *graph.output)])
        for infos in (graph.input, graph.output, graph.value_info):
            self._check_infos(infos, place)
        names = []
        for tensor in graph.initializer:
            names.append(name := tensor.name)
            check_tensor(tensor, "initializer '{}'", name)
        "".join(names)
        for sparse in graph.sparse_initializer:
            "".join((sparse.values.name,))
            check_sparse(sparse, "sparse initializer '{}'", sparse.values.name)

    def check_function(self, function: onnx.FunctionProto) -> None:
        """Check a function without its nodes; errors as `check`."""
        inputs = function.input[:]
        header = (function.name, function.domain, function.overload, function.doc_string)
        "".join((*header, *inputs, *function.output, *function.attribute))
        for message in (*function.attribute_proto, *function.metadata_props):
            if has_odd_text(message):
                raise TypeError
        if not function.name:
            raise ModelError(f"a function of domain '{function.domain}' has no name")
        self.parameters = inputs if len(inputs) <= _FEW else frozenset(inputs)
        self._check_infos(function.value_info, self.place)

    def close(self) -> None:
        """Finish a function after its nodes; errors as `check`."""
        if self.root is not None:
            self.calls.close(self.root)

    def _check_infos(self, infos: Iterable[onnx.ValueInfoProto], place: Place) -> None:
        valid = self.types.valid
        for info in infos:
            # A model repeats few types; hashing their bytes costs less than checking each.
            if info.type.SerializeToString() not in valid:
                self.types.check(info.type, f"'{info.name}' of {place.graph}")

    def check_nodes(self, nodes: Iterable[onnx.NodeProto], place: Place | None = None) -> None:
        """Check the nodes of a graph with their names; errors as `check`."""
        self.check_rows(rows_of(nodes), place)

    def check_rows(self, rows: Iterable[Row], place: Place | None = None) -> None:
        """Check nodes that have been read; errors as `check`."""
        place = place or self.place
        # Inputs need no check: a defined name is that of some output.
        texts: list[str] = []
        # In a function each node adds to what callers must pass, so none is skipped.
        valid = () if self.root is not None else self.forms.valid
        for node, op_type, is_bare, inputs, outputs in rows:
            texts += outputs
            texts.append(node.name)
            is_known = is_bare and (op_type, "", len(inputs), len(outputs)) in valid
            if is_known and "" not in inputs and "" not in outputs:
                continue
            self.check_node(node, inputs, outputs, place)
        "".join(texts)

    def check_node(
        self,
        node: onnx.NodeProto,
        inputs: Sequence[str],
        outputs: Sequence[str],
        place: Place | None = None,
    ) -> None:
        """Check a node with its bodies; errors as `check`. The caller checks that the names of the
        node and its outputs are text."""
        place = place or self.place
        if self.root is not None:  # each adds to the needs of its function
            self._decides(node, inputs, outputs, place)
            return
        key: tuple[object, ...] = (node.op_type, node.domain, len(inputs), len(outputs))
        attributes = node.attribute
        # Names, kinds and numbers decide, except for values of attributes; models repeat few forms.
        if attributes:
            key += tuple([(a.name, a.type, a.ref_attr_name) for a in attributes])
        if "" in inputs or "" in outputs:
            key += (*map(bool, inputs), *map(bool, outputs))
        forms = self.forms
        if key in forms.valued:
            self._check_values(node, attributes, place)
        elif key not in forms.valid and self._decides(node, inputs, outputs, place):
            own = node.domain in ("", "ai.onnx")
            has_values = own and any(has_value_to_check(a.name, a.type) for a in attributes)
            passed = forms.valued if has_values else forms.valid
            if len(passed) >= _MOST_FORMS:  # names of attributes are without number
                passed.clear()
            passed.add(key)

    def _decides(
        self, node: onnx.NodeProto, inputs: Sequence[str], outputs: Sequence[str], place: Place
    ) -> bool:
        """Check a node; return true if all nodes of its form pass but for values of attributes."""
        op_type, domain, overload = node.op_type, node.domain, node.overload
        "".join((op_type, domain, overload, *inputs))
        if not op_type:
            raise ModelError(f"{place.graph} holds a node without an operator: {place.node(node)}")
        attributes = node.attribute[:]
        kinds = self._kinds(attributes) if attributes else _NO_KINDS
        if self.root is None:
            _check_no_reference(attributes, place, node)
        is_call = key_of(domain, op_type, overload) in self.calls
        # A function of the model hides ONNX's operator of the same name.
        own = domain in ("", "ai.onnx") and not is_call
        if is_call:
            self.calls.note(self.root, node, kinds, place, self.parameters)
        elif own:
            self._check_own(node, inputs, outputs, kinds, place)
        graphs = [graph for attribute in attributes for graph in graphs_in(attribute)]
        for graph in graphs:
            self.check(graph, place.inside(node, graph.name))
        # The content decides the kind of an attribute without a type, and the key lacks it.
        untyped = any(not attribute.type for attribute in attributes)
        return not (is_call or graphs or untyped)

    def _kinds(self, attributes: Iterable[onnx.AttributeProto]) -> Kinds:
        kinds = {}
        for attribute in attributes:
            "".join((attribute.name, attribute.ref_attr_name))
            kinds[attribute.name] = kind_of(attribute)
        return kinds

    def _check_own(
        self,
        node: onnx.NodeProto,
        inputs: Sequence[str],
        outputs: Sequence[str],
        kinds: Kinds,
        place: Place,
    ) -> None:
        """Check a node of one of ONNX's own operators."""
        if not self.forms.version:
            raise ModelError(
                f"{self._where} uses ONNX's own operators but imports no opset for them"
            )
        form = self.forms.of(node.op_type, place, node)
        if form is not None:
            form.check(place, node, inputs, outputs, kinds)
            if self.root is not None:
                self.calls.need(self.root, node, form, place, self.parameters)
        if kinds:
            self._check_values(node, node.attribute, place)
        if node.op_type == "Scan":
            check_scan(node, place.node(node), self.forms.version)

    def _check_values(
        self, node: onnx.NodeProto, attributes: Iterable[onnx.AttributeProto], place: Place
    ) -> None:
        for attribute in attributes:
            kind = kind_of(attribute)
            if has_value_to_check(attribute.name, kind):
                check_value(attribute, kind, NodeLabel(place, node), self.types)

    @property
    def _where(self) -> str:
        """The model or function that imports opsets, as errors name it."""
        if self.root is None:
            return f"model '{self.place.name}'"
        return f"function '{self.place.domain}::{self.place.name}'"


def _check_no_reference(
    attributes: Iterable[onnx.AttributeProto], place: Place, node: onnx.NodeProto
) -> None:
    """Check that no attribute of a node outside functions refers to one of a function.

    Raises:
        ModelError: an attribute does.
    """
    for attribute in attributes:
        if attribute.ref_attr_name:
            raise ModelError(
                f"{place.node(node)} takes its attribute '{attribute.name}' from"
                f" '{attribute.ref_attr_name}' of a function, but it is not inside a function"
            )


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
            elif not -_LARGEST <= imported <= _LARGEST:
                raise ModelError(f"{where} imports version {imported} of domain '{domain}'")
        # A function may hide an operator, so other models must not share these forms.
        return Forms(version) if self._has_functions else forms_of(version)

    def finish(self) -> None:
        """Check calls, after all functions. Errors as the constructor."""
        self._calls.check()
