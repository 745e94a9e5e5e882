"""Keywords for type checkers are those of the calls and of the passes."""

import dataclasses
import inspect
import typing

import pytest
from straightline.driver import keywords, transform
from straightline.passes.manager.autotune import Accelerate
from straightline.passes.manager.registry import PASSES


def options_of_passes():
    """Each option that a caller may give, with its types."""
    types = {}
    for kind in (*PASSES, Accelerate):
        hints = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            if not field.metadata.get("code_only"):
                types.setdefault(field.name, set()).add(hints[field.name])
    return types


def test_options_are_those_of_the_passes():
    typed = typing.get_type_hints(keywords.PassOptions)
    assert {name: {hint} for name, hint in typed.items()} == options_of_passes()


@pytest.mark.parametrize(
    ("call", "typed", "options"),
    [
        (transform.rewrite, keywords.RewriteKeywords, keywords.PassOptions),
        (transform.transform, keywords.TransformKeywords, keywords.PassOptions),
        (transform.convert_version, keywords.ConvertKeywords, None),
    ],
)
def test_keywords_are_those_of_the_calls(call, typed, options):
    parameters = inspect.signature(call).parameters.values()
    own = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    of_passes = set() if options is None else set(options.__annotations__)
    assert set(typed.__annotations__) - of_passes == own
    written = {name: typed.__annotations__[name].__forward_arg__ for name in own}
    assert written == {name: call.__annotations__[name] for name in own}
