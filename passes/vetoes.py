"""Vetoes: constructs that a pass must leave alone, since its rewrite of them failed.

A fault of a pass, an input on which outputs differ, and an open proof have the same remedy: run
again from the caller's model, with a veto. So nothing is copied while nothing fails. During the
pass with the veto, the construct has an operator that no pass knows:

    y = Loop (n, c, x)   ->   y = straightline::kept_Loop (n, c, x)
"""

import contextlib
import contextvars
import itertools
import logging
import shlex
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

import onnx

from ..analysis.shapes.inference import ShapeInference
from ..facts.reason import Message, Reason
from ..ir import Error, Function, Model, Node, Operator, Value
from ..ir.errors import OpenAttributeError
from ..ir.faults import described, raises_faults, warn_of_fault
from ..limits import governed
from ..ops.builder import RewriteError
from ..records import field, record
from .base import Pass, PassContext
from .faults import Fault, ObserverFault, Place, isolating
from .remarks import Action, Remark

ALL = "all passes"
"""The name that stands for every pass in a veto."""
_BINDING = "freeze-initializers"
"""The pass that binds inputs for the caller; it is never left out."""
_DOMAIN, _KEPT = "straightline", "kept_"
_OPEN: Place = ("Function", "")
"""All nodes with an attribute that the calls of a function give."""
_READS_OPEN = Message("open-attribute", "{pass_name} reads attributes that calls of it give")
_STAYS = Message("construct-kept", "{cause}; the {construct} is kept{advice}")
_GONE = Message("construct-left", "{cause}; {pass_name} leaves the {construct} alone{advice}")
_LEFT_OUT = Message("pass-left-out", "{cause}; {what} left out{advice}")


@record(frozen=True)
class Veto:
    """A construct that one pass must leave alone.

    Attributes:
        place: the operator and the path of the construct; None for the whole model.
        why: what failed, as a sentence with a code.
        advice: what follows in the remark.
    """

    pass_name: str
    place: Place | None
    why: Reason = field(compare=False)
    advice: str = field(default="", compare=False)

    def remark(self, model: Model) -> Remark:
        """Return the remark on it for a result."""
        if self.place is None:
            what = "all passes are" if self.pass_name == ALL else "the pass is"
            text = _LEFT_OUT(self.why, what=what, advice=self.advice)
            return Remark(self.pass_name, "Model", model.graph.name, "noted", self._coded(text))
        op_type, path = self.place
        word = op_type.lower() if op_type in ("Loop", "Scan") else op_type
        stays = any(_nodes_at([self.place], model))
        message = _STAYS if stays else _GONE
        text = message(self.why, construct=word, pass_name=self.pass_name, advice=self.advice)
        action: Action = "kept" if stays else "noted"
        return Remark(self.pass_name, op_type, path, action, self._coded(text))

    def _coded(self, text: Reason) -> Reason:
        """Return the sentence under the code of the failure."""
        return Reason(text.plain, self.why.code, text.arguments)


@record(frozen=True)
class Vetoes:
    """The vetoes of one run."""

    entries: tuple[Veto, ...] = ()

    def places(self, pass_name: str) -> set[Place]:
        """Return the constructs that a pass must leave alone."""
        return {v.place for v in self.entries if v.pass_name == pass_name and v.place is not None}

    def covers(self, pass_name: str) -> bool:
        """Test whether a pass is left out."""
        names = (pass_name, ALL) if pass_name != _BINDING else (pass_name,)
        return any(v.place is None and v.pass_name in names for v in self.entries)

    def with_veto(self, veto: Veto) -> "Vetoes":
        """Return these with another one; one on a pass replaces those on its constructs."""
        if veto.place is not None:
            return Vetoes((*self.entries, veto))
        others = tuple([v for v in self.entries if v.pass_name != veto.pass_name])
        return Vetoes((*others, veto))

    def without(self, pass_name: str, place: Place) -> "Vetoes":
        """Return these but one."""
        mine = pass_name, place
        return Vetoes(tuple([v for v in self.entries if (v.pass_name, v.place) != mine]))

    def remarks(self, model: Model) -> tuple[Remark, ...]:
        """Return a remark for each."""
        return tuple([veto.remark(model) for veto in self.entries])

    @contextlib.contextmanager
    def in_force(self) -> Iterator[None]:
        """Let all passes in this block heed them, and report their faults."""
        token, flag = _current.set(self), isolating.set(True)
        try:
            yield
        finally:
            isolating.reset(flag)
            _current.reset(token)


