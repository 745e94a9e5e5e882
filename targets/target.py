"""Target: the operators and forms that a client of ONNX models supports."""

import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..ir import Error
from ..ops.schema_queries import is_defined
from ..records import asdict, field, record

CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")
ANY_SHAPE = "*"
"""Name in `static` for all values of a node."""


class TargetError(Error):
    """A target does not exist, or its file is invalid."""


class Opsets(NamedTuple):
    """A range of opsets, both ends included.

    Examples:
        >>> import straightline as sl
        >>> 13 in sl.targets.Opsets(7, 17), sl.targets.Opsets(7, 17).nearest(20)
        (True, 17)
    """

    first: int
    last: int

    def __contains__(self, opset: object) -> bool:
        """Test whether an opset lies in the range."""
        return isinstance(opset, int) and self.first <= opset <= self.last

    def nearest(self, opset: int) -> int:
        """The opset of the range that is nearest to one."""
        return min(max(opset, self.first), self.last)

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


@record(frozen=True)
class Source:
    """Source of a target's lists.

    Attributes:
        list: the document or the part of the client's code.
        version: the version of the client.
        date: the date of that version.
        url: its address.

    Examples:
        >>> import straightline as sl
        >>> sl.targets.find("onnxruntime").source.url.startswith("https:")
        True
    """

    list: str
    version: str
    date: datetime.date
    url: str = ""


@record(frozen=True)
class Tried:
    """Record of trials of a list in its client, with models of one node.

    Attributes:
        version: the client with its version.
    """

    version: str
    date: datetime.date


@record(frozen=True)
class Form:
    """Form in which a target supports an operator.

    Attributes:
        attributes: by name, the supported values.
        lacks_attributes: by name, unsupported values.
        written: attributes that must be written, even where they have their defaults.
        unwritten: attributes that must not be written; their defaults are dropped.
        constant: inputs that must be constants.
        initializers: inputs that must be initializers, and not constants of nodes.
        computed: inputs that must not be constants.
        from_data: inputs that must be neither constants nor computed from sizes alone.
        nonnegative: inputs or attributes that must hold no negative number.
        filled: inputs that must hold at least one number.
        wide: inputs that must have no axis of length 1 after the channels.
        present: inputs and outputs that must be present, though ONNX makes them optional.
        absent: inputs that must be absent.
        ranks: by input or output, the ranks that it may have.
        types: by input or output, the element types that it may have.
        not_from: by input, operators that must not compute it, since the client fuses the two
            wrongly.
        static: inputs whose whole shape must be known; ANY_SHAPE for all inputs and outputs.
        whole: inputs that must have the shape of the result, or hold one number.
        scalars: inputs whose constants of one number must have no axes.
        from_sizes: inputs that must be constants, or computed from sizes alone.
        max_inputs: the highest number of inputs.
        max_uses: the highest number of such nodes in a graph.
        max_outputs: the highest number of outputs; trailing unused ones do not count.
        max_tuple: the highest number of axes that a tuple of indices names.
        whole_tuples: true if a tuple of indices must name all axes.
        constants_first: true if no constant may follow a computed operand.
        depthwise: true if each group must have one channel, of the input and of the output.
        even_pads: true if the attribute pads must be the same at both ends of each axis.
        same_ranks: true if the branches of an If must give outputs of the same ranks.
        same_shapes: true if they must give outputs of the same shapes.
        max_rank: the highest rank of an input.
        element_types: the types that inputs and outputs may have.
        lacks_element_types: the types that none of them may have.
        why: further explanation.

    Examples:
        >>> import straightline as sl
        >>> form = sl.targets.Form(ranks={"X": (3, 4)}, why="there is no kernel for more")
        >>> form.ranks["X"]
        (3, 4)
    """

    attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    lacks_attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    initializers: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    from_data: tuple[str, ...] = ()
    nonnegative: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    ranks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    not_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    static: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    from_sizes: tuple[str, ...] = ()
    max_inputs: int | None = None
    max_uses: int | None = None
    max_outputs: int | None = None
    max_tuple: int | None = None
    whole_tuples: bool = False
    constants_first: bool = False
    depthwise: bool = False
    even_pads: bool = False
    same_ranks: bool = False
    same_shapes: bool = False
    max_rank: int | None = None
    element_types: frozenset[str] | None = None
    lacks_element_types: frozenset[str] = frozenset()
    why: str = ""


