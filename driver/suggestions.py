"""Suggestions for residual control flow: options, each tried on a copy first."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from onnx import TensorProto

from ..analysis.constants.provenance import Origin, Provenance
from ..analysis.iterations.constructs import control_flow, deciding
from ..analysis.iterations.trip_count import is_ambiguous
from ..analysis.iterations.trip_count_bound import parts
from ..display import Block, Code, Line, OnProgress, silent
from ..facts.reason import Message, Reason
from ..ir import Error, Function, Model, Node, Value
from ..ir.lazy import lazy_property
from ..ir.option_names import by
from ..limits import limit
from ..options.table import OPTIONS
from ..passes import PassContext, Remark, Result
from ..passes.base import INEXACT, Meter
from ..passes.remarks import kept_constructs
from ..passes.vetoes import NONE, isolated
from ..records import field, record, replace
from .job import Request, count_all_nodes
from .options import RewriteOptions
from .reproduction import written

_log = logging.getLogger(__name__)

_COPIES = Message("copies-stay", "copies of it stay")

Key = tuple[str, str]
"""The operator and the path of a construct."""

STAND_INS = {4: 7, 1: 2}
"""Numbers that are tried for what only the user knows, and others that must decide as much: with a
single iteration, what ends a Loop makes no difference."""
_TRUE = (4, 2)
"""The numbers with which a switch is tried as true."""
_HONOUR = "absent_cond=honour"
"""The reading of an absent condition that onnxruntime has, and what exporters count on."""
_INEXACT = "exact=false"
"""The setting that allows operators whose kernels round on their own."""
_ASSUMED = 16
"""A maximum of iterations that is tried."""
_MOST_TRIALS = limit("hints")
_MOST_NAMED = 3
_MOST_NODES = limit("hint_nodes")
"""So many nodes at most are rewritten on trial, all trials together."""
NO_PASS = Message("no-pass", "no pass of the pipeline rewrites {operator}")
_CALL_KEPT = Message("call-kept", "{construct}: kept, {cause}")


@record(frozen=True)
class Hint:
    """Options that were tried and decide constructs.

    Attributes:
        options: as the command line takes them: ("--set", "n=4").
        arguments: as `transform` takes them beside those that were given: {"values": {"n": 4}}.
        decides: the constructs that go, such as "Loop 'y'".
        stand_ins: the inputs whose values or sizes are the user's to choose, or "maximum".

    >>> import straightline as sl
    >>> sl.Hint(("--set", "n=4"), ("Loop 'y'",), ("n",), {"values": {"n": 4}}).call
    "values={'n': 4}"
    """

    options: tuple[str, ...]
    decides: tuple[str, ...]
    stand_ins: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @lazy_property
    def decided(self) -> frozenset[str]:
        """The constructs that go, as a set."""
        return frozenset(self.decides)

    def renamed(self, names: Mapping[str, str]) -> Hint:
        """Return the hint with other names for constructs."""
        decides = dict.fromkeys(names.get(name, name) for name in self.decides)
        return replace(self, decides=tuple(decides))

    @property
    def call(self) -> str:
        """The arguments as they are written in a call."""
        return ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the hint in types that JSON has."""
        lists = ("options", "decides", "stand_ins")
        fields: dict[str, Any] = {name: list(getattr(self, name)) for name in lists}
        return {**fields, "arguments": dict(self.arguments)}


class Refuted(NamedTuple):
    """Options that do not decide a construct, and the reasons why it stays."""

    options: tuple[str, ...]
    reasons: tuple[Reason, ...]


@record(frozen=True)
class Advice:
    """Results of trials.

    Attributes:
        hints: options that decide something; a construct is in one hint at most, or in one that
            keeps its numbers and one up to rounding.
        refuted: options that were tried in vain, by construct.
    """

    hints: tuple[Hint, ...] = ()
    refuted: Mapping[Key, Refuted] = field(default_factory=dict)

    def reason(self, key: Key, reason: str) -> Reason:
        """Correct the options that a reason names: drop what was tried in vain, and mark what was
        not tried."""
        sentence = Reason.of(reason)
        if any(named(key) in hint.decided for hint in self.hints):
            return sentence
        if key not in self.refuted:
            return Reason.join(_untried(part) for part in sentence.parts)
        options, reasons = self.refuted[key]
        plain = [part.plain for part in sentence.parts]
        other = [part.plain for why in reasons for part in why.parts if part.plain not in plain]
        if key[0] == "If" and any(part.arguments.get("by_data") for part in sentence.parts):
            other.append(f"{by(f'--assume {key[1]}=then|else')} assumes a branch")
        more = "; ".join([f"it stays with {' '.join(options)}", *dict.fromkeys(other)])
        parts = [part.replaced(part.plain) for part in sentence.parts]
        return Reason.join([*parts, sentence.replaced(more)])


