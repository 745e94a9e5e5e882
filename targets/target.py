"""What a client of ONNX models takes."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..ir import Error

CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")


class TargetError(Error):
    """A target is not known, or its file does not say what one must."""


class Opsets(NamedTuple):
    """A range of opsets, both ends included."""

    first: int
    last: int

    def __contains__(self, opset: object) -> bool:
        """Whether an opset lies in it."""
        return isinstance(opset, int) and self.first <= opset <= self.last

    def nearest(self, opset: int) -> int:
        """The opset of the range that is nearest to one."""
        return min(max(opset, self.first), self.last)

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a target's lists come from.

    Attributes:
        list: the document or the part of the client's code.
        version: the version of the client.
        date: of that version.
        url: where it can be read.
    """

    list: str
    version: str
    date: datetime.date
    url: str = ""


@dataclasses.dataclass(frozen=True)
class Form:
    """In which form an operator is taken.

    Attributes:
        attributes: by name, the values that are taken.
        lacks_attributes: by name, values that are not taken.
        written: attributes that must be written, even where they have their defaults.
        unwritten: attributes that must not be written.
        constant: inputs that must be constants.
        initializers: inputs that must be initializers, and not constants of nodes.
        computed: inputs that must not be constants.
        present: inputs that must be there, though ONNX lets them be left out.
        absent: inputs that must not be there.
        ranks: by input, the ranks that it may have.
        static: inputs whose whole shape must be known.
        max_rank: the highest rank of an input.
        element_types: those that inputs and outputs may have.
        lacks_element_types: those that none of them may have.
        why: what is known about it beyond that.
    """

    attributes: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    lacks_attributes: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    written: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    initializers: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    ranks: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    static: tuple[str, ...] = ()
    max_rank: int | None = None
    element_types: frozenset[str] | None = None
    lacks_element_types: frozenset[str] = frozenset()
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Target:
    """A client, and what it takes. Operators of other domains are called "domain.Name".

    Attributes:
        name: what it is called.
        about: what it is, in a line.
        opsets: those that it reads.
        preferred_opset: the one that it reads best, if one is known.
        operators: those that it takes, each in some ranges of opsets; None where all are taken but
            those that it lacks.
        lacks: operators that it does not take, each in some ranges of opsets.
        domains: domains of which all operators are taken.
        functions: whether functions of the model's own are taken.
        own_outputs: whether each output of the model must be all that a node gives.
        own_conditions: whether a Loop's body may not give out the condition that it is fed.
        names_nodes: whether it names unnamed nodes by operator and number, as others may be named.
        anywhere: what holds for every operator.
        forms: for some, by name, the forms that are taken; one of them must fit.
        passes: the pipeline that suits it better than the default one.
        source: where the lists come from.
    """

    name: str
    about: str
    opsets: Opsets
    source: Source
    preferred_opset: int | None = None
    operators: Mapping[str, tuple[Opsets, ...]] | None = None
    lacks: Mapping[str, tuple[Opsets, ...]] = dataclasses.field(default_factory=dict)
    domains: frozenset[str] = frozenset()
    functions: bool = False
    own_outputs: bool = False
    own_conditions: bool = False
    names_nodes: bool = False
    anywhere: Form = Form()
    forms: Mapping[str, tuple[Form, ...]] = dataclasses.field(default_factory=dict)
    passes: str | None = None

    def lists(self, operator: str, opset: int) -> bool:
        """Whether it takes an operator in an opset, in some form."""
        if _in(self.lacks.get(operator), opset):
            return False
        if operator.rpartition(".")[0] in self.domains or self.operators is None:
            return True
        return _in(self.operators.get(operator), opset)

    @property
    def control_flow(self) -> tuple[str, ...]:
        """Those operators with bodies that it takes in its newest opset."""
        return tuple(name for name in CONTROL_FLOW if self.lists(name, self.opsets.last))

    def to_dict(self) -> dict[str, Any]:
        """What is told of it in lists, as JSON takes it."""
        return {
            "name": self.name,
            "about": self.about,
            "opsets": list(self.opsets),
            "preferred_opset": self.preferred_opset,
            "control_flow": list(self.control_flow),
            "operators": None if self.operators is None else len(self.operators),
            "lacks": len(self.lacks),
            "source": {**dataclasses.asdict(self.source), "date": str(self.source.date)},
        }


def _in(ranges: tuple[Opsets, ...] | None, opset: int) -> bool:
    return ranges is not None and any(opset in span for span in ranges)
