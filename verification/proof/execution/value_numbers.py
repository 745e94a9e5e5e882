"""Value numbering of two models: a value has one number in both, and no term is made of it.

A node has the number of any other node with its head and operands of the same numbers. A head is an
operator by its meaning, so that equal numbers are equal values whatever types and shapes the inputs
have. A node with bodies also has those of its bodies: their values are numbered by the nesting
depth of the inputs (de Bruijn levels), and all nodes of a body count, as each may fail.

A node of the rewrite that the original lacks takes the number of the value of its name there, which
is an assumption: `cut_points.py` proves it.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import onnx

from ....ops.schema_queries import schema_at
from ....reference.element_types import ElementTypes
from ..terms.exact_operators import READS_BITS
from ..terms.op_semantics import serialize
from ..terms.term import Head, Term, rank_of
from ..terms.term_manager import Terms
from .compile_graph import ABSENT, Operation, Program, Step
from .node_checker import LEFT_OUT, InvalidError, Type, require_valid
from .symbolic_execution import CONSTRUCTS, Execution, is_function

Place = tuple[int, int]
"""Number of a node, or of an input or constant, and index of its output."""

NOTHING: Place = (0, 0)
"""Place of an absent input."""

MOST_SHARE = 2
"""Divisor of the nodes of a model: if more than that share differs, cut points spare little."""

_FEW = 3
"""Limit of the nodes that one model has and the other lacks."""

_INT64, _BOOL = onnx.TensorProto.INT64, onnx.TensorProto.BOOL


class Side(NamedTuple):
    """Main graph of one model, its execution, and the types of its scan outputs."""

    program: Program
    execution: Execution
    element_types: ElementTypes


class Correspondence(NamedTuple):
    """Values of the rewrite by the numbers of the original.

    Attributes:
        before: place of each slot of the original.
        after: place of each slot of the rewrite.
        differing: indices of the nodes of the rewrite that the original lacks.
        assumed: places that nodes of the rewrite share with the original by name, by slot.
        constants: constants of the rewrite that have the name of a node's value in the original,
            by the place of that value, whose number they share.
        types: element types of the outputs of each number; 0 if unknown.
        leaves: terms of the inputs and constants, by number.
    """

    before: list[Place]
    after: list[Place]
    differing: list[int]
    assumed: dict[int, Place]
    constants: Mapping[Place, Term]
    types: Sequence[tuple[int, ...]]
    leaves: Mapping[int, Term]


class _UnsupportedError(Exception):
    """Signal that a graph has no numbers."""


class ValueNumbers:
    """Numbers of the values of two models.

    Args:
        inputs: terms of the inputs, by name.
    """

    def __init__(self, terms: Terms, inputs: dict[str, Term]) -> None:
        self._terms = terms
        self._inputs = inputs
        self._numbers: dict[Hashable, int] = {None: 0}
        self._args: list[tuple[Place, ...]] = [()]
        self._types: list[tuple[int, ...]] = [(LEFT_OUT,)]
        self._operations: dict[int, Operation] = {}
        self._operands: dict[int, tuple[int, ...]] = {}
        self._plain: set[Operation] = set()
        self._alike: set[tuple[Operation, Operation]] = set()
        self._ranks: dict[int, int] = {}
        self._leaves: dict[int, Term] = {}
        self._declared: dict[Place, Type] = {}
        self._named: dict[str, Place] = {}
        self._supported: dict[Operation, bool] = {}
        self._calls: dict[Hashable, tuple[Hashable, tuple[Place, ...]]] = {}
        self._common: set[int] = set()
        self._is_original = True
        self._swaps = self._reads_bits = False

    def correspondence(self, before: Side, after: Side) -> Correspondence | None:
        """Correspondence of two graphs.

        None if a graph has default values of inputs, random numbers or unknown operators, a node is
        invalid or cannot be shown to be valid, nodes with bodies differ, or a node may read which
        of two operands is the first one that is NaN.
        """
        # A cheap test first: most rewrites end here, and few conversions.
        if _are_unlike(before.program, after.program):
            return None
        try:
            one, numbers = self._frame(before)
            self._common = {*numbers, *[number for number, _ in one]}
            self._check_types(before.program, one)
            self._named = {name: one[at] for at, _, name in before.program.infos}
            self._is_original = False
            return self._of_rewrite(before.program, one, after)
        except (_UnsupportedError, InvalidError):
            return None
        finally:
            self._terms.budget.make_terms(len(self._args))

    def _of_rewrite(self, program: Program, one: list[Place], after: Side) -> Correspondence:
        differing: list[int] = []
        assumed: dict[int, Place] = {}
        constants: dict[Place, Term] = {}
        frame, numbers = self._frame(after)
        for at, message in after.program.constants:
            is_dense = isinstance(message, onnx.TensorProto)
            name = message.name if is_dense else message.values.name
            place = one[program.slots.get(name, ABSENT)]
            if self._is_computed(place) and self._type_of(place) == self._type_of(frame[at]):
                term, frame[at] = self._leaves[frame[at][0]], place
                if constants.setdefault(place, term) is not term:
                    raise _UnsupportedError  # one value of two names has two values
        if after.program.whole is program and self._keeps_nodes(one, after.program, frame):
            numbers = iter(())
        for index, number in enumerate(numbers):
            step = after.program.steps[index]
            # A node with the number of one of the original has its value, whatever it is called.
            if number in self._common or step.operation.op_type == "Constant":
                continue
            if step.bodies or step.operation.function:
                raise _UnsupportedError
            differing.append(index)
            for at, name in zip(step.outputs, step.node.output, strict=True):
                place = one[program.slots.get(name, ABSENT)]
                # A rewrite may give an old name to another value: types tell some
                # of these apart at no cost.
                if self._is_computed(place) and self._type_of(place) == self._type_of(frame[at]):
                    frame[at] = assumed[at] = place
        self._check_types(after.program, frame)
        new, infos = {name for *_, name in after.program.sizes}, after.program.infos
        if any(self._named.get(n) != frame[at] for at, _, n in infos if n not in new):
            raise _UnsupportedError  # a declaration counts for a value, not for its name
        # IEEE 754 leaves open which NaN an operation returns, and kernels return that of the first
        # operand: a swap, or another form, may show in bits that an operator reads (BitCast).
        if self._reads_bits and (self._swaps or differing or constants):
            raise _UnsupportedError
        values = differing, assumed, constants
        return Correspondence(one, frame, *values, self._types, self._leaves)

    def _is_computed(self, place: Place) -> bool:
        """Test for the value of a node that is no constant."""
        return place != NOTHING and place[0] not in self._leaves

    def _keeps_nodes(self, one: list[Place], program: Program, frame: list[Place]) -> bool:
        """Fill the frame of a rewrite with nodes of the original only: by induction in their order,
        each has the operands that it has there. False if an old name is that of another input."""
        sources = [*program.inputs, *[at for at, _ in program.constants]]
        if any(at < len(one) and one[at] not in (NOTHING, frame[at]) for at in sources):
            return False
        for step in program.steps:
            for at in step.outputs:
                frame[at] = one[at]
        return True

    def sizes_of(self, outputs: Sequence[Place]) -> list[int]:
        """Number of nodes, inputs and constants that each output adds to those before it."""
        visited, counts = {0}, []
        for number, _ in outputs:
            before, stack = len(visited), [number]
            while stack:
                at = stack.pop()
                if at not in visited:
                    visited.add(at)
                    stack += [arg for arg, _ in self._args[at]]
            counts.append(len(visited) - before)
        return counts

    def _number(
        self, key: Hashable, args: tuple[Place, ...] = (), types: tuple[int, ...] = ()
    ) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(self._args):
            self._args.append(args)
            self._types.append(types)
        return number

    def _leaf(self, term: Term) -> Place:
        number = self._number(term, (), (term.fact.elem_type,))
        self._leaves[number] = term
        rank = rank_of(term)
        if rank is not None:
            self._ranks[number] = rank
        return number, 0

    def _frame(self, side: Side) -> tuple[list[Place], Iterator[int]]:
        """Places of a main graph, by slot, and numbers of its nodes, which fill them."""
        program = side.program
        # The caller may override such an input, so the constant is not its value.
        if not {place for place, _ in program.constants}.isdisjoint(program.inputs):
            raise _UnsupportedError
        frame = [NOTHING] * program.size
        for name, at in zip(program.names, program.inputs, strict=True):
            frame[at] = self._leaf(self._inputs[name])
        self._enter_constants(side, program, frame)
        return frame, self._steps(side, program, frame, 0)

    def _enter_constants(self, side: Side, program: Program, frame: list[Place]) -> None:
        for at, message in program.constants:
            frame[at] = self._leaf(side.execution.constant(message))

    def _type_of(self, place: Place) -> int:
        number, index = place
        types = self._types[number]
        return types[index] if index < len(types) else 0

    def _steps(self, side: Side, program: Program, frame: list[Place], depth: int) -> Iterator[int]:
        """Fill the frame of a graph step by step, and yield their numbers."""
        self._terms.budget.step(len(program.steps))
        numbers, operations, plain = self._numbers, self._operations, self._plain
        place_at = frame.__getitem__
        for step in program.steps:
            operation, outputs = step.operation, step.outputs
            args = tuple(map(place_at, step.inputs))
            # Trailing absent operands mean the same as none at all.
            while args and args[-1] is NOTHING:
                args = args[:-1]
            if operation.op_type == "Constant":  # however a model holds it
                place = frame[outputs[0]] = self._leaf(side.execution.constant_of(step))
                yield place[0]
                continue
            # Where both operands are NaN, the order shows in the bits of the result,
            # and in these alone.
            if operation.is_commutative and len(args) == 2 and args[1] < args[0]:
                args, self._swaps = (args[1], args[0]), True
            key = operation.head, args
            number = numbers.get(key, 0)
            if not number and operation in plain and len(args) == len(step.inputs):
                number = self._new(operation, key)
            if not number or operations[number] is not operation:
                is_alike = number and (operations[number], operation) in self._alike
                if not (is_alike and self._operands[number] in operation.valid):
                    number = self._step(side, step, args, frame, depth)
            if len(outputs) == 1 and outputs[0] != ABSENT:  # the common case
                frame[outputs[0]] = number, 0
            else:
                for index, at in enumerate(outputs):
                    if at != ABSENT:
                        frame[at] = number, index
            yield number

    def _new(self, operation: Operation, key: tuple[Head | None, tuple[Place, ...]]) -> int:
        """Number of a new node; 0 unless `_step` accepted its operation for such operands."""
        types = self._types
        try:
            kinds = tuple([types[number][index] for number, index in key[1]])
            results = operation.types[kinds]
        except LookupError:
            return 0
        if kinds not in operation.valid:
            return 0
        number = self._numbers[key] = len(types)
        self._args.append(key[1])
        types.append(results)
        self._operations[number], self._operands[number] = operation, kinds
        return number

    def _step(
        self, side: Side, step: Step, args: tuple[Place, ...], frame: Sequence[Place], depth: int
    ) -> int:
        """Number of a new node, or of one unlike the first with its number."""
        operation = step.operation
        if not self._is_supported(operation):
            raise _UnsupportedError
        self._reads_bits |= operation.op_type == READS_BITS
        bodies, outputs = self._bodies(side, step, args, frame, depth)
        # Bodies are numbered as values are: two Loops are one value if their bodies compute the
        # same from the same captures.
        key = (_meaning(operation), args, *bodies) if bodies else (operation.head, args)
        number = self._numbers.get(key)
        if number is not None and self._is_accepted(number, step, args):
            return number
        # Another version may refuse these operands: it gets a number of its own.
        if number is not None:
            key = (*key, operation.version)
        types = self._output_types(step, args, outputs)
        number = self._number(key, (*args, *outputs), types)
        self._operations.setdefault(number, operation)
        self._operands[number] = tuple(map(self._type_of, args))
        return number

    def _is_supported(self, operation: Operation) -> bool:
        """Test whether an operator is a function of its inputs that needs no term."""
        supported = self._supported.get(operation)
        if supported is None:
            head = operation.head
            supported = head is None or (
                is_function(head)
                if not operation.bodies
                else operation.op_type in ("If", "Loop", "Scan")
            )
            supported &= bool(operation.bodies) or operation.op_type not in CONSTRUCTS
            self._supported[operation] = supported
        return supported

    def _is_accepted(self, number: int, step: Step, args: tuple[Place, ...]) -> bool:
        """Test whether a node accepts the operands of a node of that number."""
        one, other = self._operations[number], step.operation
        if one is other or one.head is None:
            return True
        self._require_types(step, args)
        if one.is_older != other.is_older:
            return False
        if _demand_same_ranks(one, other):
            self._alike.add((one, other))
            return True
        return all(
            position >= len(args) or self._ranks.get(args[position][0]) in ranks
            for position, ranks in step.head.operand_ranks.items()
        )

    def _require_types(self, step: Step, args: tuple[Place, ...]) -> tuple[int, ...]:
        """Element types of the operands of an operator, which must accept them."""
        types = tuple(map(self._type_of, args))
        types += (LEFT_OUT,) * (len(step.inputs) - len(args))
        if types not in step.operation.valid:
            if 0 in types:
                if self._is_original:
                    return types
                raise _UnsupportedError
            require_valid(step.node, step.operation.version, types)
            step.operation.valid.add(types)
        return types

    def _output_types(
        self, step: Step, args: tuple[Place, ...], outputs: Sequence[Place]
    ) -> tuple[int, ...]:
        """Element types of a node's outputs, from its operands or its bodies."""
        operation, width = step.operation, len(step.outputs)
        if operation.head is None:
            return tuple(map(self._type_of, outputs))
        types = self._require_types(step, args)
        if operation.bodies:
            first = 1 if operation.op_type == "Loop" else 0
            return tuple(map(self._type_of, outputs[first : first + width]))
        self._plain.add(operation)
        results = operation.types.get(types)
        if results is None:
            present = [None if elem_type == LEFT_OUT else elem_type for elem_type in types]
            results = self._terms.facts.elem_types(operation.head, present, width)
            operation.types[types] = results
        return results

    def _bodies(
        self, side: Side, step: Step, args: tuple[Place, ...], frame: Sequence[Place], depth: int
    ) -> tuple[tuple[Hashable, ...], tuple[Place, ...]]:
        """Key of a node's bodies, or of its function, and their outputs."""
        operation = step.operation
        if operation.function is not None:
            types = tuple(map(self._type_of, args))
            call = operation.function, types, depth
            if call not in self._calls:
                self._calls[call] = self._body(side, operation.function, types, frame, depth)
            key, outputs = self._calls[call]
            return (key,), outputs
        keys: list[Hashable] = []
        outputs = ()
        for name, body in sorted(operation.bodies.items()):
            types = _body_types(step, tuple(map(self._type_of, args)))
            key, results = self._body(side, body, types, frame, depth)
            keys += [name, key, *self._scan_outputs(side, step, body, len(results))]
            if outputs and [*map(self._type_of, outputs)] != [*map(self._type_of, results)]:
                raise _UnsupportedError
            outputs = outputs or results
        return tuple(keys), outputs

    def _body(
        self,
        side: Side,
        program: Program,
        types: Sequence[int],
        around: Sequence[Place],
        depth: int,
    ) -> tuple[Hashable, tuple[Place, ...]]:
        """Key of a body, and the places of its outputs."""
        if program.sizes:  # a run of the body tells whether its values have them
            raise _UnsupportedError
        frame = [NOTHING] * program.size
        for outer, own in program.captures:
            frame[own] = around[outer]
        types = (*types, *[LEFT_OUT] * (len(program.inputs) - len(types)))
        for index, (at, elem_type) in enumerate(zip(program.inputs, types, strict=True)):
            if elem_type != LEFT_OUT:
                key = "input", depth, index, elem_type
                frame[at] = self._number(key, (), (elem_type,)), 0
        self._enter_constants(side, program, frame)
        numbers = frozenset(self._steps(side, program, frame, depth + 1))
        self._check_types(program, frame)
        outputs = tuple([frame[at] for at in program.outputs])
        declared = frozenset([(frame[at], *dims) for at, dims, _ in program.inherited])
        return (outputs, numbers, declared, _declared(program)), outputs

    def _scan_outputs(
        self, side: Side, step: Step, body: Program, count: int
    ) -> Iterator[Hashable]:
        """Keys of scan outputs that have no size without an iteration: runtimes infer it from the
        whole model, so that equal loops of two models may differ."""
        if step.operation.op_type == "If":
            return
        loop = step.operation.op_type == "Loop"
        states = len(step.inputs) - (2 if loop else step.head.attribute("num_scan_inputs", 0))
        # The first input of Scan 8, sequence_lens, is not a state.
        states -= not loop and step.head.opset == 8
        for index in range(int(loop) + states, count):
            dims = body.declared.get(index)
            if dims is not None and all(isinstance(dim, int) for dim in dims):
                continue
            inferred = side.element_types.of(step.node, index) if loop else None
            sizes = [] if inferred is None else [dim.dim_value for dim in inferred.shape.dim]
            certain = inferred is not None and inferred.HasField("shape") and all(sizes)
            yield tuple(sizes) if certain else (id(step), index)

    def _check_types(self, program: Program, frame: Sequence[Place]) -> None:
        """Require that values have the element types that a graph declares for them. A type that
        is unknown must be declared alike in the original."""
        for at, elem_type, _ in program.types:
            place = frame[at]
            actual = self._type_of(place) or self._declared.get(place, 0)
            if not actual and self._is_original:
                self._declared[place] = elem_type
            elif actual != elem_type:
                raise _UnsupportedError