def _untried(part: Reason) -> Reason:
    if not part.options:
        return part
    return part.replaced(f"{part.plain}; {by(*part.options)} may decide it, which was not tried")


@record(frozen=True)
class Way:
    """Options to add to a rewrite: values and shapes of inputs, a maximum of a Loop, and others."""

    values: tuple[Value, ...] = ()
    shapes: tuple[Value, ...] = ()
    freeze: bool = False
    selects: bool = False
    loop: str = ""
    honour: bool = False
    inexact: bool = False

    def arguments(self, size: int) -> dict[str, Any]:
        """Return the keywords of `transform`, with a number for the user's own values."""
        name = "selects" if self.selects else "straighten"
        settings = [_HONOUR] * self.honour + [_INEXACT] * self.inexact
        arguments: dict[str, Any] = {
            "values": {value.name: _stand_in(value, size) for value in self.values},
            "shapes": {
                value.name: [dim if isinstance(dim, int) else size for dim in value.shape or ()]
                for value in self.shapes
            },
            "assume_max": {self.loop: _ASSUMED} if self.loop else {},
            "passes": f"{name}{{{','.join(settings)}}}" if settings else "",
            "freeze_initializers": self.freeze,
            "selects": self.selects and not settings,
        }
        return {name: value for name, value in arguments.items() if value}

    def options(self, size: int) -> tuple[str, ...]:
        """Return the same as options of the command line."""
        rows = {row.name: row for row in OPTIONS}
        arguments = self.arguments(size).items()
        return tuple([word for name, value in arguments for word in written(rows[name], value)])

    def __or__(self, other: Way) -> Way:
        """Join two ways."""
        values, shapes = self.values + other.values, self.shapes + other.shapes
        names = ("freeze", "selects", "loop", "honour", "inexact")
        rest: Any = {name: getattr(self, name) or getattr(other, name) for name in names}
        return Way(tuple(dict.fromkeys(values)), tuple(dict.fromkeys(shapes)), **rest)

    def applied(self, request: Request, size: int) -> Request:
        """Return the rewrite with these options added."""
        options, added = request.options, self.arguments(size)
        chosen = {name: added[name] for name in ("passes", "selects") if name in added}
        pipeline = replace(options, **chosen).pipeline if chosen else options.pipeline
        # Targets, opsets and verification are left out: they decide no construct and cost
        # the most time.
        tried = RewriteOptions(
            pipeline,
            values={**options.values, **added.get("values", {})},
            shapes={**options.shapes, **added.get("shapes", {})},
            dims=options.dims,
            assume=options.assume,
            assume_max={**options.assume_max, **added.get("assume_max", {})},
            freeze_initializers=self.freeze,
            base_dir=options.base_dir,
        )
        return Request(request.original, tried)  # read once


