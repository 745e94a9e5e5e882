"""Pipelines from text and options."""

import dataclasses
import functools
import importlib
import re
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ...ir import instead, nearest
from ...ir.kinds import short, takes
from ...options.table import KEYWORDS
from ..base import Pass, PassOptionError
from ..costs.goal import GoalName
from ..costs.table import BLOCK_BYTES, cost_table
from ..utils.fixpoint import Repeated, Selects
from . import plugins, registry
from .autotune import Accelerate, StageKinds, Stages, alternatives, blocked_alternatives
from .pipeline import Pipeline
from .simplify_pipeline import SIMPLIFIERS, Simplify

_FORMER = {
    "scan-8-to-9": ("Scan8To9", "convert to opset 9 (opset=9, --opset 9)"),
    "scan-9-to-8": ("Scan9To8", "convert to opset 8 (opset=8, --opset 8)"),
}
"""By former name of a pass its class, now a conversion, and what to name instead."""
_ITEM = re.compile(r"\s*([\w-]+)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")

Item = tuple[type[Pass], dict[str, Any]]
T = TypeVar("T")

_DEFAULT_OPTIONS = {name for pass_ in registry.DEFAULT_PASSES for name, _ in pass_.options()}
_SIMPLIFY_OPTIONS = {name for kind in SIMPLIFIERS for name, _ in kind().options()}
_COSTS = {"costs": "onnxruntime"}
_ACCELERATE_OPTIONS = {name for name, _ in Accelerate().options()}