def _are_unlike(before: Program, after: Program) -> bool:
    """Test for models whose nodes differ in more than cut points can compare: in many nodes, or in
    bodies. Equal bodies must not be opened to see that."""
    counts = [Counter[str](), Counter[str]()]
    bodies = [0, 0]
    for side, program in enumerate((before, after)):
        for operation, count in program.operations.items():
            counts[side][operation.op_type] += count
            bodies[side] += bool(operation.bodies)
    new = (counts[1] - counts[0]).total()
    return bodies[0] != bodies[1] or (new > _FEW and new * MOST_SHARE > len(after.steps))


def _demand_same_ranks(one: Operation, other: Operation) -> bool:
    """Test whether two versions of an operator accept operands of the same ranks."""
    if one.version == other.version or other.head is None or not other.head.operand_ranks:
        return True
    schemas = [schema_at(each.op_type, each.version, "") for each in (one, other)]
    return len({schema and schema.since_version for schema in schemas}) == 1


def _meaning(operation: Operation) -> Hashable:
    """Key of a node with bodies or of a call, besides its bodies. Versions of If, Loop and Scan
    differ in the types that they accept, but for Scan 8."""
    head = operation.head
    if head is None or head.op is None:
        return ""
    batched = operation.op_type == "Scan" and head.opset == 8
    return operation.op_type, batched, serialize(head.op.attributes)


def _body_types(step: Step, types: tuple[int, ...]) -> tuple[int, ...]:
    """Element types of the inputs of a body."""
    op_type = step.operation.op_type
    if op_type == "Loop":
        return _INT64, _BOOL, *types[2:]
    if op_type == "Scan":
        return types[1:] if step.head.opset == 8 else types
    return ()


def _declared(program: Program) -> Hashable:
    """Declared sizes of the inputs and outputs of a body, which runtimes rely on."""
    sizes: tuple[Mapping[int, Sequence[object]], ...] = program.declared_inputs, program.declared
    return tuple([(k, *dims) for each in sizes for k, dims in sorted(each.items())])
