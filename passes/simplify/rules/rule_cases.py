"""Cases that a rule claims: opsets, element types, ranks, shapes, attributes."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import onnx

from ....definitions.pattern import Parameter, Pattern
from ....ops.schema_queries import schema_at
from .rule import Rule, sample
from .types import TypeClasses

SIZES = (2, 3, 2, 2, 3, 2, 3)
"""Sizes of axes, the last axis last, where they are numbers."""

_MOST_SHAPES = 12
"""The most combinations of shapes for each rank."""

_MOST_CASES = 150
"""The most values of attributes for each rank."""

_USUAL = 2
"""The rank at which all opsets and element types are tried."""


class Setting(NamedTuple):
    """Opset, types, sizes and attributes of one case.

    Attributes:
        opset: the version of the operators.
        types: the element type of each class of values.
        ranks: the rank of each `*S`.
        sizes: sizes are symbols ("symbols"), numbers ("numbers"), or all 1 ("ones").
        shapes: the number of axes and the axes of size 1 of each value that broadcasts, the shape
            of each number.
        attributes: the values of attributes' variables and of values of the header.
    """

    opset: int
    types: Mapping[str, int]
    ranks: Mapping[str, int]
    sizes: str
    shapes: Mapping[Any, tuple[int, ...]]
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        types = sorted({onnx.TensorProto.DataType.Name(t).lower() for t in self.types.values()})
        ranks = ", ".join(str(rank) for rank in self.ranks.values())
        parts = [f"opset {self.opset}", "/".join(types), f"rank {ranks}" if ranks else ""]
        parts += [f"{name} = {value}" for name, value in self.attributes.items()]
        return ", ".join(filter(None, parts))


def opsets_of(rule: Rule, pattern: Pattern) -> list[int]:
    """The first opset of each distinct version of the operators of a rule, newest first."""
    newest = onnx.defs.onnx_opset_version()
    end = min(rule.until or newest + 1, newest + 1)
    opsets, before = list[int](), None
    for opset in range(rule.since, end):
        operators = pattern.standard_operators() | rule.result.standard_operators()
        schemas = [schema_at(op, opset) for op in sorted(operators)]
        versions = [0 if s is None or s.deprecated else s.since_version for s in schemas]
        if all(versions) and versions != before:
            opsets.append(opset)
        before = versions
    return opsets[::-1]


def settings(rule: Rule, pattern: Pattern) -> Iterator[Setting]:
    """Yield the cases of a rule: each rank once, each opset and type once."""
    for newest, opset in enumerate(opsets_of(rule, pattern)):
        classes = TypeClasses(pattern, rule.result, opset)
        for number, types in enumerate(classes.assignments(list(pattern.parameters))):
            most = _MOST_CASES if newest == 0 else 3
            for ranks in _ranks(rule, pattern, all_=newest == 0 and number == 0):
                yield from _of_ranks(rule, pattern, opset, types, ranks, most)


def _of_ranks(
    rule: Rule,
    pattern: Pattern,
    opset: int,
    types: Mapping[str, int],
    ranks: Mapping[str, int],
    most: int,
) -> Iterator[Setting]:
    shapes = list(_shapes(rule, pattern, ranks))
    cases = list(rule.cases({**ranks, **_ranks_of_values(pattern, ranks)}))
    pairs = itertools.product(sample(shapes, min(most, _MOST_SHAPES)), sample(cases, most))
    for (sizes, shape_of), attributes in pairs:
        yield Setting(opset, types, ranks, sizes, shape_of, attributes)


def star_of(parameter: Parameter) -> str | None:
    """The name of the leading axes of a value; one of its own for a value of any shape."""
    if parameter.shape is None:
        return f"~{parameter.name}"
    return parameter.shape.star


def _ranks(rule: Rule, pattern: Pattern, all_: bool) -> Iterator[dict[str, int]]:
    stars = list(dict.fromkeys(filter(None, map(star_of, pattern.parameters.values()))))
    usual = _USUAL if _USUAL in rule.ranks else rule.ranks[0]
    yield dict.fromkeys(stars, usual)
    for rank in rule.ranks if stars and all_ else ():
        if rank != usual:
            yield dict.fromkeys(stars, rank)
            yield from ({**dict.fromkeys(stars, usual), s: rank} for s in stars if len(stars) > 1)


def _ranks_of_values(pattern: Pattern, ranks: Mapping[str, int]) -> dict[str, int]:
    result = {}
    for name, parameter in pattern.parameters.items():
        leading = ranks.get(star_of(parameter) or "", 0)
        result[name] = leading + (len(parameter.shape.dims) if parameter.shape else 0)
    return result


def _shapes(
    rule: Rule, pattern: Pattern, ranks: Mapping[str, int]
) -> Iterator[tuple[str, dict[Any, tuple[int, ...]]]]:
    """Yield a mode of sizes, with the shapes of numbers and of values that broadcast."""
    full = max([0, *_ranks_of_values(pattern, ranks).values()])
    choices: dict[Any, list[tuple[int, ...]]] = {}
    for name, parameter in pattern.parameters.items():
        if parameter.shape is not None and parameter.shape.broadcasts:
            own = ranks.get(parameter.shape.star or "", 0) + len(parameter.shape.dims)
            choices[name] = _masks(own)
    numbers = _numbers_in(pattern)
    units = list(dict.fromkeys([(), (1,), (1,) * full, (1,) * (full + 1)]))
    suffixes = list(dict.fromkeys([SIZES[-k:] for k in (1, full, full + 1) if k]))
    for sizes in ("symbols", "numbers", "ones") if numbers else rule.sizes:
        of_numbers = units if sizes == "symbols" else suffixes
        every = {**choices, **dict.fromkeys(numbers, of_numbers)}
        for values in itertools.product(*every.values()):
            yield sizes, dict(zip(every, values, strict=True))


def _masks(rank: int) -> list[tuple[int, ...]]:
    """Suffixes of a shape with some axes of size 1: a 0 stands for the size of the shape."""
    masks = [(0,) * rank, (), *((0,) * k for k in range(1, rank)), (1,) * rank]
    masks += [(1, *(0,) * (k - 1)) for k in range(1, rank + 1)]
    masks += [(*(0,) * (k - 1), 1) for k in range(1, rank + 1)]
    return list(dict.fromkeys(masks))


def _numbers_in(pattern: Pattern) -> list[tuple[int, int]]:
    """The places of numbers among the operands: node and operand."""
    nodes = enumerate(pattern.nodes)
    return [(n, i) for n, node in nodes for i, o in enumerate(node.inputs) if o.kind == "number"]
