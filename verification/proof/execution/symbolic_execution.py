"""Symbolic execution: a model run on terms by the reference semantics of each operator."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import onnx

from ....definitions import Expansion, Unfit, definitions_of, expansion_of, is_foreign
from ....definitions.signatures import signature_of
from ....facts.fact import UNKNOWN, Fact, Shape
from ....facts.polynomial import Dimension
from ....ir import Array, Tensor, normal_domain
from ....ops import OperatorRules, rules_of
from ....ops.departures import has_rows
from ....ops.schema_queries import schema_at
from ....records import entry
from ....reference.bodies import label
from ....reference.element_types import ElementTypes
from ....reference.signature import Dim
from ..terms.budget import OpenError
from ..terms.exact_operators import is_exact
from ..terms.op_semantics import FIRST_PLAIN, is_known
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, has_trigger
from .before_opset_7 import lifted
from .compile_graph import ABSENT, Program, Step, compile_function
from .departing_nodes import Departing, assumption_of, departing_bodies
from .node_checker import (
    LEFT_OUT,
    OPTIONAL_READERS,
    Type,
    open_types,
    raise_type_conflict,
    require_valid,
    type_of,
)
from .obligations import (
    AS_DECLARED,
    AS_ORIGINAL,
    HAS_RANK,
    HAS_TYPES,
    IS_ACCEPTED,
    Guards,
    Log,
    Obligation,
    relocate,
)
from .repeated_bodies import RepeatedBody
from .safety import Safety

Construct = Callable[["Execution", "Step", "tuple[Value, ...]", "Frame"], "Sequence[Value]"]

CONSTRUCTS: dict[str, Construct] = {}
"""Executors of operators that are more than functions of tensors, by operator."""

_SIZES = ("Reshape", "Shape", "Size")
"""Operators that tell whether the elements of their operand exist."""
_INSIDE = 3
"""Steps of a node in the body of a loop, where the facts of values change from run to run."""


construct = functools.partial(entry, CONSTRUCTS)
"""Register a function that executes operators."""


BY_DEFINITION = "computes its definition"

Value = Term | None
Frame = list[Value]


class Execution:
    """Symbolic execution of one model.

    Args:
        terms: the terms, common to both models.
        folder: folder of external data.
        element_types: element types of scan outputs by shape inference; None if it is not asked.

    Attributes:
        level: number of loops of unknown trip count around the current node.
        iteration: iteration numbers of those loops: random numbers differ by iteration.
        assumed: values of conditions in the current branch of an If.
        forced: those that nodes of the original force, by the keys of the branches around them.
        drawn: number of random or unknown operators so far.
        folded: operators folded although their bits depend on the kernel.
        departing: nodes of which onnxruntime may depart from the specification.
        guards: conditions and loops around the current node.
        log: nodes that may fail.
        compared: variables of the loops inside an earlier loop with which the innermost loop around
            the current node is compared; None if it is not.
        seen: variables of all loops so far.
        is_untouched: whether a body runs for the facts of its outputs without an iteration.
        growth: numbers that iterations add to states of loops, by node.
        is_partial: whether a run of all nodes may know more of the sizes of values.
        over_reals: whether only real numbers count, so that kernels of operators outside of ONNX
            may round as they like.
        unopened: whether only that kept a node from being executed by its definition.
    """

    def __init__(
        self, terms: Terms, side: str, folder: Any = None, element_types: ElementTypes | None = None
    ) -> None:
        self.terms = terms
        self.element_types = element_types
        self.side = side
        self.folder = folder
        self.level = 0
        self.iteration: tuple[Term, ...] = ()
        self.assumed: dict[Term, bool] = {}
        self.forced: dict[tuple[Hashable, ...], dict[Term, bool]] = {}
        self.drawn = 0
        self.compared: frozenset[str] | None = None
        self.seen: list[str] = []
        self.is_untouched = False
        self.growth: dict[str, dict[int, int]] = {}
        self.folded: set[tuple[Head, Args]] = set()
        self.departing: Departing = {}
        self.guards: Guards = ()
        self.log: Log = []
        self.over_reals = self.unopened = self.is_partial = False
        self._safety = Safety(terms)
        self._definitions: dict[Expansion, Program] = {}
        self._closures: dict[Program, Callable[[Sequence[Value]], list[Value]]] = {}
        self._expansions: dict[Hashable, Expansion | None] = {}
        self._negated: set[Value] = set()
        self._calls: dict[Hashable, tuple[list[Value], Log, list[str]]] = {}
        self._noted: dict[Hashable, int] = {}
        self._constants: dict[int, Term] = {}
        self._sizes: dict[str, Dimension] = {}
        """Sizes by the names that only the rewrite gives them."""

    def run(
        self, program: Program, inputs: Sequence[Value], frame: Frame | None = None
    ) -> list[Value]:
        """Outputs of a graph.

        Args:
            program: the graph.
            inputs: its inputs.
            frame: the frame around it, with the values that it captures.
        """
        return self.closure(program, frame)(inputs)

    def closure(
        self, program: Program, around: Frame | None
    ) -> Callable[[Sequence[Value]], list[Value]]:
        """Closure of a graph over its captures and constants."""
        fixed: Frame = [None] * program.size
        # Captured values and constants are the same in all iterations, so their slots are filled
        # once.
        for outer, own in program.captures:
            assert around is not None
            fixed[own] = around[outer]
        for place, tensor in program.constants:
            fixed[place] = self.constant(tensor)
        # By id: the lists of sizes belong to the program, which outlives this set.
        certain = set[tuple[int, Fact]]()  # of all iterations

        def demand_sizes(value: Value, dims: Sequence[Dim]) -> None:
            if value is None or (id(dims), value.fact) in certain:
                return
            if self._demand_sizes(program, value, dims):
                certain.add((id(dims), value.fact))

        repeated = None if around is None else RepeatedBody(program, self.execute)

        def call(inputs: Sequence[Value]) -> list[Value]:
            frame = fixed.copy()
            for place, value in zip(program.inputs, inputs, strict=True):
                frame[place] = value
            for k, dims in program.declared_inputs.items():
                demand_sizes(inputs[k], dims)
            # A body that runs again skips the nodes whose operands are those of the iteration
            # before.
            if repeated is None:
                results = self._run(program, frame)
            else:
                self._count(program)
                results = repeated.run(self.terms, frame)
            for place, declared, name in program.types:
                value = frame[place]
                if value is not None and type_of(value.fact) not in (0, declared):
                    raise_type_conflict(name, declared, type_of(value.fact))
            for rows, is_new in ((program.sizes, True), (program.inherited, False)):
                if rows:
                    self.require_sizes(program, frame, rows, is_new)
            # An output of a body has no absent form in ONNX; only outputs of a main graph or of a
            # call may be left out here.
            if around is not None and any(result is None for result in results):
                raise OpenError(f"body {program.proto.name!r} has an absent output")
            for k, dims in program.declared.items():
                demand_sizes(results[k], dims)
            return results

        return call

    def require_sizes(
        self, program: Program, frame: Frame, rows: Sequence[Any], is_new: bool
    ) -> None:
        """Check declared sizes, which the original must declare for these values otherwise."""
        demanded = {program.outputs[k] for k in program.declared}  # of a body
        right = set[tuple[int, Fact | None, bool]]()
        for place, dims, name in rows:
            value = frame[place]
            shape = None if value is None else value.fact.shape
            key = id(dims), value and value.fact, place in demanded  # values share few types
            if key in right:
                continue
            # onnxruntime plans one buffer for values of one declared shape: a wrong declaration in
            # value_info changes results, although the specification gives it no meaning.
            if shape is None:
                numbers = self.is_partial or any(isinstance(dim, int) for dim in dims)
                is_wrong = value is not None and numbers and place not in demanded
            else:
                pairs = zip(dims, shape, strict=False)
                is_wrong = len(dims) != len(shape) or any(
                    self._contradicts(*pair, place in demanded) for pair in pairs
                )
            if is_wrong and is_new:
                raise OpenError(f"the rewrite declares sizes of '{name}' that it does not have")
            if is_wrong:
                self._demand(AS_ORIGINAL, program, value, dims)
            else:
                right.add(key)

    def _contradicts(self, declared: Dim, size: Dimension, is_demanded: bool) -> bool:
        """Test for a number that may be another size, or another name."""
        if declared is None:
            return False
        if isinstance(declared, int):
            return size.equals(declared) is False if is_demanded else size.value != declared
        names, case = self.terms.facts.declared, self.terms.case
        # A symbol that the original also declares is a size of the claim; one of the rewrite alone
        # stands for the first size that it meets.
        if declared in names:
            other = Dimension.symbol(declared).replaced(case)
        else:
            other = self._sizes.setdefault(declared, size)
        if size == other or self.is_partial:
            return size != other
        symbols = size.symbols | other.symbols
        return symbols <= names | {n for d in case.values() for n in d.symbols}

    def _demand_sizes(self, program: Program, value: Term, dims: Sequence[Dim]) -> bool:
        """Demand the sizes that a body declares, with which runtimes make room for its values.

        Returns:
            true if they are certain.
        """
        if _is_certain(dims, value.fact.shape):
            return True
        self._demand(AS_DECLARED, program, value, dims)
        return False

    def _demand(self, name: str, program: Program, value: Value, dims: Sequence[Dim]) -> None:
        """Log a demand on the sizes of a value."""
        head = self.terms.heads.own(name, tuple(dims))
        body = onnx.NodeProto(op_type="Body", name=program.proto.name)
        self.log.append(Obligation(head, (value,), 1, self.guards, body, path=self.path))

    def constant(self, message: onnx.TensorProto | onnx.SparseTensorProto) -> Term:
        """Term of an initializer."""
        # Messages live as long as the proof, so their ids are unique.
        key = id(message)
        if key not in self._constants:
            self._constants[key] = self.terms.constant(Tensor(message, base_dir=self.folder))
        return self._constants[key]

    def constant_of(self, step: Step) -> Term:
        """Term of a Constant, common to nodes of both models with the same bytes."""
        key = step.operation, self.folder
        term = self.terms.held.get(key)
        if term is None:
            (attribute,) = step.node.attribute
            if attribute.name == "value":
                term = self.terms.constant(Tensor(attribute.t, base_dir=self.folder))
            else:
                term = self.terms.apply(step.head, ())[0]
            assert term is not None
            self.terms.held[key] = term
        return term

    def _run(self, program: Program, frame: Frame) -> list[Value]:
        self._count(program)
        self.execute(program.steps, frame)
        return [frame[at] for at in program.outputs]

    def _count(self, program: Program) -> None:
        """Count the steps of the nodes of a graph."""
        self.terms.budget.step(len(program.steps) * (_INSIDE if self.level else 1))

    def execute(self, steps: Sequence[Step], frame: Frame) -> None:
        """Execute nodes one by one."""
        terms, place = self.terms, frame.__getitem__
        for step in steps:
            operation, inputs, outputs, _ = step
            args = tuple(map(place, inputs))
            # Three caches, from cheap to expensive: by the very operands, by their facts, by terms.
            # Most nodes of an unrolled loop end at the first.
            results: Sequence[Value] = operation.settled.get(args, ())
            if len(results) < len(outputs):
                facts = operation.outcomes.get(tuple([arg and arg.fact for arg in args]))
                # A rule of the operator looks at the terms of its operands and not at their facts
                # alone.
                if facts and operation.triggers and has_trigger(operation.triggers, args):
                    facts = []
                if facts is None or (terms.inexact_constants and not facts):
                    results = self.step(step, args, frame)
                else:
                    results = operation.applications.get(args, ())
                    if len(results) < len(outputs):
                        head = step.head
                        if facts:
                            results = terms.opaque(head, args, facts)
                        else:
                            results = terms.apply(head, args, operation.width)
                    if facts:
                        operation.settled[args] = results
            if len(outputs) == 1 == len(results) and outputs[0] != ABSENT and results[0]:
                frame[outputs[0]] = results[0]  # the common case
                continue
            for number, at in enumerate(outputs):
                result = results[number] if number < len(results) else None
                if result is None and at != ABSENT:
                    raise OpenError(f"{label(step.node)} has no output {number}")
                frame[at] = result
            # Absent outputs were written to this slot, which absent inputs read.
            frame[ABSENT] = None

    def step(self, step: Step, args: tuple[Value, ...], frame: Frame) -> Sequence[Value]:
        """Outputs of a node."""
        operation = step.operation
        if operation.function is not None:
            return self._call(operation.function, args, operation.width)
        types = tuple([LEFT_OUT if arg is None else type_of(arg.fact) for arg in args])
        # One check for all nodes of these types; unknown types must be checked on each run.
        if types not in operation.valid and operation.op_type not in OPTIONAL_READERS:
            require_valid(step.node, operation.version, types)
            if 0 in types:
                self._require_types(step, args, types)
            else:
                operation.valid.add(types)
        if step.head.op is not None and is_foreign(step.head.op):
            expansion = self._definition(step, args)
            if expansion is not None:
                return self._by_definition(step, args, expansion)
        if operation.is_plain:
            return self._plain(step, args)
        construct = CONSTRUCTS.get(operation.op_type)
        if construct is not None:
            self._note_bodies(step, args)
            return construct(self, step, args, frame)
        if operation.bodies:
            raise OpenError(f"{label(step.node)} is unsupported by the proof")
        if self._draws(step, args):
            return self._random_outputs(step, args)
        operation.is_plain = not (step.head.draws or step.head.unknown)
        operation.never_fails = self._safety.is_total(step.head)
        return self._plain(step, args)

    def _require_types(self, step: Step, args: tuple[Value, ...], types: tuple[Type, ...]) -> None:
        """Demand types that the node accepts of its operands of unknown type."""
        domain = normal_domain(step.node.domain)
        unknown = open_types(step.node.op_type, step.operation.version, domain, types)
        if unknown.places:
            head = self.terms.heads.own(HAS_TYPES, (unknown.allowed, unknown.variables))
            self.demand(head, tuple([args[place] for place in unknown.places]), step)

    def _plain(self, step: Step, args: tuple[Value, ...]) -> Sequence[Value]:
        """Outputs of a function of its inputs. If the facts of the inputs determine that it cannot
        fail, the next node with such facts is not checked; nor rewritten, if no rule applies to
        it."""
        operation, terms, head = step.operation, self.terms, step.head
        if operation.version < FIRST_PLAIN:
            head, args = lifted(terms, head, args)
        fits = not operation.is_older or self._is_accepted(step, args)
        # A node inside of a loop or of a branch may never run, and says nothing of sizes then.
        is_certain = not (self.level or self.assumed)
        if operation.op_type in ("Shape", "Size") and args[0] and is_certain:
            terms.symbols.magnitudes.exists(args[0].fact.shape)
        results = terms.apply(head, args, operation.width)
        # A Reshape of the rewrite may fail: only results of the original certainly exist.
        if operation.op_type == "Reshape" and results[0] and is_certain and self.side == "before":
            terms.symbols.magnitudes.exists(results[0].fact.shape)
        # A folded float depends on the kernel that folded it, unless every kernel gives the same
        # bits.
        rounded = terms.inexact_constants and not terms.inexact_constants.isdisjoint(results)
        if rounded and not is_exact(head.name, (*args, *results)):
            self.folded.add((head, args))
        departs = has_rows(operation.op_type) or operation.op_type == "Not"
        if departs:
            self._note_departure(head, args, results)
        facts = terms.opaque_facts(head, args, operation.width)
        if (
            (not head.operand_ranks or self._require_ranks(step, args))
            and fits
            and operation.is_plain
            and head is step.head
            and (facts or operation.op_type not in _SIZES)
            and all(arg is None or type_of(arg.fact) for arg in args)
            and (operation.never_fails or self._holds(head, args, operation.width, bool(facts)))
        ):
            # A departure is recorded for each node, which the cache would skip.
            if not departs:
                operation.outcomes[tuple([arg and arg.fact for arg in args])] = facts
        elif not (operation.never_fails or self._is_settled(head, args, operation.width)):
            self.demand(head, args, step, results[0])
        return results

    def _holds(self, head: Head, args: Args, width: int, is_opaque: bool) -> bool:
        """Test for an operator that cannot fail on operands of these facts. Where a rule may apply,
        facts tend to differ from node to node: only a fast test pays."""
        test = self._safety.holds_by_facts if is_opaque else self._safety.fits
        return test(head, args, width)

    def _is_settled(self, head: Head, args: Args, width: int) -> bool:
        """Test for a node that nobody need ask about: one of the rewrite whose operands fit. What
        the original needs may tell something of other nodes."""
        return self.side != "before" and self._safety.fits(head, args, width)

    def _note_departure(self, head: Head, args: Args, results: Sequence[Value]) -> None:
        """Record a node of which onnxruntime may depart."""
        if head.name == "Not":
            self._negated.update(results)
            return
        swaps = head.name == "Where" and args[0] in self._negated
        assumption = assumption_of(self.terms, head, args, swaps)
        if assumption is not None:
            self.departing[head, args] = assumption

    def _note_bodies(self, step: Step, args: Args) -> None:
        """Record a construct with outputs of a body that onnxruntime computes otherwise."""
        noted = departing_bodies(step.head, [step.bodies[name] for name in sorted(step.bodies)])
        if noted is not None:
            assumption, places = noted
            head = self.terms.heads.own("outputs", (step.head.name, places))
            self.departing[head, args] = assumption

    def _is_accepted(self, step: Step, args: Args) -> bool:
        """Demand operands that this version of an operator accepts, unless it certainly does."""
        operation, head = step.operation, step.head
        fits = self._safety.accepts(head, args, operation.width, operation.version)
        if not fits:
            self.demand(self.terms.heads.own(IS_ACCEPTED, head), args, step)
        return fits

    def _require_ranks(self, step: Step, args: Args) -> bool:
        """Demand of each operand the rank that the specification wants, unless it has that."""
        operation, head, fit = step.operation, step.head, True
        for position, ranks in head.operand_ranks.items():
            operand = args[position] if position < len(args) else None
            if operand is None:
                continue
            shape = operand.fact.shape
            if shape is None or len(shape) not in ranks:
                schema = schema_at(operation.op_type, operation.version, "")
                since = schema.since_version if schema is not None else operation.version
                key = (operation.op_type, since, position, ranks)
                self.demand(self.terms.heads.own(HAS_RANK, key), (operand,), step)
                fit = False
        return fit

    def demand(self, head: Head, args: Args, step: Step, result: Value = None) -> None:
        """Record that a node may fail.

        Args:
            head: its head, or the name of a demand.
            result: its first output.
        """
        while args and args[-1] is None:
            args = args[:-1]
        width, guards = step.operation.width, self.guards
        self.log.append(Obligation(head, args, width, guards, step.node, result, self.path))

    def forget(self, start: int) -> None:
        """Drop obligations from one on, whose nodes run again or never."""
        del self.log[start:]
        # A call within the dropped part has to enter its obligations anew.
        while self._noted and next(reversed(self._noted.values())) >= start:
            self._noted.popitem()

    @property
    def path(self) -> str:
        """Path of the current node; empty if not recorded."""
        return ""

    def _draws(self, step: Step, args: tuple[Value, ...]) -> bool:
        """Test whether an operator is unknown to ONNX or draws random numbers."""
        head = step.head
        if is_function(head):
            return False
        return head.unknown or self.terms.draws(head, args, step.operation.width)

    def _random_outputs(self, step: Step, args: tuple[Value, ...]) -> Sequence[Value]:
        """Outputs of a random or unknown operator: new terms on each run."""
        head = step.head
        self.drawn += 1
        self._require_ranks(step, args)
        self.demand(head, args, step)
        own = self.terms.heads.own("drawn", (self.side, self.drawn, head))
        facts = self.terms.facts_of(head, args, step.operation.width)
        return self.terms.raw(own, (*args, *self.iteration), facts)

    def _definition(self, step: Step, args: tuple[Value, ...]) -> Expansion | None:
        """Definition of an operator outside of ONNX, if the notion of equality allows for it."""
        kinds = [None if arg is None else self._kind(arg) for arg in args]
        key = step.head, tuple(map(bool, step.node.output)), *kinds
        if key not in self._expansions:
            self._expansions[key] = self._expansion(step, args)
        expansion = self._expansions[key]
        if expansion is None or self.over_reals or expansion.definition.exact:
            return expansion
        self.unopened = True
        return None

    def _kind(self, arg: Term) -> Hashable:
        """All of an operand that may decide a definition: a constant, or else type and sizes."""
        if self.terms.tensor(arg) is not None:
            return arg
        elem_type, shape = arg.fact.elem_type, arg.fact.shape
        return elem_type, None if shape is None else tuple([dim.value for dim in shape])

    def _expansion(self, step: Step, args: tuple[Value, ...]) -> Expansion | None:
        """Definition of an operator outside of ONNX; None where none covers the node."""
        head, outputs = step.head, step.node.output
        assert head.op is not None

        def constant(index: int) -> Array | None:
            tensor = self.terms.tensor(args[index]) if index < len(args) else None
            return tensor.numpy() if tensor is not None and tensor.is_readable else None

        facts = [UNKNOWN if arg is None else arg.fact for arg in args]
        present = [name or None for name in outputs]
        try:
            signature = signature_of(head.op, args, facts, present, constant)
            return expansion_of(signature, head.imports)
        except Unfit:
            return None

    def _by_definition(
        self, step: Step, args: tuple[Value, ...], expansion: Expansion
    ) -> Sequence[Value]:
        """Outputs of an operator outside of ONNX as those of its definition."""
        program = self._definitions.get(expansion)
        if program is None:
            program = compile_function(self.terms.heads, expansion.proto)
            self._definitions[expansion] = program
        self.departing[step.head, args] = f"{step.head.name} {BY_DEFINITION}"
        return self._call(program, args, step.operation.width)

    def _call(self, program: Program, args: tuple[Value, ...], width: int) -> list[Value]:
        """Outputs of a function call, cached by arguments unless it draws."""
        key = program, args, tuple(self.assumed.items()), self.is_untouched
        cached = self._calls.get(key)
        if cached is not None:
            if (key, self.guards) not in self._noted:  # under other guards
                self._noted[key, self.guards] = len(self.log)
                self.terms.budget.step(len(cached[1]))
                # The nodes of the call may fail here as well, under the conditions of this place.
                self.log += relocate(cached[1], 0, 0, self.guards)
            self.seen += cached[2]
            return cached[0]
        before, start, loops = self.drawn, len(self.log), len(self.seen)
        missing = [None] * (len(program.inputs) - len(args))
        if program not in self._closures:
            self._closures[program] = self.closure(program, None)
        results = self._closures[program]([*args, *missing])
        # Each call draws anew.
        if self.drawn == before:
            log = relocate(self.log, start, len(self.guards), ())
            self._calls[key] = results, log, self.seen[loops:]
            self._noted[key, self.guards] = start
        return results


def is_function(head: Head) -> bool:
    """Test whether ONNX defines an operator, as a function of its inputs."""
    assert head.op is not None
    if head.draws is None:
        version = head.imports.get(normal_domain(head.op.domain), 0)
        head.unknown = not (is_known(head.op, version) or definitions_of(head.op, head.imports))
        head.draws = rules_of(head.op).defines(OperatorRules.draws_random_numbers)
    return not (head.unknown or head.draws)


def _is_certain(dims: Sequence[Dim], shape: Shape | None) -> bool:
    """Test whether a tensor certainly has the sizes that are declared."""
    if shape is None:
        return not any(isinstance(declared, int) for declared in dims)
    pairs = zip(dims, shape, strict=False)
    return len(dims) == len(shape) and all(
        dim == declared for declared, dim in pairs if isinstance(declared, int)
    )


class TracedExecution(Execution):
    """Execution that records the node of each term."""

    _path: tuple[str, ...] = ()

    def __init__(self, terms: Terms, *rest: Any) -> None:
        super().__init__(terms, *rest)
        self._attributes: dict[Step, tuple[str, ...]] = {}
        """Attribute under which a node holds a body, by node of the body."""

    @property
    def path(self) -> str:
        """Path of the current node."""
        return " / ".join(self._path)

    def step(self, step: Step, args: tuple[Value, ...], frame: Frame) -> Sequence[Value]:
        """Outputs of a node, recorded as its own."""
        around, trace = self._path, self.terms.trace
        assert trace is not None
        for name, body in step.bodies.items():
            self._attributes.update(dict.fromkeys(body.steps, (name,)))
        self._path = (*around, *self._attributes.get(step, ()), label(step.node))
        results = super().step(step, args, frame)
        step.operation.outcomes.clear()  # so that each run comes here
        step.operation.settled.clear()
        for result in results:
            if result is not None:
                trace.gave(self.side, result, self.path)
        self._path = around
        return results