def of_straighten(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that passes of `straighten` have."""
    return {name: value for name, value in options.items() if name in _DEFAULT_OPTIONS}


def straighten(**options: Any) -> Pipeline:
    """The default pipeline: remove all control flow that constants decide, then clean up.

    Args:
        options: options of single passes, such as max_trips and max_nodes; each goes to every pass
            that has it.

    Raises:
        PassOptionError: no pass has such an option.

    Examples:
        >>> from straightline import passes
        >>> pipeline = passes.straighten(max_trips=64)
        >>> "unroll-loops{max_trips=64}" in str(pipeline)
        True
    """
    return Pipeline(_cached(_standard, options), repeat=True)


def accelerate(**options: Any) -> Pipeline:
    """The pipeline that makes models load and run faster under onnxruntime.

    Args:
        options: as for `straighten`.

    Raises:
        PassOptionError: no pass has such an option.

    Examples:
        >>> from straightline import passes
        >>> print(passes.accelerate())
        accelerate
    """
    return Pipeline(_build([(Accelerate, {})], options))


@takes(text=str)
def parse_pipeline(text: str, **options: Any) -> Pipeline:
    """Parse a pipeline such as `unroll-loops{max_trips=64},inline-ifs`, run once in order.

    `straighten` is the default pipeline, run to a fixed point, `selects` adds ifs-to-selects and
    predicate-loops to it, `simplify` makes the flat graph smaller, and `accelerate` makes models
    faster. They combine with others, as in `straighten,predicate-loops,straighten`.

    Args:
        options: as for `straighten`; options in the text take precedence.

    Raises:
        PassOptionError: a syntax error, or an unknown pass or option.

    Examples:
        >>> from straightline import passes
        >>> str(passes.parse_pipeline("unroll-loops{max_trips=64},inline-ifs"))
        'unroll-loops{max_trips=64},inline-ifs'
    """
    # The named pipeline is run to a fixpoint; within a list it is one stage among others.
    if text.strip() == "straighten":
        return straighten(**options)
    items, position = [], 0
    while position < len(text):
        item = _ITEM.match(text, position)
        if item is None:
            raise PassOptionError(
                f"pipeline '{text}' cannot be read at '{text[position:]}'; write for example"
                " unroll-loops{max_trips=64},inline-ifs"
            )
        position = item.end()
        items.append((find_pass(item[1]), _parse_options(item[1], item[2] or "")))
    if not items:
        raise PassOptionError("the pipeline is empty; name a pass (see 'straightline passes')")
    return Pipeline(_build(items, options))


def find_pass(name: str) -> type[Pass]:
    """Find the pass or named pipeline of a name.

    Raises:
        PassOptionError: an unknown name.
    """
    kinds = {kind.name: kind for kind in (*registry.PASSES, *_PIPELINES)}
    match = kinds[name] if name in kinds else plugins.find(name) or _former(name)
    if match is None:
        others = instead(name, names(), listing="'straightline passes'")
        raise PassOptionError(f"there is no pass '{name}'; {others}")
    return match


def _former(name: str) -> type[Pass] | None:
    """Find what a former name of a pass stands for, with a warning; None for another name."""
    if name not in _FORMER:
        return None
    kind, instead_of_it = _FORMER[name]
    warnings.warn(
        f"straightline 0.3 removes the pass '{name}'; {instead_of_it}",
        DeprecationWarning,
        stacklevel=2,
    )
    # Conversions are floors above: a former name alone asks for one from here.
    conversions = importlib.import_module("straightline.version_converter.former_passes")
    pass_: type[Pass] = getattr(conversions, kind)
    return pass_


def former_class(name: str) -> type[Pass]:
    """Find the former pass of a class name.

    Raises:
        AttributeError: there is none.
    """
    former = {kind: former for former, (kind, _) in _FORMER.items()}
    pass_ = _former(former.get(name, ""))
    if pass_ is not None:
        return pass_
    raise AttributeError(f"module 'straightline.passes' has no attribute {name!r}")


def names() -> list[str]:
    """The names that the text of a pipeline may contain."""
    own = (*_PIPELINES, *registry.PASSES)
    return [*(kind.name for kind in own), *plugins.names()]


def _parse_options(name: str, text: str) -> dict[str, Any]:
    options = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise PassOptionError(f"option '{part}' of {name} lacks '=' and a value")
        options[key.strip()] = value.strip()
    return options


def _build(items: Sequence[Item], shared: dict[str, Any]) -> list[Pass]:
    passes: list[Pass] = []
    valid = set[str]()
    for kind, own in items:
        if kind in _PIPELINES:
            allowed = _allowed(kind)
            defaults = {name: value for name, value in shared.items() if name in allowed}
            # Options of the text win over those of the call.
            passes.append(_PIPELINES[kind]({**defaults, **own}))
            valid |= allowed
            continue
        valid |= {field.name for field in dataclasses.fields(kind)} - _code_only(kind)
        passes.append(make_pass(kind, {**_options_of(kind, shared), **own}))
    _require_known(shared, valid)
    return passes


def _require_known(options: dict[str, Any], valid: set[str]) -> None:
    keywords = "passes", *KEYWORDS
    for name in sorted(set(options) - valid):
        match = nearest(name, [*valid, *keywords])  # a mistyped keyword is parsed as an option
        if match in keywords:
            if match == name:
                raise PassOptionError(f"this call has no keyword '{name}'; transform has it")
            raise PassOptionError(f"there is no keyword '{name}'; did you mean '{match}'?")
        offered = instead(name, sorted(valid))
        owners = [kind.name for kind in (Selects, Simplify, Accelerate) if name in _allowed(kind)]
        if owners:
            offered = f"the pipeline '{owners[0]}' has it"
        raise PassOptionError(f"no pass of the pipeline has an option '{name}'; {offered}")


def _standard(options: dict[str, Any]) -> tuple[Pass, ...]:
    """The passes of the default pipeline; these options override their own."""
    items: list[Item] = []
    for pass_ in registry.DEFAULT_PASSES:
        own = {name: v for name, v in pass_.default_options.items() if name not in options}
        items.append((type(pass_), own))
    return tuple(_build(items, options))


def _repeat(options: dict[str, Any]) -> Repeated:
    return Repeated(_standard(options))


def _selects(options: dict[str, Any]) -> Selects:
    """Selects for inner Ifs, then for Loops, then another round."""
    own = _options_of(registry.PredicateLoops, options)
    predicated = make_pass(registry.PredicateLoops, own)
    return Selects((_repeat(options), registry.IfsToSelects(), predicated))


def _simplify(options: dict[str, Any]) -> Simplify:
    """`straighten`, then the passes that make graphs smaller; an option goes to each that has
    it."""
    return _cached(_new_simplify, options)


def _cached(make: Callable[[dict[str, Any]], T], options: dict[str, Any]) -> T:
    """Call a constructor of passes, once for options: it takes as long as ten to fifty nodes."""
    if not all(type(value) in (bool, int, str) for value in options.values()):
        return make(options)
    # With the types, since True and 1 are equal keys of a cache.
    typed = [(name, type(value), value) for name, value in options.items()]
    result: T = _made(make, *typed)
    return result


@functools.lru_cache(64)
def _made(make: Callable[[dict[str, Any]], Any], *options: tuple[str, type, Any]) -> Any:
    return make({name: value for name, _, value in options})


def _new_simplify(options: dict[str, Any]) -> Simplify:
    _require_known(options, _allowed(Simplify))
    own = of_straighten(options)
    options = {"exactness": "values", "large": True, **options}
    return Simplify((_repeat(own), *_simplifiers(options)))


def _simplifiers(options: dict[str, Any]) -> list[Pass]:
    """The passes that make graphs smaller, in a pipeline that repeats them."""
    passes = [make_pass(kind, _options_of(kind, options)) for kind in SIMPLIFIERS]
    return [
        dataclasses.replace(p, repeats=False) if isinstance(p, registry.ApplyRules) else p
        for p in passes
    ]


def _accelerate(options: dict[str, Any]) -> Accelerate:
    """The alternatives of autotuning, with these options and onnxruntime's costs."""
    _require_known(options, _allowed(Accelerate))
    options = {**_COSTS, "exactness": "reals", **options}
    pass_ = make_pass(Accelerate, _options_of(Accelerate, options))
    assert isinstance(pass_, Accelerate)
    table = cost_table(pass_.costs)
    block_bytes = BLOCK_BYTES if table is None else table.block
    return dataclasses.replace(
        pass_,
        alternatives=_pipelines(alternatives(pass_.optimize_for), options, block_bytes),
        blocked=_pipelines(blocked_alternatives(), options, block_bytes),
        last=tuple(_simplifiers(options)),
    )


def _pipelines(
    pipelines: Sequence[Sequence[StageKinds]], options: dict[str, Any], block_bytes: int
) -> tuple[Stages, ...]:
    """The passes of pipelines, with their options."""
    results = []
    for stages in pipelines:
        repeats = []
        for stage in stages:
            passes = [make_pass(kind, _options_of(kind, options)) for kind in stage.kinds]
            if stage.blocks:
                passes = [_with_blocks(pass_, block_bytes) for pass_ in passes]
            repeats.append(Repeated(tuple([_for_loops(p, stage.copies) for p in passes])))
        results.append((*repeats, registry.MergeConstants()))
    return tuple(results)


def _with_blocks(pass_: Pass, block_bytes: int) -> Pass:
    """The pass with the size of blocks, if it has one."""
    if not isinstance(pass_, registry.VectorizeLoops | registry.BlockLoops):
        return pass_
    return dataclasses.replace(pass_, block_bytes=block_bytes)


def _allowed(kind: type[Pass]) -> set[str]:
    """The options of a named pipeline."""
    more = _SIMPLIFY_OPTIONS if kind in (Simplify, Accelerate) else set[str]()
    return _DEFAULT_OPTIONS | more | (_ACCELERATE_OPTIONS if kind is Accelerate else set())


def _for_loops(pass_: Pass, goal: GoalName) -> Pass:
    """The pass with its goal for copies, or for Ifs in bodies alone."""
    if isinstance(pass_, registry.IfsToSelects):
        return dataclasses.replace(pass_, in_loops=True)
    if not isinstance(pass_, registry.UnrollLoops | registry.UnrollScans):
        return pass_
    return dataclasses.replace(pass_, copies=goal)


def _options_of(kind: type[Pass], options: dict[str, Any]) -> dict[str, Any]:
    """The options that a pass has."""
    names = _names_of(kind)
    return {name: value for name, value in options.items() if name in names}


_PIPELINES: dict[type[Pass], Callable[[dict[str, Any]], Pass]] = {
    Repeated: _repeat,
    Selects: _selects,
    Simplify: _simplify,
    Accelerate: _accelerate,
}
"""The named pipelines, and their constructors from options."""


def make_pass(kind: type[Pass], options: dict[str, Any]) -> Pass:
    """Construct a pass with options; strings are parsed as the option's type.

    Raises:
        PassOptionError: an unknown option, or an invalid value.
    """
    values = {}
    for name, value in options.items():
        if name not in _names_of(kind) or name in _code_only(kind):
            valid = [name for name, _ in kind().options()]
            offered = instead(name, valid, are="its options:")
            raise PassOptionError(f"{kind.name} has no option '{name}'; {offered}")
        values[name] = _read(kind, name, _types_of(kind)[name], value)
    return kind(**values)


@functools.cache
def _names_of(kind: type[Pass]) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(kind))


