"""Public calls without their options: what `dev/tools/options.py` completes by the table."""

from __future__ import annotations

from typing import NamedTuple

_EXAMPLE = """\
    >>> import straightline as sl
    >>> model = sl.ir.parse(
    ...     '<ir_version: 8, opset_import: ["" : 17]> g (int64 n, float[2] x) => (float[2] y) {'
    ...     "y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e)"
    ...     "{ d = Identity (c) e = Add (a, a) }> }"
    ... )
"""
_MODEL = (
    "a path, a file object, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`;"
    " it is never changed."
)
_PASSES = (
    'None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs", or pass'
    " objects"
)
_WARNS = """\
Warns:
    FaultWarning: a pass failed or changed the outputs at a construct, which stays.
    NotVerifiedWarning: (`verify`, not `strict`) nothing could be compared."""
_KINDS = "onnx_ir.Model | Exported"


class Call(NamedTuple):
    """One public call.

    Attributes:
        name: its name.
        second: its parameter after the model.
        result: the type of its result, of any model.
        overloads: kinds of models, each with the type of the result.
        arguments: the documentation of the positional parameters.
        summary: the docstring before the arguments.
        rest: the docstring after them.
        body: the lines of code.
    """

    name: str
    second: str
    result: str
    overloads: tuple[tuple[str, str], ...]
    arguments: tuple[tuple[str, str], ...]
    summary: str
    rest: str
    body: tuple[str, ...]


def _overloads(result: str) -> tuple[tuple[str, str], ...]:
    kinds = ("MessageSource", "onnx.ModelProto"), (_KINDS, "onnx_ir.Model"), ("Model", "Model")
    return tuple([(kind, result.format(model)) for kind, model in kinds])


CALLS = (
    Call(
        "transform",
        "passes: Passes = None",
        "Outcome[Any]",
        _overloads("Outcome[{}]"),
        (("model", _MODEL), ("passes", f"{_PASSES}; `()` for a conversion alone.")),
        """Rewrite a model, convert it to an opset, and prove or compare the outputs.

`rewrite` and `convert_version` are its short forms.
""",
        f"""\
Returns:
    the model with remarks, timings, hints and verdict; `outcome.model` has the type of `model`,
    or is an `onnx.ModelProto` for a path or bytes.

Raises:
    straightline.Error: the model cannot be read or is not well formed; a value or shape does
        not fit; (`verify`) the outputs differ, and no construct can be kept for that;
        (`strict`) a construct stays; (`opset`) nodes cannot be converted.

{_WARNS}

Examples:
{_EXAMPLE}\
    >>> outcome = sl.transform(model, values={{"n": 3}}, opset=18)
    >>> [node.op_type for node in outcome.model.graph.nodes()]
    ['Add', 'Add', 'Add']
    >>> outcome.opset.after, outcome.left, outcome.verdict.proved
    (18, (), True)""",
        (
            "request = RewriteOptions.of_call(locals())",
            "verification = VerifyOptions.of(verify, unproved)",
            "outcome = transform_model(model, request, verification, on_progress=on_progress)",
            "warn_of(outcome.remarks)",
            "return outcome",
        ),
    ),
    Call(
        "rewrite",
        "passes: Passes = None",
        "Any",
        _overloads("{}"),
        (("model", _MODEL), ("passes", f"{_PASSES}.")),
        """Remove the control flow that is decided before run time.
""",
        f"""\
Returns:
    the rewritten model, of the same kind; an `onnx.ModelProto` for a path or bytes.

Raises:
    straightline.Error: the model cannot be read or is not well formed; a value or shape does
        not fit; (`verify`) the outputs differ, and no construct can be kept for that;
        (`strict`) a construct is kept.

{_WARNS}

Examples:
{_EXAMPLE}\
    >>> straight = sl.rewrite(model, values={{"n": 3}})
    >>> [node.op_type for node in straight.graph.nodes()]
    ['Add', 'Add', 'Add']""",
        (
            "request = RewriteOptions.of_call(locals(), hints=False)",
            "# The pause ends when the IR is gone, so that nothing of it is scanned twice.",
            "with collector_pause():",
            '    short: dict[str, Any] = {"what": "the rewrite", "is_short": True}',
            "    verification = VerifyOptions.of(verify, unproved)",
            "    outcome = transform_model(model, request, verification, **short)",
            "    warn_of(outcome.remarks)",
            "    return outcome.model",
        ),
    ),
    Call(
        "convert_version",
        "target_opset: int",
        "Any",
        _overloads("{}"),
        (
            ("model", _MODEL),
            ("target_opset", "from 7 to the newest version that the installed onnx knows."),
        ),
        """Convert a model to another version of ONNX's operator set.

All nodes are converted, in every graph, body and function, or none.
""",
        """\
Returns:
    the converted model, of the same kind; an `onnx.ModelProto` for a path or bytes.

Raises:
    straightline.Error: the model cannot be read or is not well formed; a value or shape does
        not fit; nodes cannot be carried over (a `straightline.versions.ConversionError` that
        lists them all and tells which opset the model reaches); (`verify`) the outputs differ.

Warns:
    NotVerifiedWarning: (`verify`) nothing could be compared.

Examples:
    >>> import straightline as sl
    >>> model = sl.ir.parse(
    ...     '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2] y)'
    ...     "{ y = ReduceMax <axes = [1], keepdims = 0> (x) }"
    ... )
    >>> newer = sl.convert_version(model, 18)
    >>> newer.opset(), len(newer.graph.nodes()[-1].inputs)
    (18, 2)""",
        (
            "from ..version_converter.convert import check_whole_number",
            "",
            'check_whole_number("target_opset", target_opset)  # None would convert to no opset',
            'fixed: dict[str, Any] = {"passes": (), "opset": target_opset, "hints": False}',
            "request = RewriteOptions.of_call(locals(), **fixed)",
            "options = VerifyOptions.of(verify, unproved)",
            "with collector_pause():",
            '    short: dict[str, Any] = {"what": "the conversion", "is_short": True}',
            "    outcome = transform_model(model, request, options, **short)",
            "    warn_of(outcome.remarks)",
            "    return outcome.model",
        ),
    ),
    Call(
        "inspect",
        "passes: Passes = None",
        "Inspection",
        (),
        (("model", _MODEL), ("passes", f"{_PASSES}.")),
        """Inspect control flow: what decides it, and what `rewrite` with the same arguments does.

A copy of the model is rewritten in memory. Suggestions are tried in the same way.
""",
        f"""\
Returns:
    the constructs with their deciders, hints, and the size of the result.

Raises:
    straightline.Error: as `rewrite`.

Examples:
{_EXAMPLE}\
    >>> print(sl.inspect(model, values={{"n": 3}}))
    Loop 'y': rewritten, unrolled, 3 trips
    >>> sl.inspect(model).constructs[0].decided_by
    "input 'n'\"""",
        (
            "from .inspect import inspect_model",
            "",
            "return inspect_model(model, RewriteOptions.of_call(locals()))",
        ),
    ),
)
"""The calls, in the order of the file."""