def advise(
    request: Request, after: Model, remarks: Iterable[Remark], on_progress: OnProgress = silent
) -> Advice:
    """Try what could decide the control flow that a rewrite has left.

    Each way is tried once, for all constructs that it may help, and few of them are.

    Args:
        request: what was asked for.
        remarks: remarks on what was kept.
        on_progress: called before each trial.
    """
    residual = {(node.op_type, node.path): node for node in control_flow(after)}
    trials = _Trials(request, len(residual), on_progress)
    selects = request.options.selecting is not None
    evidence, firsts, provenance = _Evidence(residual), list[Way](), Provenance()
    for key, node in residual.items():
        # The first way of a construct fixes the fewest inputs; the union of all first
        # ways is tried below.
        for number, way in enumerate(_ways(node, selects, provenance)):
            firsts += [way] if not number else []
            if evidence.decides(key) or evidence.took(way, trials, [key]):
                break
    undecided = [key for key in residual if not evidence.decides(key)]
    if undecided and len(set(firsts)) > 1:  # one may be decided and leave copies of what it holds
        evidence.took(reduce(or_, firsts), trials, undecided)
    elif len(evidence.ways) > 1:  # each leaves what the others decide
        evidence.took(reduce(or_, evidence.ways), trials, list(residual), all_of_them=True)
    # Operators with kernels of their own could replace these.
    offers = [r for r in remarks if INEXACT.code in [part.code for part in r.sentence.parts]]
    offered = list(residual.keys() & {(remark.op_type, remark.path) for remark in offers})
    if offered and selects:  # beside what a shape decides: it works at any length
        evidence.took(Way(inexact=True), trials, offered)
    return Advice(tuple(evidence.hints.values()), evidence.refuted)


class _Evidence:
    """Evidence of trials on the constructs that a rewrite left."""

    def __init__(self, residual: Collection[Key]) -> None:
        self.residual = residual
        self.hints: dict[tuple[str, ...], Hint] = {}
        self.ways: list[Way] = []
        self.refuted: dict[Key, Refuted] = {}

    def decides(self, key: Key) -> bool:
        """Return whether there is a hint for a construct."""
        return any(named(key) in hint.decided for hint in self.hints.values())

    def took(
        self, way: Way, trials: _Trials, targets: Sequence[Key], *, all_of_them: bool = False
    ) -> bool:
        """Try a way; where it decides any of some constructs, or all of them, add a hint.

        A construct that the way alone was meant for, and that stays, is refuted.
        """
        tried = trials.of(way)
        if tried is None:
            return False
        size, stay = tried
        options = way.options(size)
        more = {op_type for op_type, path in stay if (op_type, path) not in self.residual}
        # A new construct may be a copy of one that is gone.
        decided = [key for key in self.residual if key not in stay and key[0] not in more]
        # A union is worth its longer command only if it decides everything.
        if all_of_them and len(decided) < len(targets):
            return False
        if not any(key in decided for key in targets):
            if len(targets) == 1:
                reasons = tuple(stay.get(targets[0], [_COPIES()]))
                self.refuted[targets[0]] = Refuted(options, reasons)
            return False
        names = tuple(value.name for value in (*way.values, *way.shapes))
        names += ("maximum",) if way.loop else ()
        decides, arguments = tuple(map(named, decided)), way.arguments(size)
        self.hints.setdefault(options, Hint(options, decides, names, arguments))
        self.ways.append(way)
        for key in decided:
            self.refuted.pop(key, None)
        return True


def hint_blocks(
    hints: Iterable[Hint], write: Callable[[Hint], str] | None = None
) -> Iterator[Block]:
    """Yield each hint as it is pasted; by default as arguments of a call."""
    for hint in hints:
        own = f", with your own {_listed(hint.stand_ins)}" if hint.stand_ins else ""
        read = _HONOUR in str(hint.arguments.get("passes"))
        read_as = ", where its condition ends it, as in onnxruntime" if read else ""
        read_as += ", up to rounding" if _INEXACT in str(hint.arguments.get("passes")) else ""
        yield Line(f"this decides {_listed(hint.decides)}{own}{read_as}:", "left")
        yield Code(hint.call if write is None else write(hint))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def named(key: Key) -> str:
    """Name a construct as remarks do."""
    return f"{key[0]} '{key[1]}'"