@record(frozen=True)
class Target:
    """Client with its supported operators. Operators of other domains are named "domain.Name".

    Attributes:
        name: its name.
        about: a description in one line.
        opsets: the opsets that it reads.
        preferred_opset: the opset that it reads best, if one is known.
        operators: the supported operators, each in some ranges of opsets; None where all are
            supported but those in `lacks`.
        lacks: unsupported operators, each in some ranges of opsets.
        domains: domains of which all operators are supported.
        standard: true if it supports what ONNX defines and nothing else.
        functions: true if functions of models are supported.
        own_outputs: true if each output of the model needs a node without other outputs.
        inner: with own_outputs, operators that must not compute an output.
        own_conditions: true if a Loop's body must not return its condition unchanged.
        known_sizes: true if it compiles some operators with known sizes only.
        computes_empty: true if it reads no constants without elements of two axes or more.
        raw_data: true if it misreads constants that are not stored as raw data.
        names_nodes: true if it names unnamed nodes by operator and number without a check for
            collisions.
        names_sizes: true if it refuses inputs with open sizes that have no names.
        names_bodies: true if it takes bodies with the same name for one.
        known_declarations: true if it refuses other sizes than values inside declare, by names or
            numbers.
        short_integers: true if it holds integers of 64 bits in 32.
        raises: true if it runs some operators outside of ONNX faster than the nodes that they
            stand for.
        anywhere: the form of every operator.
        forms: by operator, the supported forms; a node must have one of them.
        passes: its pipeline, if it differs from the default one.
        source: the source of the lists.
        tried: the client that ran each listed operator, if one did.

    Examples:
        >>> import straightline as sl
        >>> target = sl.targets.find("onnxruntime")
        >>> target.name, target.lists("Exp", 17)
        ('onnxruntime', True)
    """

    name: str
    about: str
    opsets: Opsets
    source: Source
    preferred_opset: int | None = None
    operators: Mapping[str, tuple[Opsets, ...]] | None = None
    lacks: Mapping[str, tuple[Opsets, ...]] = field(default_factory=dict)
    domains: frozenset[str] = frozenset()
    standard: bool = False
    functions: bool = False
    own_outputs: bool = False
    inner: frozenset[str] = frozenset()
    own_conditions: bool = False
    computes_empty: bool = False
    raw_data: bool = False
    names_nodes: bool = False
    names_sizes: bool = False
    names_bodies: bool = False
    known_sizes: bool = False
    known_declarations: bool = False
    short_integers: bool = False
    raises: bool = False
    anywhere: Form = Form()
    forms: Mapping[str, tuple[Form, ...]] = field(default_factory=dict)
    passes: str | None = None
    tried: Tried | None = None

    def lists(self, operator: str, opset: int) -> bool:
        """Test whether the target supports an operator in an opset, in some form."""
        # What it lacks counts first, also in a domain of which it supports all else.
        if _in(self.lacks.get(operator), opset):
            return False
        domain, _, name = operator.rpartition(".")
        if self.standard and domain not in self.domains:
            return is_defined(name, opset, domain)
        if domain in self.domains or self.operators is None:
            return True
        return _in(self.operators.get(operator), opset)

    @property
    def control_flow(self) -> tuple[str, ...]:
        """The operators with bodies that it supports in its newest opset."""
        return tuple(name for name in CONTROL_FLOW if self.lists(name, self.opsets.last))

    @property
    def basis(self) -> str:
        """The ground on which a node counts as supported."""
        text = "according to its operator list"
        if self.standard:
            return text
        return text + (", not tried" if self.tried is None else f", tried in {self.tried.version}")

    def to_dict(self) -> dict[str, Any]:
        """The target's entry in lists, for JSON."""
        return {
            "name": self.name,
            "about": self.about,
            "opsets": list(self.opsets),
            "preferred_opset": self.preferred_opset,
            "control_flow": list(self.control_flow),
            "operators": None if self.operators is None else len(self.operators),
            "lacks": len(self.lacks),
            "source": {**asdict(self.source), "date": str(self.source.date)},
            "tried": None
            if self.tried is None
            else {"version": self.tried.version, "date": str(self.tried.date)},
        }


def _in(ranges: tuple[Opsets, ...] | None, opset: int) -> bool:
    return ranges is not None and any(opset in span for span in ranges)