NONE = Vetoes()
ALARMS = ("internal-error", "refuted-rewrite", "invalid-rewrite")
"""Codes of failures that a caller must hear of: straightline is at fault."""
_numbers = itertools.count()
"""Numbers of hidden operators, each once in a process."""
_current: contextvars.ContextVar[Vetoes | None] = contextvars.ContextVar("vetoes", default=None)


def current_vetoes() -> Vetoes:
    """Return the vetoes in force."""
    return _current.get() or NONE


def is_alarm(remark: Remark) -> bool:
    """Test whether a remark is about a fault of straightline."""
    return remark.code in ALARMS


def warn_of(remarks: Iterable[Remark]) -> None:
    """Warn of faults of straightline.

    Warns:
        FaultWarning: for each.
    """
    for remark in remarks:
        if is_alarm(remark):
            warn_of_fault(remark.reason)


@contextlib.contextmanager
def heeding_vetoes(
    pass_: Pass, model: Model, context: PassContext, staying: Collection[Node] = ()
) -> Iterator[bool]:
    """Let a pass run in the block under the vetoes in force; false if it must not run.

    Args:
        pass_, model, context: the pass, and what it runs on.
        staying: more nodes that it must leave alone.

    Raises:
        Fault: the pass raised what is neither an error for the caller nor a fault of the machine.
    """
    vetoes = _current.get()
    if vetoes is None and not staying:
        yield True
        return
    # Without isolation (the plain Python API of one pass) an exception reaches the caller as it is.
    if vetoes is None:
        with _hiding(staying, model, context):
            yield True
        return
    places = vetoes.places(pass_.name)
    hidden = list(dict.fromkeys([*staying, *_nodes_at(places, model)])) if places else staying
    # A function would seem unused if its calls were hidden.
    if vetoes.covers(pass_.name) or any(n.op.function_key in model.functions for n in hidden):
        yield False
        return
    try:
        with _hiding(hidden, model, context) if hidden else contextlib.nullcontext():
            yield True
    # Errors for the caller, a fault already wrapped, and the machine's own troubles: another run
    # without this construct would meet them again.
    except OpenAttributeError as error:
        raise Fault(pass_.name, () if _OPEN in places else (_OPEN,)) from error
    except (Error, Fault, OSError, MemoryError):
        raise
    except Exception as error:
        if raises_faults():
            raise
        raise Fault(pass_.name, tuple(dict.fromkeys(_places_of(error)))) from error


def _nodes_at(places: Collection[Place], model: Model) -> Iterator[Node]:
    for graph in model.graphs():
        for node in graph.unordered_nodes():
            if (node.op_type, node.path) in places or (node.op.references and _OPEN in places):
                yield node