class _Trials:
    """Rewrites on copies, each way once; `residual` constructs were left without.

    All together they add at most as many nodes as one rewrite may. A trial that keeps a construct
    for what others have added is no evidence.

    Attributes:
        added_nodes: the number of nodes that they have added.
        is_cut: true if the last trial lacked nodes that others have added.
        cut: the ways of such trials; a way that adds options to one would lack them, too.
    """

    def __init__(self, request: Request, residual: int, on_progress: OnProgress) -> None:
        self.request = request
        self.residual = residual
        self.on_progress = on_progress
        self.done: dict[Way, tuple[int, dict[Key, list[Reason]]] | None] = {}
        self.nodes = 0
        self.added_nodes = 0
        self.is_cut = False
        self.cut: list[Way] = []

    def of(self, way: Way) -> tuple[int, dict[Key, list[Reason]]] | None:
        """Return the stand-in number, and the constructs that stay with it, with the reasons.

        None stands for a way that was not tried, or that is refused.
        """
        if way not in self.done:
            if len(self.done) >= _MOST_TRIALS or self.nodes > _MOST_NODES:
                return None
            if any(way | cut == way for cut in self.cut):
                return None
            self.done[way] = self._tried(way)
            self.cut += [way] if self.is_cut else []
        return self.done[way]

    def _tried(self, way: Way) -> tuple[int, dict[Key, list[Reason]]] | None:
        best = None
        for size, other in STAND_INS.items() if way.values or way.shapes else ((4, 4),):
            options = way.options(size)
            _log.debug("trying %s for the remaining control flow", " ".join(options))
            self.on_progress("trying", " ".join(options), len(self.done), _MOST_TRIALS)
            stay = self._stay(way.applied(self.request, size))
            # A stand-in may decide by chance, such as the one iteration that ends any
            # Loop. The hint is offered only if another number decides as much.
            if stay is not None and len(stay) < self.residual and way.options(other) != options:
                # What is refused with another number needs this one.
                more = self._stay(way.applied(self.request, other))
                stay = None if self.is_cut else {**(more or {}), **stay}
            if stay is not None and (best is None or len(stay) < len(best[1])):
                best = size, stay
            if self.is_cut or (stay is not None and len(stay) < self.residual):
                break
        return best

    def _stay(self, request: Request) -> dict[Key, list[Reason]] | None:
        before, self.is_cut = self.added_nodes, False
        try:
            # A fault of a pass in a trial is not a fault of the user's rewrite:
            # isolation keeps the construct.
            result, _ = isolated(lambda: self._rewritten(request), NONE)
        except Error:  # with these options it would be refused, so they are not offered
            return None
        self.is_cut = any(_fits_alone(remark.sentence, before) for remark in result.remarks)
        if self.is_cut:
            return None
        reasons: dict[Key, list[Reason]] = {
            (node.op_type, node.path): [] for node in control_flow(result.model)
        }
        for remark in result.kept:
            if (remark.op_type, remark.path) in reasons:
                reasons[remark.op_type, remark.path].append(remark.sentence)
        return reasons

    def _rewritten(self, request: Request) -> Result[Model]:
        model, _ = request.prepare()
        self.nodes += count_all_nodes(model)
        run = PassContext(meter=Meter(self.added_nodes, self.added_nodes))
        try:
            result = request.pipeline.apply(model, trial=True, run=run)
        finally:
            # A trial that raised has used its share of the nodes as well.
            self.added_nodes = max(self.added_nodes, run.meter.added_nodes, run.meter.growth)
        self.nodes += count_all_nodes(result.model)
        return result


def _fits_alone(reason: Reason, before: int) -> bool:
    """Test whether a construct stays only for the nodes that were added before a trial."""
    return any(
        part.arguments["needed"] - before <= part.arguments["max_nodes"]
        for part in reason.parts
        if {"added", "needed", "max_nodes"} <= part.arguments.keys()
    )


def _ways(node: Node, selects: bool, provenance: Provenance) -> Iterator[Way]:
    """Yield ways that may decide a construct, the best first."""
    sources = [origin for part in deciding(node) for origin in provenance.of(*part)]
    sources = list(dict.fromkeys(sources))
    if node.is_op("Loop") and selects and is_ambiguous(node):
        yield from _readings(sources)
    # With a single source that no option decides, such as data, fixing the others decides
    # nothing.
    if sources and all(origin.option for origin in sources):
        way = _way(sources)
        if way is not None:
            yield way
            if selects:
                yield replace(way, selects=True)
    elif selects and sources and node.is_op("If", "Loop"):
        yield Way(selects=True)
        bounds = list(_bounds(node, provenance))
        way = _way(bounds) if bounds else None
        if way is not None:
            yield replace(way, selects=True)
        # A maximum is an assumption about data, which samples can refute; so it comes
        # last.
        if node.is_op("Loop") and "body" in node.bodies:
            yield Way(selects=True, loop=node.path)


