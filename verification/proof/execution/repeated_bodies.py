"""Bodies that run many times, in blocks of nodes whose facts stay the same.

    x = Gather (X, i)      # the content of i is another one each time: executed
    a = MatMul (x, W)      # a block: while x, W and h have the same facts as in that iteration,
    t = Add (a, h)         # a and t are terms of known facts, to which no rule applies

What `Operation.outcomes` tells of a node is a function of the facts of its operands, so those of
the values from outside determine a whole block: each of its nodes costs little more than one
look-up of its term.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....facts.fact import Fact
from ....ir.copy_plan import reader
from ..terms.term import Term
from ..terms.term_manager import OpaqueRow, Terms
from .compile_graph import ABSENT, Program, Step

_Frame = list[Term | None]
Execute = Callable[[Sequence[Step], _Frame], None]

_LEAST = 3
"""Nodes from which a block costs less than they do one by one."""
_MOST_DIVISIONS = 4
"""Divisions after which the facts are taken to differ in every iteration."""


class _Block(NamedTuple):
    """Nodes to which no rule applies, with the facts of what they read from outside."""

    steps: Sequence[Step]
    rows: Sequence[OpaqueRow]
    reads: Callable[[_Frame], tuple[Term | None, ...]]
    facts: list[Fact | None]

    def run(self, terms: Terms, frame: _Frame) -> int:
        """Number of nodes that ran before one of other facts."""
        if [term and term.fact for term in self.reads(frame)] != self.facts:
            return 0
        return terms.opaque_rows(self.rows, frame)


class RepeatedBody:
    """Nodes of a body, in blocks where the last iterations had equal facts.

    Args:
        execute: executes some of its nodes one by one.
    """

    def __init__(self, program: Program, execute: Execute) -> None:
        self._program, self._execute = program, execute
        self._parts: list[_Block | Sequence[Step]] = [program.steps]
        self._last: _Frame | None = None
        self._divisions = 0

    def run(self, terms: Terms, frame: _Frame) -> list[Term | None]:
        """Outputs of the body, whose inputs a frame has."""
        if self._last is not None:  # only a second iteration pays for the division
            self._parts, self._last = _parts_of(self._program.steps, self._last), None
            self._divisions += 1
        is_new = self._divisions == 0
        for part in self._parts:
            if isinstance(part, _Block):
                count = part.run(terms, frame)
                if count == len(part.rows):
                    continue
                is_new = True
                self._execute(part.steps[count:], frame)
            else:
                self._execute(part, frame)
        if is_new and self._divisions < _MOST_DIVISIONS:
            self._last = frame
        return [frame[at] for at in self._program.outputs]


def _parts_of(steps: Sequence[Step], frame: _Frame) -> list[_Block | Sequence[Step]]:
    """Divide the nodes of a body by what an iteration computed."""
    parts: list[_Block | Sequence[Step]] = []
    block: list[Step] = []
    rows: list[OpaqueRow] = []
    others: list[Step] = []
    for step in (*steps, None):
        row = None if step is None else _row(step, frame)
        if step is not None and row is not None:
            block.append(step)
            rows.append(row)
            continue
        if len(block) < _LEAST:
            others += block
        else:
            parts += (
                [others, _block(block, rows, frame)] if others else [_block(block, rows, frame)]
            )
            others = []
        block, rows = [], []
        if step is not None:
            others.append(step)
    return [*parts, others] if others else parts


def _row(step: Step, frame: _Frame) -> OpaqueRow | None:
    """Row of a node to which no rule applied in an iteration; None for another one."""
    operation, inputs, outputs, _ = step
    if operation.head is None or len(outputs) != 1 or outputs[0] == ABSENT:
        return None
    args, result = [frame[at] for at in inputs], frame[outputs[0]]
    facts = operation.outcomes.get(tuple([arg and arg.fact for arg in args]))
    if not facts or result is None or result.fact is not facts[0]:
        return None
    head = operation.head
    tables = head.applications, operation.settled
    return head, *tables, reader(inputs), operation.triggers, facts[0], outputs[0]


def _block(steps: list[Step], rows: list[OpaqueRow], frame: _Frame) -> _Block:
    own = {row[-1] for row in rows}
    outside = [at for at in dict.fromkeys(at for s in steps for at in s.inputs) if at not in own]
    facts = [term and term.fact for term in (frame[at] for at in outside)]
    return _Block(steps, rows, reader(outside), facts)