@contextlib.contextmanager
def _hiding(nodes: Collection[Node], model: Model, context: PassContext) -> Iterator[None]:
    """Give nodes operators that no pass knows; their copies get the originals back, too.

    A pass of passes hides nodes around its own passes, which may hide more.
    """
    originals: dict[str, Operator] = {}
    nodes = [node for node in nodes if not is_hidden(node)]
    declared = _declare_outputs(nodes, model)
    versions: dict[Model | Function, dict[str, int]] = {}
    for node in nodes:
        op, root, number = node.op, node.root, str(next(_numbers))
        originals[number] = op
        if op.domain in root.opset_imports:
            versions.setdefault(root, {})[op.domain] = root.opset_imports[op.domain]
        # Bodies stay attributes of the hidden operator, so passes still see and rewrite what is
        # inside.
        hidden = Operator(f"{_KEPT}{op.op_type}", op.attributes, _DOMAIN, number, op.extra)
        node.parent.set_operator(node, hidden)
    context.analyses.invalidate()
    yield
    for graph in model.graphs():
        for node in graph.unordered_nodes():
            if is_hidden(node) and node.op.overload in originals:
                op = originals[node.op.overload]
                # A pass has rewritten a body of the node meanwhile: the operator comes back with
                # the new one.
                if node.op.attributes is not op.attributes:
                    op = op.with_attributes(node.op.attributes.values())
                graph.set_operator(node, op)
    for value, info in declared.items():
        value.info = info
    infos = model.graph.value_infos
    model.graph.value_infos = [
        entry for entry in infos if not isinstance(entry, Value) or entry not in declared
    ]
    for root, imports in versions.items():  # the pass may have dropped what seemed unused
        root.opset_imports = {**imports, **root.opset_imports}
    context.analyses.invalidate()


def _declare_outputs(
    nodes: Collection[Node], model: Model
) -> dict[Value, onnx.ValueInfoProto | None]:
    """Declare outputs of nodes that lack a type, and return what they had instead.

    Nothing infers the types of a hidden operator, which nodes after it may need. Declarations
    inside of bodies have a meaning of their own and stay.
    """
    inference = ShapeInference(model)
    declared: dict[Value, onnx.ValueInfoProto | None] = {}
    outer = [node for node in nodes if node.graph is model.graph]
    for value in [value for node in outer for value in node.outputs]:
        if value is not None and value.type is None:
            declared[value] = value.info
            value.type = inference.fact(value).type_proto(private=False)
            model.graph.value_infos.append(value)
    return declared


def _places_of(error: BaseException) -> Iterator[Place]:
    """Yield the nodes that the frames of an exception name, the most likely first.

    A pass visits a construct before its parts, so nodes with graphs and outer frames come first.
    """
    # The first frames are that of the block's guard, and the one with the block.
    _, block, *frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    # An exception object that is raised once more keeps the frames of its first time at the end.
    mine = itertools.takewhile(lambda frame: frame.f_code is not block.f_code, frames)
    locals_ = [value for frame in mine for value in [*frame.f_locals.values()]]
    nodes = [value for value in locals_ if isinstance(value, Node)]
    for node in sorted(nodes, key=lambda node: not node.bodies):
        op_type = node.op_type.removeprefix(_KEPT) if is_hidden(node) else node.op_type
        yield op_type, node.path


def is_hidden(node: Node) -> bool:
    """Test for a construct that a veto hides from the pass that runs."""
    return node.domain == _DOMAIN and node.op_type.startswith(_KEPT)


_FAULT = Message("internal-error", "internal error in {pass_name}{place}")
_MOST_GUESSES = 4
"""Constructs that are tried in vain before a pass is left out."""
_MOST_CONSTRUCTS = 16
"""Constructs at which a pass may fail before it is left out: each costs a run of all passes."""

_log = logging.getLogger(__name__)
T = TypeVar("T")


class StrictError(RewriteError):
    """A pass left a construct alone although strict mode asked for all of them."""


@record(frozen=True)
class Reproduction:
    """The model and the options of a rewrite, as a shell takes them.

    Attributes:
        file: the file of the model; "" for a model in memory.
        options: the options of the command; None where these cannot be written.
        command: "rewrite" or "convert".
    """

    file: str = ""
    options: Sequence[str] | None = None
    command: str = "rewrite"

    def advice(self, message: str, *options: str, what: str = "") -> str:
        """Return how to report a failure.

        Args:
            message: words of the message with which `rewrite --strict` fails.
            options: more options of that command.
            what: the failure.
        """
        please = f"; please report ({what})" if what else "; please report"
        if self.options is None:
            return please
        again = shlex.join([*self.options, "--strict", *options])
        source = self.file or "model.onnx"
        command = ["straightline", "reduce", source, "smallest.onnx"]
        command += ["--while", f"straightline {self.command} {{}} - {again}", "--match", message]
        saved = "" if self.file else f"save the model as {source} and run "
        return f"{please}; for the smallest model {saved}{shlex.join(command)}"