def _readings(sources: Sequence[Origin]) -> Iterator[Way]:
    """Yield ways that may decide a Loop whose condition has two readings."""
    inputs = [origin for origin in sources if origin.option]
    way = _way(inputs) or Way()
    for chosen in dict.fromkeys((Way(), way)):
        yield replace(chosen, honour=True)
        yield replace(chosen, honour=True, selects=True)


def _bounds(node: Node, provenance: Provenance) -> Iterator[Origin]:
    """Yield what would bound the trip count of a Loop: its maximum, parts of its condition."""
    if not node.is_op("Loop") or "body" not in node.bodies:
        return
    values = [part.value for part in parts(node.body("body").outputs[0])]
    for value in [*node.inputs[:1], *values]:
        origins = [] if value is None or value.constant is not None else provenance.of(value)
        if origins and all(origin.option for origin in origins):
            yield from origins


def _way(sources: Iterable[Origin]) -> Way | None:
    """Return the way that makes all sources known; None where one cannot be written."""
    values, shapes, freeze = [], [], False
    for origin in sources:
        if origin.option.startswith("--set") and origin.value is not None:
            values.append(origin.value)
        elif origin.option.startswith("--shape") and origin.value is not None:
            if origin.value.shape is None:
                return None
            shapes.append(origin.value)
        elif origin.option == "--freeze-initializers":
            freeze = True
        else:
            return None
    return Way(tuple(dict.fromkeys(values)), tuple(dict.fromkeys(shapes)), freeze)


def _stand_in(value: Value, size: int) -> Any:
    """Return a value for an input: a number that the model compares it with, or this one."""
    # A switch such as a sample rate decides its If only at the number that the model compares
    # it with.
    compared = _compared_with(value)
    kind = value.elem_type
    one: Any = size if compared is None else compared
    if kind == TensorProto.BOOL:
        one = size in _TRUE
    elif kind == TensorProto.STRING:
        one = "a" if compared is None else compared
    shape = value.shape
    return [one] * shape[0] if shape and len(shape) == 1 and isinstance(shape[0], int) else one


def _compared_with(value: Value) -> Any:
    """Return a constant to which the model compares an input, such as a sample rate."""
    graph = value.owner
    assert graph is not None
    for node in graph.users(value):
        if isinstance(node, Node) and node.is_op("Equal"):
            for other in node.inputs:
                constant = None if other is None else other.constant
                if constant is not None and constant.is_readable and constant.size == 1:
                    return constant.numpy().reshape(-1)[0].item()
    return None


def left_over(model: Model, remarks: Iterable[Remark]) -> list[Remark]:
    """Return a remark for each node of a rewritten model that still holds graphs."""
    reasons = kept_constructs(remarks)
    calls = calls_kept(model, reasons)
    residual = []
    for node in control_flow(model):
        default = Remark("", node.op_type, node.path, "kept", NO_PASS(operator=node.op_type))
        remark = reasons.get((node.op_type, node.path), default)
        why = with_call(remark.reason, node.root, calls)
        residual.append(replace(remark, reason=why))
    return residual


def calls_kept(
    model: Model, reasons: dict[tuple[str, str], Remark]
) -> dict[Model | Function, Remark]:
    """Return the first kept call of each function."""
    calls: dict[Model | Function, Remark] = {}
    # The first call is enough for the reader: all calls of a function share its body.
    for graph in model.graphs() if model.functions and reasons else ():
        for node in graph.nodes():
            function = model.functions.get(node.op.function_key)
            remark = reasons.get((node.op_type, node.path))
            if function is not None and remark is not None:
                calls.setdefault(function, remark)
    return calls


def with_call(reason: str, root: Model | Function, calls: dict[Model | Function, Remark]) -> Reason:
    """Add the reason of a call, where a parameter of its function is the reason."""
    sentence, call = Reason.of(reason), calls.get(root)
    functions = {name for part in sentence.parts for name in part.arguments.get("functions", ())}
    if call is None or str(root) not in functions:
        return sentence
    construct = f"{call.op_type} '{call.path}'"
    return Reason.join([sentence, _CALL_KEPT(call.reason, construct=construct)])
