"""Pipelines: the default one, and those that are written as text."""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from collections.abc import Callable, Sequence
from typing import Any

from ...ir import instead, nearest
from ...ir.kinds import takes
from ..base import Pass, PassOptionError
from ..utils.fixpoint import Repeated, Selects
from . import plugins, registry
from .autotune import Accelerate, alternatives
from .pipeline import Pipeline

_ITEM = re.compile(r"\s*([\w-]+)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")

Item = tuple[type[Pass], dict[str, Any]]

_DEFAULT_OPTIONS = {name for pass_ in registry.default_passes() for name, _ in pass_.options()}
_COSTS = {"costs": "onnxruntime"}


def straighten(**options: Any) -> Pipeline:
    """The default pipeline: remove all control flow that constants decide, then clean up.

    Args:
        options: options of single passes, such as max_trips and max_nodes; each goes to every pass
            that has it.

    Raises:
        PassOptionError: no pass has such an option.
    """
    return Pipeline(_standard(options), repeat=True)


def accelerate(**options: Any) -> Pipeline:
    """The pipeline that makes models load and run faster under onnxruntime.

    Args:
        options: as for `straighten`.

    Raises:
        PassOptionError: no pass has such an option.
    """
    return Pipeline(_build([(Accelerate, {})], options))


@takes(text=str)
def parse_pipeline(text: str, **options: Any) -> Pipeline:
    """A pipeline from text such as `unroll-loops{max_trips=64},inline-ifs`, run once in that order.

    `straighten` stands for the default pipeline, run until it changes nothing any more, `selects`
    for that one with ifs-to-selects and predicate-loops, and `accelerate` for the one that makes
    models faster; they may stand among others, as in `straighten,predicate-loops,straighten`.

    Args:
        options: as for `straighten`; what the text itself says comes first.

    Raises:
        PassOptionError: the text does not parse, or names no pass or option.
    """
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
    """The pass of a name, or the pipeline that stands in a text like a pass.

    Raises:
        PassOptionError: there is none.
    """
    kinds = {kind.name: kind for kind in (*registry.PASSES, *_PIPELINES)}
    found = kinds[name] if name in kinds else plugins.find(name)
    if found is None:
        raise PassOptionError(f"there is no pass '{name}'; {instead(name, names())}")
    return found


def names() -> list[str]:
    """What may stand in the text of a pipeline."""
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
    known = set[str]()
    for kind, own in items:
        if kind in _PIPELINES:
            given = {name: value for name, value in shared.items() if name in _DEFAULT_OPTIONS}
            passes.append(_PIPELINES[kind]({**given, **own}))
            known |= _DEFAULT_OPTIONS
            continue
        names = {field.name for field in dataclasses.fields(kind)}
        known |= names
        given = {name: value for name, value in shared.items() if name in names}
        passes.append(make_pass(kind, {**given, **own}))
    _require_known(shared, known)
    return passes


KEYWORDS = (
    *("values", "shapes", "dims", "assume_max", "freeze_initializers", "base_dir", "verify"),
    *("strict", "max_work", "max_memory", "opset", "ir_version", "rewrite", "selects", "hints"),
    *("on_progress", "target", "timeout"),
)
"""What the public calls take beside options of passes; one that is mistyped comes here as such."""


def _require_known(options: dict[str, Any], known: set[str]) -> None:
    for name in sorted(set(options) - known):
        meant = nearest(name, [*known, *KEYWORDS])
        if meant in KEYWORDS:
            raise PassOptionError(f"there is no keyword '{name}'; did you mean '{meant}'?")
        offered = instead(name, sorted(known))
        raise PassOptionError(f"no pass of the pipeline has an option '{name}'; {offered}")


def _standard(options: dict[str, Any]) -> list[Pass]:
    """The passes of the default pipeline; what is given goes before their own options."""
    items: list[Item] = []
    for pass_ in registry.default_passes():
        own = {name: v for name, v in pass_.default_options.items() if name not in options}
        items.append((type(pass_), own))
    return _build(items, options)


def _repeated(options: dict[str, Any]) -> Repeated:
    return Repeated(tuple(_standard(options)))


def _selects(options: dict[str, Any]) -> Selects:
    """Inner Ifs go before the Loops around them; what both leave may be decided then."""
    names = {name for name, _ in registry.PredicateLoops().options()}
    own = {name: value for name, value in options.items() if name in names}
    predicated = make_pass(registry.PredicateLoops, own)
    return Selects((_repeated(options), registry.IfsToSelects(), predicated))


def _accelerated(options: dict[str, Any]) -> Accelerate:
    """The pipelines that are tried, each pass with these options and the costs of onnxruntime."""
    _require_known(options, _DEFAULT_OPTIONS)
    found = []
    for stages in alternatives():
        made = [Repeated(tuple([_costed(kind, options) for kind in stage])) for stage in stages]
        found.append((*made, registry.MergeConstants()))
    return Accelerate(tuple(found))


def _costed(kind: type[Pass], options: dict[str, Any]) -> Pass:
    names = {field.name for field in dataclasses.fields(kind)}
    known = {name: value for name, value in {**_COSTS, **options}.items() if name in names}
    return make_pass(kind, known)


_PIPELINES: dict[type[Pass], Callable[[dict[str, Any]], Pass]] = {
    Repeated: _repeated,
    Selects: _selects,
    Accelerate: _accelerated,
}
"""Pipelines that stand in a text like a pass, and how they are made of options."""


def make_pass(kind: type[Pass], options: dict[str, Any]) -> Pass:
    """A pass with options; strings are read as the option's type.

    Raises:
        PassOptionError: the pass has no such option, or a value does not fit.
    """
    types = _types_of(kind)
    known = [name for name, _ in kind().options()]
    values = {}
    for name, value in options.items():
        if name not in known:
            offered = instead(name, known, are="its options:")
            raise PassOptionError(f"{kind.name} has no option '{name}'; {offered}")
        values[name] = _read(kind, name, types[name], value)
    return kind(**values)


@functools.cache
def _types_of(kind: type[Pass]) -> dict[str, Any]:
    """The types of a pass's options; annotations are text, which takes time to evaluate."""
    return typing.get_type_hints(kind)


def _read(kind: type[Pass], name: str, wanted: Any, value: Any) -> Any:
    choices = typing.get_args(wanted)
    if typing.get_origin(wanted) is typing.Literal:
        if value in choices:
            return value
        offered = instead(str(value), choices, are="it is one of")
        raise PassOptionError(f"{kind.name}: {name} cannot be '{value}'; {offered}")
    if type(None) in choices and value in (None, "none"):
        return None
    if wanted is str:
        return str(value)
    if wanted is float:
        return _float(kind, name, value)
    if wanted is bool or bool in choices:
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise PassOptionError(f"{kind.name}: {name} is true or false, not '{value}'")
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise PassOptionError(f"{kind.name}: {name} is a number, not '{value}'") from error
    if isinstance(value, float) and number != value:
        raise PassOptionError(f"{kind.name}: {name} is a whole number, not {value}")
    if number < 0:
        raise PassOptionError(f"{kind.name}: {name} cannot be negative, but is {number}")
    return number


def _float(kind: type[Pass], name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise PassOptionError(f"{kind.name}: {name} is a number, not '{value}'") from error
