"""Two models as terms, by definition: each node becomes an application to terms."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx

from ...ir import Array, Operator, Tensor, constant_tensor, normal_domain
from ...ir.checker import check_well_formed
from ...ir.onnx_errors import OnnxError, one_line
from ...reference.bound_inputs import bound_conditions
from ...reference.refused_nodes import infer_strictly, inference_query
from .inference import common, fact_of, fact_of_output, refine
from .meaning import BRANCHES, head_of, schema_of
from .polynomials import Dim
from .rows import apply, integers
from .scans import moved_axis, rows_of_list, truth, turned
from .sizes import sizes_in
from .spelling import spelled
from .terms import ABSENT, Args, CertificateError, Define, Fact, Head, Terms, is_own, require_unique

_INT64, _BOOL = onnx.TensorProto.INT64, onnx.TensorProto.BOOL
_VARIADIC = onnx.defs.OpSchema.FormalParameterOption.Variadic
_DRAWS = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"}
_DRAWS |= {"RandomUniform", "RandomUniformLike"}
# Domains that ONNX defines.
_KNOWN = ("", "ai.onnx.ml")
# Limits of nested bodies, and of runs of a body.
MOST_DEPTH, _ROUNDS = 40, 3
_LAYOUT = ("axes", "directions")
# Value without a name, as the first inputs and output that a Scan lacks and a Loop has.
_UNNAMED = onnx.ValueInfoProto()

# Numbers of the bodies around a node, outermost first.
Guards = tuple[int, ...]


class Application(NamedTuple):
    """Node that ran: its first output, and the bodies that it is in."""

    term: int
    guards: Guards
    node: onnx.NodeProto


class Declaration(NamedTuple):
    """Type that a model declares for a value, and the bodies that it is in."""

    term: int
    guards: Guards
    name: str
    type_: onnx.TypeProto


class Body(NamedTuple):
    """Body of a node, with the operands, and tensors whose rows iterations read."""

    name: str
    graph: onnx.GraphProto
    op_type: str
    operands: Args
    rows: Args = ()

    def infos(self) -> tuple[list[onnx.ValueInfoProto], list[onnx.ValueInfoProto]]:
        """Inputs and outputs, those of a Loop for a body that reads rows."""
        more = [_UNNAMED] * bool(self.rows)
        return [*more, *more, *self.graph.input], [*more, *self.graph.output]

    def fact(self, terms: Terms, head: Head, index: int) -> Fact:
        """Fact of an input in the first iteration, without sizes that no input names."""
        # Nobody specified when a body of another domain runs, or with what.
        if head.name != "Loop" or index >= max(len(self.operands), 2):
            return Fact()
        if index < 2:  # runtimes make a vector where one is declared
            operand = (*self.operands, ABSENT, ABSENT)[1] if index else ABSENT
            is_scalar = not fact_of(self.infos()[0][index].type).shape
            is_scalar &= operand == ABSENT or terms.fact(operand).shape == ()
            return Fact((_INT64, _BOOL)[index], () if is_scalar else None)
        return terms.outside(terms.fact(self.operands[index]))

    def places(self, head: Head) -> list[tuple[int, int]]:
        """Inputs and outputs of a body that are states."""
        if head.name != "Loop":
            return []
        inputs, outputs = self.infos()
        most = min(max(len(self.operands), 2), len(inputs) - len(self.rows), len(outputs) + 1)
        return [(k, k - 1) for k in range(1, most)]

    def iterates(self, terms: Terms, head: Head) -> bool:
        """Test for an iteration that certainly runs."""
        limit, condition = (*self.operands, ABSENT, ABSENT)[:2]
        counts = sizes_in(terms, limit) or (None,)
        is_true = condition == ABSENT or bool(truth(terms, condition))
        is_true &= limit == ABSENT or all(type(n) is int and n > 0 for n in counts)
        return head.name == "Loop" and is_true


_Ran = tuple[Body, Sequence[int]]
_Messages = Sequence[onnx.AttributeProto]


class _Scope(dict[str, int]):
    """Terms of a graph by name; those of the graph around it are visible."""

    around: "_Scope | None" = None

    def __init__(self, values: Mapping[str, int] | Iterable[tuple[str, int]] = ()) -> None:
        super().__init__(values)
        self._captured: set[str] = set()

    def __missing__(self, name: str) -> int:
        if not name:
            return ABSENT
        if self.around is None:
            raise CertificateError(f"'{name}' is not defined before it is used")
        self._captured.add(name)
        return self.around[name]

    def define(self, name: str, term: int) -> None:
        """Name a term. A name that was captured before would be read differently by runtimes."""
        if name in self or name in self._captured:
            raise CertificateError(f"'{name}' is defined twice")
        if name:
            self[name] = term


class Execution:
    """Execution of one model. A body is a name under the condition of an If, or under a loop."""

    def __init__(
        self, terms: Terms, model: onnx.ModelProto, folder: Path | None, *, is_original: bool | None
    ) -> None:
        self.log, self.outputs, self.assumed = list[Application](), dict[str, int](), set[str]()
        self.declared: list[Declaration] = []
        self.inferred: list[tuple[Body, Head, int]] = []
        self.bodies: list[tuple[int, str]] = []
        self._terms, self._is_original, self._depth = terms, is_original, 0
        self.level = 0
        self._graph, self._folder = model.graph, folder
        keys = [(normal_domain(f.domain), f.name, f.overload) for f in model.functions]
        self._functions = dict(zip(keys, model.functions, strict=True))
        require_unique(keys, "functions")
        for domain, name, _ in self._functions:
            # A certificate for one meaning of Relu must not be read as one for ONNX's.
            if domain in _KNOWN and onnx.defs.has(name, domain):
                raise CertificateError(f"a function redefines {name}")
        self._imports = _imports(model.opset_import)
        self._guards: Guards = ()
        self._iterations: tuple[int, ...] = ()
        self._drawn: dict[Head, int] = {}
        self._parameters: dict[str, onnx.AttributeProto] = {}

    def run(self, values: Mapping[str, int]) -> list[int]:
        """Terms of the outputs, from those of the inputs by name."""
        scope = _Scope(values)
        self._initializers(self._graph, scope)
        self._nodes(self._graph.node, scope)
        self._declare(self._graph, scope)
        return [scope[info.name] for info in self._graph.output]

    def _declare(self, graph: onnx.GraphProto | onnx.FunctionProto, scope: _Scope) -> None:
        """Record the types that a graph declares for its values."""
        infos = list(graph.value_info)
        if isinstance(graph, onnx.GraphProto):
            infos += [*graph.input, *graph.output]
        for name, type_ in [(info.name, info.type) for info in infos]:
            if name in scope and type_.WhichOneof("value") is not None:
                self.declared.append(Declaration(scope[name], self._guards, name, type_))

    def _initializers(self, graph: onnx.GraphProto, scope: _Scope) -> None:
        if graph.sparse_initializer:
            raise CertificateError("the checker does not support sparse initializers")
        require_unique([tensor.name for tensor in graph.initializer], "initializers")
        for tensor in graph.initializer:
            # An initializer with the name of an input is a default, which the caller may override.
            if tensor.name not in scope:
                scope[tensor.name] = self._constant(Tensor(tensor, base_dir=self._folder))

    def _constant(self, content: Tensor | Array) -> int:
        """Term of a constant. Over the reals one that the rewrite alone holds may be rounded."""
        return self._terms.constant(content, is_free=self._is_original is False)

    def _nodes(self, nodes: Sequence[onnx.NodeProto], scope: _Scope) -> None:
        for node in nodes:
            for name, term in zip(node.output, self._node(node, scope), strict=True):
                scope.define(name, term)

    def _node(self, node: onnx.NodeProto, scope: _Scope) -> Sequence[int]:
        args, attributes = tuple([scope[name] for name in node.input]), self._attributes(node)
        function = self._functions.get((normal_domain(node.domain), node.op_type, node.overload))
        if function is not None:
            return self._call(function, attributes, args)[: len(node.output)]
        domain = normal_domain(node.domain)
        results = self.opened(node, attributes, args) if domain in self._imports else None
        if results is not None:
            self.assumed.add(f"{domain and domain + '::'}{node.op_type} computes its definition")
            return [*results, *[ABSENT] * len(node.output)][: len(node.output)]
        if node.op_type == "Constant" and not domain:
            operator = Operator("Constant", {message.name: message for message in attributes})
            if (tensor := constant_tensor(operator, self._folder)) is None:
                raise CertificateError("the checker does not support a constant of this attribute")
            return [self._constant(tensor)]
        head = scan = self._head(node, attributes)
        bodies = {message.name: message.g for message in attributes if message.HasField("g")}
        own, operands, ran = [], args, list[_Ran]()
        # By name: the order of attributes in a file has no meaning, and numbers of terms depend on
        # it.
        for name in sorted(bodies):
            own.append(len(self.bodies))
            if head.name == "If" and bodies[name].input:
                raise CertificateError(f"the branch '{name}' of an If has inputs")
            label = name if head.name == "If" else f"{head.name} {name}"  # a branch is of an If
            head, inner = self._as_loop(head, Body(label, bodies[name], node.op_type, operands))
            args = inner.operands if inner.rows else args
            head, args = self._body(head, args, inner, scope)
            ran.append((inner, args[len(args) - len(inner.infos()[1]) :]))
        head, args = (head, args) if bodies else spelled(self._terms, head, args)
        facts = [self._fact(head, args, ran, k) for k, _ in enumerate(node.output)]
        # Stacked are rows of one size; elements of a list may differ.
        if node.op_type == "SequenceMap" and any(None in (f.shape or (None,)) for f in facts):
            head, facts = head._replace(name=node.op_type), [Fact()] * len(facts)
        # The n-th draw of an operator is one of both models: equal numbers are claimed for it
        # alone.
        if self._draws(head, args, has_body=bool(bodies)):
            number = self._drawn[head] = self._drawn.get(head, 0) + 1
            mark = f"{number} in {len(self._iterations)}"
            head = head._replace(name=f"drawn {head.name}", key=mark)
            args = (*args, ABSENT, *self._iterations)
        results = [self._terms.add(head, args, fact, k) for k, fact in enumerate(facts)]
        for number in own:
            around = operands[0] if head.name == "If" else results[0]
            self.bodies[number] = around, self.bodies[number][1]
        self.log.append(Application(results[0], self._guards, node))
        if self._is_original and not self._guards:  # these tensors exist
            shapes = [self._terms.fact(result).shape or () for result in results]
            self._terms.known |= {n for sizes in shapes for n in sizes if isinstance(n, tuple)}
            self._join_states(head, args)
        is_turned = head.name == "Loop" != node.op_type
        return self._turned(scan, ran[0][0], results) if is_turned else results

    def _as_loop(self, head: Head, body: Body) -> tuple[Head, Body]:
        """Take a Scan as the Loop that reads rows of its inputs; a SequenceMap is one of lists."""
        terms, operands = self._terms, body.operands
        if head.name != "SequenceMap" and (head.name != "Scan" or head.version < 9):
            return head, body  # Scan 8 has another batch of rows
        count = len(operands) - head.integer("num_scan_inputs", len(operands))
        inputs = operands[count:]
        if head.name == "SequenceMap":
            lists = [rows_of_list(terms, each) or (ABSENT, ABSENT) for each in inputs]
            is_all = all(any(terms.operators(start, "SequenceEmpty")) for start, _ in lists)
            inputs = tuple([each for _, each in lists]) if is_all else ()
        zeros = [0] * len(inputs)
        axes, flags = ([*(head.integers(f"scan_input_{n}") or []), *zeros] for n in _LAYOUT)
        shapes = [terms.fact(each).shape or () for each in inputs]
        layout = [*zip(inputs, shapes, axes, flags, strict=False)]
        sizes = {s[k] if -len(s) <= k < len(s) else None for _, s, k, _ in layout}
        # Scan inputs of different lengths fail at run time.
        if len(sizes) != 1 or None in sizes:
            return head, body
        moved = [(moved_axis(terms, x, k % len(s), 0), is_back) for x, s, k, is_back in layout]
        rows = [turned(terms, *each) for each in moved]
        size = apply(terms, "Gather", apply(terms, "Shape", rows[0]), integers(terms, 0))
        operands = size, terms.constant(np.array(True)), *operands[:count]
        head = head_of("Loop", "", 11, (), head.outputs)
        return head, body._replace(name="Loop body", operands=operands, rows=tuple(rows))

    def _turned(self, scan: Head, body: Body, results: list[int]) -> list[int]:
        """Outputs of a Scan, of which rows are along another axis, or backwards; or of a list."""
        terms, count = self._terms, len(body.operands) - 2
        zeros, is_list = [0] * len(results), scan.name == "SequenceMap"
        axes, flags = ([*(scan.integers(f"scan_output_{n}") or []), *zeros] for n in _LAYOUT)
        for k, axis, is_back in zip(range(count, len(results)), axes, flags, strict=False):
            rank, term = len(terms.fact(results[k]).shape or ()), turned(terms, results[k], is_back)
            if axis and not -rank <= axis < rank:  # nothing is known of it
                term = terms.add(Head("rows", key=axis), (term,))
            term = moved_axis(terms, term, 0, axis % max(rank, 1))
            results[k] = apply(terms, "SplitToSequence", term, keepdims=0) if is_list else term
        return results

    def _join_states(self, head: Head, args: tuple[int, ...]) -> None:
        """Join the columns of states and of the input of an operator that ran."""
        is_plain = head.name in ("GRU", "LSTM", "RNN") and not head.integer("layout")
        shapes = [self._terms.fact(arg).shape or () for arg in (args[:1] + args[5:7])]
        for state in shapes[1:] if is_plain else ():
            if len(state) == len(shapes[0]) == 3:
                self._terms.join(state[1], shapes[0][1])

    def _fact(self, head: Head, args: Args, ran: Sequence[_Ran], output: int) -> Fact:
        """Fact of an output. The sizes of states and scan outputs may differ by iteration."""
        if not ran:
            has_twin = self._terms.has(head, args, output)  # whose fact is known
            return Fact() if has_twin else fact_of_output(self._terms, head, args, output)
        first = 1 if head.name == "Loop" else 0
        is_odd = any(first + output >= len(each) for _, each in ran)
        if head.name not in ("If", "Loop") or is_odd:
            return Fact()
        facts = [self._terms.fact(each[first + output]) for _, each in ran]
        if head.name == "If":
            return common(facts)
        return self._iterated(head, args, ran[0][0], first + output)

    def _iterated(self, head: Head, args: tuple[int, ...], body: Body, output: int) -> Fact:
        """Fact of a state or of scan outputs, from what all iterations have in common."""
        _, count, first, _, *empty = head.key[-1]
        level, places = self._level(), body.places(head)
        fact = self._terms.outside(self._terms.fact(args[first + count + output]), level)
        for k, number in places:
            if number == output:
                state = self._terms.fact(args[first + k])
                return Fact(fact.elem_type, self._terms.outside(state, level).shape)
        number = output - len(places)
        if fact.shape is None or (empty and empty[number : number + 1] != [fact.shape]):
            return Fact(fact.elem_type)
        (size, *_) = [*[(self._terms.fact(x).shape or ())[0] for x in body.rows], None]
        return Fact(fact.elem_type, (size, *fact.shape))

    def _head(self, node: onnx.NodeProto, attributes: Sequence[onnx.AttributeProto]) -> Head:
        """Head of an operator that its opset has, with these attributes."""
        domain = normal_domain(node.domain)
        version = self._imports.get(domain)
        if node.op_type == "BitCast" and not domain:
            raise CertificateError("the checker cannot compare the bits of a NaN (BitCast)")
        if version is None:
            raise CertificateError(f"domain '{domain}' is not imported")
        schema = schema_of(node.op_type, version, domain)
        names = {message.name for message in attributes}
        lacks = schema is None or schema.deprecated or not names <= {*schema.attributes}
        if lacks and (schema is not None or domain in _KNOWN):
            raise CertificateError(f"opset {version} has no such {node.op_type}")
        values = [a.t for a in attributes if node.op_type == "ConstantOfShape" and a.HasField("t")]
        if any(math.prod(value.dims) != 1 for value in values):
            raise CertificateError("the value of a ConstantOfShape is not one element")
        axes = [n for a in attributes if a.name.endswith("_axes") for n in a.ints]
        if version < 11 and min([0, *axes]) < 0:
            raise CertificateError(f"{node.op_type} has no negative axes before opset 11")
        width = max([at + 1 for at, name in enumerate(node.output) if name], default=0)
        if schema is None or (schema.outputs[-1:] and schema.outputs[-1].option == _VARIADIC):
            width = len(node.output)  # a part without a name is a part
        plain = [message for message in attributes if not message.HasField("g")]
        pairs = [(each.name, each.SerializeToString(deterministic=True)) for each in plain]
        return head_of(node.op_type, domain, version, tuple(sorted(pairs)), width)

    def _attributes(self, node: onnx.NodeProto) -> list[onnx.AttributeProto]:
        """Attributes of a node, those of the call in place of references to them."""
        attributes = []
        for message in node.attribute:
            reference = message.ref_attr_name
            value = self._parameters.get(reference, message) if reference else message
            if message.graphs:
                raise CertificateError(f"the checker cannot read graph lists: '{message.name}'")
            if value is not message or not reference:
                bare = onnx.AttributeProto.FromString(value.SerializeToString())
                bare.name = message.name
                bare.ClearField("doc_string")
                attributes.append(bare)
        return attributes

    def _call(self, function: onnx.FunctionProto, attributes: _Messages, args: Args) -> list[int]:
        """Outputs of a function, run by its definition."""
        self._depth += 1
        if self._depth > MOST_DEPTH or len(args) > len(function.input):
            raise CertificateError(f"the call of '{function.name}' is not one")
        outer = self._imports, self._parameters
        self._imports = _imports(function.opset_import)
        self._parameters = {a.name: a for a in (*function.attribute_proto, *attributes)}
        scope = _Scope(zip(function.input, [*args, *[ABSENT] * len(function.input)], strict=False))
        self._nodes(function.node, scope)
        self._declare(function, scope)
        self._imports, self._parameters = outer
        self._depth -= 1
        return [scope[name] for name in function.output]

    def opened(self, node: onnx.NodeProto, attributes: _Messages, args: Args) -> list[int] | None:
        """Outputs of an operator by the function that defines it, which is data; None without."""
        function = self._terms.define(self._terms, node, attributes, self._imports, args)
        return None if function is None else self._call(function, attributes, args)

    def _draws(self, head: Head, args: tuple[int, ...], *, has_body: bool) -> bool:
        """Test whether an operator may have other outputs for equal inputs, as unknown ones may."""
        if head.name == "Dropout" and head.version >= 12 and len(args) > 2 and args[2] != ABSENT:
            mode = self._terms.tensor(args[2])
            return mode is None or bool(mode.numpy().any())
        custom = "::" in head.name and not head.name.startswith("ai.onnx.ml::")
        return not has_body and (head.name in _DRAWS or custom)

    def _body(self, head: Head, args: Args, body: Body, scope: _Scope) -> tuple[Head, Args]:
        """Head and arguments with the outputs of a body, for any values of its variables."""
        names, deep = {info.name for info in body.graph.input}, len(self._guards) >= MOST_DEPTH
        if deep or any(tensor.name in names for tensor in body.graph.initializer):
            raise CertificateError(f"body '{body.name}' is too deep, or has defaults of inputs")
        count = len(body.infos()[0]) - len(body.rows)
        facts = [body.fact(self._terms, head, index) for index in range(count)]
        logs: list[list[Any]] = [self.log, self.declared, self.inferred, self.bodies]
        lengths, counts, rounds = [*map(len, logs)], dict(self._drawn), _ROUNDS
        places = body.places(head)
        while True:
            # Sizes of nested loops would be searched again in each round of the loops around:
            # exponential in their depth.
            if not rounds or self._level() > 1:  # a body in deep ones runs once
                states = {k for k, _ in places}
                facts = [Fact(f.elem_type) if k in states else f for k, f in enumerate(facts)]
            variables, outputs = self._run(body, scope, facts)
            shared = [*facts]
            for k, output in places:
                shared[k] = _kept(self._terms, facts[k], variables[k], outputs[output])
            if shared == facts:
                break
            # A size that an iteration changes is unknown: once more without it.
            # The attempt is undone: obligations of a round with wrong sizes are no obligations of
            # the model.
            for log, length in zip(logs, lengths, strict=True):
                del log[length:]
            self._drawn, facts, rounds = dict(counts), shared, rounds - 1
        mark: tuple[object, ...] = body.name, len(variables), len(args), len(outputs)
        if body.op_type != "If":
            mark += tuple(self._empty_sizes(head, body, outputs))
        return head._replace(key=(*(head.key or ()), mark)), (*args, *variables, *outputs)

    def _level(self) -> int:
        """Number of loops around."""
        return self.level + sum(self.bodies[k][1] not in BRANCHES for k in self._guards)

    def _run(self, body: Body, scope: _Scope, facts: Sequence[Fact]) -> tuple[list[int], list[int]]:
        """Variables and outputs of a body that runs once."""
        inner, level, variables = _Scope(), self._level(), list[int]()
        inner.around = scope
        inputs, ends = body.infos()
        for index, (info, fact) in enumerate(zip(inputs, facts, strict=False)):
            is_tensor = info.type.WhichOneof("value") in (None, "tensor_type")
            head = Head("variable", key=(level, index, fact, "" if is_tensor else str(info.type)))
            variables.append(self._terms.add(head, fact=fact))
            inner.define(info.name, variables[-1])
        rows = [apply(self._terms, "Gather", each, variables[0]) for each in body.rows]
        for info, row in zip(inputs[len(facts) :], rows, strict=False):
            inner.define(info.name, row)
        self._initializers(body.graph, inner)
        guards, iterations = self._guards, self._iterations
        self._guards = (*guards, len(self.bodies))
        self.bodies.append((ABSENT, body.name))
        head = Head("variable", key=(level, "iteration", len(guards)))
        self._iterations += (self._terms.add(head),)
        self._nodes(body.graph.node, inner)
        true = self._terms.constant(np.array(True)) if rows else ABSENT
        outputs = [inner[info.name] if info.name else true for info in ends]
        # What a body declares counts for an output from around it, too.
        inner.update({info.name: term for info, term in zip(ends, outputs, strict=True)})
        self._declare(body.graph, inner)
        self._guards, self._iterations = guards, iterations
        return variables, outputs

    def _empty_sizes(self, head: Head, body: Body, outputs: Sequence[int]) -> Iterator[object]:
        """Sizes of scan outputs without an iteration: declared ones, or those that are inferred."""
        # Inference finds the same for terms that are equal without a step.
        if body.iterates(self._terms, head):
            return
        count = len(body.operands) - 1 if head.name == "Loop" else 0
        for info, term in list(zip(body.infos()[1], outputs, strict=True))[count:]:
            sizes, own = fact_of(info.type).shape, self._terms.fact(term).shape
            pairs = [*zip(sizes or (), own or (None,) * len(sizes or ()), strict=False)]
            fits = own is None or sizes is None or len(own) == len(sizes)
            is_scan = bool(body.rows) or head.name in ("Scan", "SequenceMap")
            # By ONNX a Scan has the sizes of its rows, and runtimes fail without an iteration.
            if is_scan and fits and all(type(a) is not int or a == b for a, b in pairs):
                yield self._terms.outside(self._terms.fact(term), self._level()).shape or ()
                continue
            same = [type(a) is int and (a == b or type(b) is not int) for a, b in pairs]
            is_known = sizes is not None and all(same) and fits
            self.inferred += [] if is_known else [(body, head, term)]
            numbers = tuple([dim if isinstance(dim, int) else None for dim in sizes or ()])
            yield sizes if is_known else ("inferred", numbers, term)


def _kept(terms: Terms, fact: Fact, variable: int, output: int) -> Fact:
    """Fact of a state without the sizes that an iteration changes."""
    old, new = terms.fact(variable).shape, terms.fact(output).shape
    if fact.shape is None or old is None or new is None or len(old) != len(new):
        return Fact(fact.elem_type)
    rows = zip(fact.shape, old, new, strict=True)
    return Fact(fact.elem_type, tuple([dim if a == b else None for dim, a, b in rows]))


def _imports(entries: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """Opsets by domain, each once."""
    pairs = {(normal_domain(entry.domain), entry.version) for entry in entries}
    require_unique([domain for domain, _ in pairs], "opsets")
    return dict(pairs)


Types = Mapping[str, onnx.TypeProto]
_Facts = dict[str, Fact]
_Protos = tuple[onnx.ModelProto, onnx.ModelProto]
_Paths = Sequence[Path | None]


class Models(NamedTuple):
    """Both models over the same terms, and conditions on their inputs."""

    terms: Terms
    before: Execution
    after: Execution
    assumptions: set[str]


def execute(protos: _Protos, bound: Mapping[str, Array], paths: _Paths, define: Define) -> Models:
    """Execute two models on the same inputs, of which the bound ones have their values."""
    terms, types = Terms(define), [_inputs(proto) for proto in protos]
    facts, assumptions = _compare(types[0], types[1], bound)
    defaults, sides = [], []
    for proto, folder in zip(protos, paths, strict=True):
        check_well_formed(proto)
        require_valid(proto, types[0])
        own = [name for name in types[0] if name in _inputs(proto)]
        values = {n: terms.add(Head("input", key=n), fact=facts[n]) for n in own if n not in bound}
        values |= {name: terms.constant(bound[name]) for name in own if name in bound}
        initial = [t for t in proto.graph.initializer if t.name in values.keys() - bound.keys()]
        defaults.append({t.name: terms.constant(Tensor(t, base_dir=folder)) for t in initial})
        execution = Execution(terms, proto, folder, is_original=proto is protos[0])
        names = [info.name for info in proto.graph.output]
        require_unique(names, "outputs")
        execution.outputs = dict(zip(names, execution.run(values), strict=True))
        sides.append(execution)
        assumptions |= execution.assumed
    for number, state in enumerate(terms.states):
        if state != (terms.merges, len(terms.known)):  # else nothing more is known since then
            refine(terms, number)
    terms.infer = refine
    if [*sides[0].outputs] != [*sides[1].outputs] or defaults[0] != defaults[1]:
        raise CertificateError("the models have different outputs, or defaults of inputs")
    return Models(terms, sides[0], sides[1], assumptions)


def _inputs(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """Types of the inputs that a caller passes, in their order."""
    fixed = {t.name for t in model.graph.initializer} if model.ir_version < 4 else set()
    require_unique([info.name for info in model.graph.input], "inputs")
    return {info.name: info.type for info in model.graph.input if info.name not in fixed}


def _compare(before: Types, after: Types, bound: Mapping[str, Array]) -> tuple[_Facts, set[str]]:
    """Facts of the inputs, and the assumptions under which both models have them."""
    free = [[name for name in side if name not in bound] for side in (before, after)]
    if not bound.keys() <= before.keys() or free[0] != free[1]:
        raise CertificateError("the models have different inputs")
    for name, value in bound.items():
        tensor = Tensor(array=value)
        for type_ in (before[name], after.get(name, before[name])):
            _require_fit(name, fact_of(type_), Fact(tensor.elem_type, tuple(tensor.dims)))
    assumptions, facts = bound_conditions(bound, after), dict[str, Fact]()
    ends = {name: (fact_of(before[name]), fact_of(after[name])) for name in free[1]}
    rows = {name: [*_pairs(name, *pair)] for name, pair in ends.items()}
    classes = dict[object, set[Any]]()
    for pair in [pair for row in rows.values() for pair in row]:
        joined = set().union(*[classes.get(each, {each}) for each in pair])
        classes.update(dict.fromkeys(joined, joined))
    for name, (own, other) in ends.items():
        if 0 in (own.elem_type, other.elem_type) and after[name] != before[name]:
            raise CertificateError(f"input '{name}' has different types")
        _require_fit(name, own, other)
        sizes = [_size(name, classes[size]) for size, _ in rows[name]]
        if any(is_new for _, is_new in sizes) or (own.shape is None and other.shape is not None):
            assumptions.add(f"input '{name}' is {other.text()}, as the rewrite declares it")
        shape = None if own.shape is None and other.shape is None else tuple([n for n, _ in sizes])
        facts[name] = Fact(own.elem_type, shape)
    return facts, assumptions


def _pairs(name: str, own: Fact, other: Fact) -> Iterator[tuple[object, object]]:
    """Sizes of an input by both declarations; unknown and new ones are marked."""
    rank = len(own.shape or other.shape or ())
    pairs = zip(own.shape or (None,) * rank, other.shape or (None,) * rank, strict=False)
    for axis, (one, two) in enumerate(pairs):
        size: object = (name, axis) if one is None or is_own(one) else one
        yield size, size if two is None else (two,) if isinstance(two, str) else two


def _size(name: str, same: set[Any]) -> tuple[Dim, bool]:
    """Size that others are equal to, and whether the original alone does not say so."""
    members = [each for each in same if not isinstance(each, tuple) or len(each) > 1]
    numbers = [each for each in members if isinstance(each, int)]
    names = sorted([each for each in members if isinstance(each, str)])
    if len(numbers) > 1:
        raise CertificateError(f"input '{name}' has different types")
    return (*numbers, *names, None)[0], len(members) > 1


def _require_fit(name: str, fact: Fact, other: Fact) -> None:
    """Require one type, and sizes that may be the same."""
    pairs = [*zip(fact.shape or (), other.shape or (), strict=False)]
    odd = any(isinstance(x, int) and isinstance(y, int) and x != y for x, y in pairs)
    ranks = {len(shape) for shape in (fact.shape, other.shape) if shape is not None}
    if fact.elem_type != other.elem_type or odd or len(ranks) > 1:
        raise CertificateError(f"input '{name}' has different types")


def require_valid(model: onnx.ModelProto, inputs: Mapping[str, onnx.TypeProto]) -> None:
    """Require a model whose types onnx can infer from those of the original's inputs."""
    query = inference_query(model, keeps_inputs=False)  # what bodies declare may be wrong
    for info in query.graph.input:
        if info.name in inputs:
            info.type.CopyFrom(inputs[info.name])
    try:
        infer_strictly(query)
    except OnnxError as error:
        text = f"onnx refuses a node: {one_line(error.__cause__ or error)}"
        raise CertificateError(text) from error