@functools.cache
def _types_of(kind: type[Pass]) -> dict[str, Any]:
    """The types of a pass's options, cached: annotations take time to evaluate."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


@functools.cache
def _code_only(kind: type[Pass]) -> frozenset[str]:
    """The options of a pass that only code can set."""
    fields = dataclasses.fields(kind)
    return frozenset(field.name for field in fields if field.metadata.get("code_only"))


def _read(kind: type[Pass], name: str, type_: Any, value: Any) -> Any:
    choices = typing.get_args(type_)
    if getattr(value, "ndim", 0):  # an array has no truth value
        raise PassOptionError(f"{kind.name}: {name} cannot be {short(value)}")
    if typing.get_origin(type_) is typing.Literal:
        if value in choices:
            return value
        offered = instead(str(value), choices, are="it is one of")
        raise PassOptionError(f"{kind.name}: {name} cannot be {short(value)}; {offered}")
    if type(None) in choices and value in (None, "none"):
        return None
    if type_ is str:
        if name == "costs":  # a pass reads the table only where it meets a loop of its kind
            cost_table(str(value))
        return str(value)
    if type_ is float:
        return _float(kind, name, value)
    if type_ is bool or bool in choices:
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise PassOptionError(f"{kind.name}: {name} must be true or false, not {short(value)}")
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise PassOptionError(
            f"{kind.name}: {name} must be a number, not {short(value)}"
        ) from error
    if isinstance(value, float) and number != value:
        raise PassOptionError(f"{kind.name}: {name} must be a whole number, not {value}")
    if number < 0:
        raise PassOptionError(f"{kind.name}: {name} cannot be negative, but is {number}")
    return number


def _float(kind: type[Pass], name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise PassOptionError(
            f"{kind.name}: {name} must be a number, not {short(value)}"
        ) from error