class Isolation:
    """Runs of the same passes, each under one more veto, until one ends.

    Args:
        vetoes: those in force from the beginning.
        reproduce: return how to make a failure again.
        strict: raise for the first fault.

    Attributes:
        vetoes: those of the next run, or of the one that came to its end.
        done: true after that run.
    """

    def __init__(
        self,
        vetoes: Vetoes,
        reproduce: Callable[[], Reproduction] = Reproduction,
        *,
        strict: bool = False,
    ) -> None:
        self.vetoes, self.done = vetoes, False
        self._strict, self._is_first = strict, True
        self._history = _History(reproduce)

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Let the block be one run, on a new copy of the caller's model.

        Raises:
            StrictError: (`strict`) a pass raised an unexpected exception.
        """
        is_first, self._is_first = self._is_first, False
        try:
            with self.vetoes.in_force(), governed(anew=not is_first):
                yield
            self.done = True
        except ObserverFault as fault:
            assert fault.__cause__ is not None
            raise fault.__cause__ from None
        except Fault as fault:
            assert fault.__cause__ is not None
            _log.info("%s raised", fault.pass_name, exc_info=fault.__cause__)
            self.vetoes = self._history.after(fault, self.vetoes)
            if self._strict:
                veto = self.vetoes.entries[-1]
                raise StrictError(f"{veto.why}{veto.advice}") from fault.__cause__


def isolated(
    run: Callable[[], T],
    vetoes: Vetoes,
    reproduce: Callable[[], Reproduction] = Reproduction,
    *,
    strict: bool = False,
) -> tuple[T, Vetoes]:
    """Run passes, and again with a veto for each fault; return the result and all vetoes.

    Args:
        run: the run of the passes on a new copy of the caller's model.
        vetoes, reproduce, strict: as of `Isolation`.

    Raises:
        StrictError: (`strict`) a pass raised an unexpected exception.
    """
    isolation = Isolation(vetoes, reproduce, strict=strict)
    while not isolation.done:
        with isolation.attempt():
            result = run()
    return result, isolation.vetoes


class _History:
    """The faults of the runs so far."""

    def __init__(self, reproduce: Callable[[], Reproduction]) -> None:
        self._reproduce = reproduce
        self._tried: dict[str, set[Place]] = {}
        self._last: dict[str, Place] = {}

    def after(self, fault: Fault, vetoes: Vetoes) -> Vetoes:
        """Return vetoes by which the next run may come further.

        A construct that the pass still visits at its fault, although it could not know it, was a
        wrong guess.
        """
        name, error = fault.pass_name, fault.__cause__
        assert error is not None
        tried = self._tried.setdefault(name, set())
        last = self._last.get(name)
        if last is not None and last in fault.places:
            vetoes = vetoes.without(name, last)
        effective = len(vetoes.places(name))
        place = next((place for place in fault.places if place not in tried), None)
        if effective >= _MOST_CONSTRUCTS or len(tried) - effective >= _MOST_GUESSES:
            place = None
        if place is not None:
            tried.add(place)
            self._last[name] = place
        if place == _OPEN:
            return vetoes.with_veto(Veto(name, place, _READS_OPEN(pass_name=name)))
        at = "" if place is None else f" at {place[0]} '{place[1]}'"
        why = _FAULT(pass_name=name, place=at)
        message = _FAULT(pass_name=name, place="")
        advice = self._reproduce().advice(message, "--no-verify", what=described(error))
        return vetoes.with_veto(Veto(name, place, why, advice))
