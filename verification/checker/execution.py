"""Symbolic execution of a model by definition: each node becomes an application to terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx

from ...ir import Array, Tensor
from .inference import Facts
from .meaning import head_of, schema_of
from .terms import ABSENT, UNKNOWN, CertificateError, Head, Terms

_DRAWS = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"}
_DRAWS |= {"RandomUniform", "RandomUniformLike"}
_KNOWN = ("", "ai.onnx.ml")
"""Domains that ONNX defines."""
MOST_DEPTH = 40
"""Limit of nested bodies."""


Guards = tuple[int, ...]
"""Numbers of the bodies around a node, outermost first."""


class Application(NamedTuple):
    """Node that ran: its first output, and the bodies that it is in."""

    term: int
    guards: Guards
    node: onnx.NodeProto


class _Scope(dict[str, int]):
    """Terms of a graph by name; those of the graph around it are visible."""

    around: _Scope | None = None

    def __missing__(self, name: str) -> int:
        if not name:
            return ABSENT
        if self.around is None:
            raise CertificateError(f"'{name}' is not defined before it is used")
        return self.around[name]


class Execution:
    """Execution of one model.

    Attributes:
        log: its nodes in the order in which they ran.
        bodies: term and name for each body: the body runs as often in all models that have it
            under this term. That is the condition of an If, and a Loop or Scan as a whole.
    """

    def __init__(
        self, terms: Terms, model: onnx.ModelProto, facts: Facts, folder: Path | None
    ) -> None:
        self.log: list[Application] = []
        self.bodies: list[tuple[int, str]] = []
        self._terms = terms
        self._graph = model.graph
        self._functions = {(_domain(f.domain), f.name, f.overload): f for f in model.functions}
        self._facts = facts
        self._folder = folder
        self._imports = {_domain(e.domain): e.version for e in model.opset_import}
        self._guards: Guards = ()
        self._trips: tuple[int, ...] = ()
        self._drawn: dict[Head, int] = {}
        self._parameters: dict[str, onnx.AttributeProto] = {}
        self._depth = 0

    def run(self, values: Mapping[str, int]) -> list[int]:
        """Terms of the outputs, from those of the inputs by name."""
        scope = _Scope(values)
        self._initializers(self._graph, scope)
        self._nodes(self._graph.node, scope, self._facts)
        return [scope[info.name] for info in self._graph.output]

    def _initializers(self, graph: onnx.GraphProto, scope: _Scope) -> None:
        if graph.sparse_initializer:
            raise CertificateError("the checker reads no sparse initializers")
        for tensor in graph.initializer:
            if tensor.name not in scope:
                scope[tensor.name] = self._terms.constant(Tensor(tensor, base_dir=self._folder))

    def _nodes(self, nodes: Sequence[onnx.NodeProto], scope: _Scope, facts: Facts) -> None:
        for position, node in enumerate(nodes):
            results = self._node(node, position, scope, facts)
            for name, term in zip(node.output, results, strict=True):
                if name and name in scope:
                    raise CertificateError(f"'{name}' is defined twice")
                if name:
                    scope[name] = term

    def _node(
        self, node: onnx.NodeProto, position: int, scope: _Scope, facts: Facts
    ) -> Sequence[int]:
        args = tuple([scope[name] for name in node.input])
        attributes = self._attributes(node)
        function = self._functions.get((_domain(node.domain), node.op_type, node.overload))
        if function is not None:
            return self._call(function, attributes, args)[: len(node.output)]
        if node.op_type == "Constant" and not _domain(node.domain):
            return [self._terms.constant(_constant(attributes, self._folder))]
        head = self._head(node, attributes)
        bodies = {message.name: message.g for message in attributes if message.HasField("g")}
        own, condition = [], args[:1]
        for name in sorted(bodies):
            own.append(len(self.bodies))
            inner = facts.body(position, name)
            head, args = self._body(head, args, (name, bodies[name]), scope, inner)
        if self._draws(head, args, has_body=bool(bodies)):
            number = self._drawn[head] = self._drawn.get(head, 0) + 1
            mark = f"{number} in {len(self._trips)}"
            head = head._replace(name=f"drawn {head.name}", key=mark)
            args = (*args, ABSENT, *self._trips)
        results = [
            self._terms.add(head, args, facts[name] if name else UNKNOWN, output)
            for output, name in enumerate(node.output)
        ]
        for number, name in zip(own, sorted(bodies), strict=True):
            around = condition[0] if node.op_type == "If" else results[0]
            self.bodies[number] = around, name
        self.log.append(Application(results[0], self._guards, node))
        return results

    def _head(self, node: onnx.NodeProto, attributes: Sequence[onnx.AttributeProto]) -> Head:
        """Head of an operator that its opset has, with these attributes."""
        domain = _domain(node.domain)
        version = self._imports.get(domain)
        if node.op_type == "BitCast" and not domain:
            raise CertificateError("the checker compares no bits of a NaN, which BitCast reads")
        if version is None:
            raise CertificateError(f"domain '{domain}' is not imported")
        schema = schema_of(node.op_type, version, domain)
        names = {message.name for message in attributes}
        lacks = schema is None or schema.deprecated or not names <= {*schema.attributes}
        if lacks and (schema is not None or domain in _KNOWN):
            raise CertificateError(f"opset {version} has no such {node.op_type}")
        width = max([at + 1 for at, name in enumerate(node.output) if name], default=0)
        plain = [message for message in attributes if not message.HasField("g")]
        pairs = [(each.name, each.SerializeToString(deterministic=True)) for each in plain]
        return head_of(node.op_type, domain, version, tuple(sorted(pairs)), width)

    def _attributes(self, node: onnx.NodeProto) -> list[onnx.AttributeProto]:
        """Attributes of a node, those of the call in place of references to them."""
        attributes = []
        for message in node.attribute:
            value = self._parameters.get(message.ref_attr_name, message)
            if message.graphs:
                raise CertificateError(f"the checker reads no list of graphs: '{message.name}'")
            if value is not message or not message.ref_attr_name:
                bare = onnx.AttributeProto.FromString(value.SerializeToString())
                bare.name = message.name
                bare.ClearField("doc_string")
                attributes.append(bare)
        return attributes

    def _call(
        self,
        function: onnx.FunctionProto,
        attributes: Sequence[onnx.AttributeProto],
        args: tuple[int, ...],
    ) -> list[int]:
        """Outputs of a function, run by its definition."""
        self._depth += 1
        if self._depth > MOST_DEPTH or len(args) > len(function.input):
            raise CertificateError(f"the call of '{function.name}' is not one")
        outer = self._imports, self._parameters
        self._imports = {_domain(e.domain): e.version for e in function.opset_import}
        self._parameters = {a.name: a for a in (*function.attribute_proto, *attributes)}
        scope = _Scope(zip(function.input, [*args, *[ABSENT] * len(function.input)], strict=False))
        self._nodes(function.node, scope, Facts())
        self._imports, self._parameters = outer
        self._depth -= 1
        return [scope[name] for name in function.output]

    def _draws(self, head: Head, args: tuple[int, ...], *, has_body: bool) -> bool:
        """Test whether an operator may have other outputs for equal inputs. Those of domains that
        ONNX does not define may."""
        if head.name == "Dropout" and head.version >= 12 and len(args) > 2 and args[2] != ABSENT:
            mode = self._terms.tensor(args[2])
            return mode is None or bool(mode.numpy().any())
        custom = "::" in head.name and not head.name.startswith("ai.onnx.ml::")
        return not has_body and (head.name in _DRAWS or custom)

    def _body(
        self,
        head: Head,
        args: tuple[int, ...],
        body: tuple[str, onnx.GraphProto],
        scope: _Scope,
        facts: Facts,
    ) -> tuple[Head, tuple[int, ...]]:
        """Head and arguments of an operator with the outputs of a body among the arguments. A body
        is a function: its outputs for any values of variables that equal bodies share."""
        (name, graph), level = body, len(self._guards)
        names = {info.name for info in graph.input}
        if level >= MOST_DEPTH or any(tensor.name in names for tensor in graph.initializer):
            raise CertificateError(f"body '{name}' is nested too deeply, or has defaults of inputs")
        inner = _Scope()
        inner.around = scope
        variables = []
        for index, info in enumerate(graph.input):
            fact = facts[info.name]
            kind = f"{level}.{index} {fact.text()}"
            if info.type.WhichOneof("value") not in (None, "tensor_type"):
                kind += f" {info.type}"
            variables.append(self._terms.add(Head("variable", key=kind), fact=fact))
            inner[info.name] = variables[-1]
        self._initializers(graph, inner)
        guards, trips = self._guards, self._trips
        self._guards = (*guards, len(self.bodies))
        self.bodies.append((ABSENT, name))
        self._trips = (*trips, self._terms.add(Head("variable", key=f"{level} iteration")))
        self._nodes(graph.node, inner, facts)
        outputs = [inner[info.name] for info in graph.output]
        declared = zip([*graph.input, *graph.output], [*variables, *outputs], strict=True)
        for info, term in declared:
            self._declared(info, term)
        self._guards, self._trips = guards, trips
        mark = name, len(variables), len(args), len(outputs)
        return head._replace(key=(*(head.key or ()), mark)), (*args, *outputs)

    def _declared(self, info: onnx.ValueInfoProto, term: int) -> None:
        """Log the sizes that a body declares for a value: a runtime may require them."""
        sizes = [d.dim_value for d in info.type.tensor_type.shape.dim if d.HasField("dim_value")]
        if sizes:
            declared = self._terms.add(Head("declared", key=str(info.type)), (term,))
            self.log.append(Application(declared, self._guards, onnx.NodeProto(op_type="Body")))


def _constant(attributes: Sequence[onnx.AttributeProto], folder: Path | None) -> Tensor | Array:
    (message,) = attributes
    value = onnx.helper.get_attribute_value(message)
    if message.name == "value":
        return Tensor(value, base_dir=folder)
    if message.name in ("value_int", "value_ints"):
        return np.array(value, np.int64)
    if message.name in ("value_float", "value_floats"):
        return np.array(value, np.float32)
    raise CertificateError(f"the checker reads no constant by '{message.name}'")


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name
