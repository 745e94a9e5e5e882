import re

import pytest
from straightline.passes import (
    FoldConstants,
    InlineFunctions,
    InlineIfs,
    PassOptionError,
    UnrollLoops,
    parse_pipeline,
    straighten,
)
from straightline.passes.manager.pipeline_parser import make_pass
from tables import table


@table(
    ("unroll-loops", [UnrollLoops()]),
    ("unroll-loops{max_trips=64},inline-ifs", [UnrollLoops(max_trips=64), InlineIfs()]),
    (" unroll-loops { max_trips = 64 } , inline-ifs ", [UnrollLoops(max_trips=64), InlineIfs()]),
    ("unroll-loops{}", [UnrollLoops()]),
    ("unroll-loops{max_trips=none,absent_cond=honour}", [UnrollLoops(absent_cond="honour")]),
    ("inline-ifs,inline-ifs", [InlineIfs(), InlineIfs()]),
)
def test_text(text, passes):
    pipeline = parse_pipeline(text)
    assert list(pipeline.passes) == passes
    assert not pipeline.repeat
    assert parse_pipeline(str(pipeline)).passes == pipeline.passes


def test_straighten_by_name():
    assert parse_pipeline("straighten").passes == straighten().passes
    assert parse_pipeline(" straighten ", max_trips=3).passes == straighten(max_trips=3).passes
    assert straighten().repeat


def test_shared_options_go_to_every_pass_that_has_them():
    pipeline = parse_pipeline("unroll-loops,inline-ifs,unroll-loops{max_trips=2}", max_trips=7)
    assert [getattr(p, "max_trips", None) for p in pipeline.passes] == [7, None, 2]


@table(
    ("", "the pipeline is empty"),
    ("unroll", "there is no pass 'unroll'; did you mean 'unroll-loops' or 'unroll-scans'?"),
    ("nope", "there is no pass 'nope'; 'straightline passes' lists them"),
    ("unroll-loops inline-ifs", "cannot be read at"),
    ("unroll-loops{max_trips=3", "cannot be read at"),
    ("unroll-loops{max_trip=3}",
     "has no option 'max_trip'; did you mean 'max_trips'? its options: 'max_trips', "),
    ("unroll-loops{max_trips}", "option 'max_trips' of unroll-loops lacks '='"),
    ("unroll-loops{max_trips=x}", "max_trips must be a number, not 'x'"),
    ("unroll-loops{max_trips=-1}", "max_trips cannot be negative"),
    ("unroll-loops{costs=nofile}", "there is no table 'nofile'; write 'none', 'onnxruntime', or"),
    ("unroll-loops{max_nodes=none}", "max_nodes must be a number, not 'none'"),
    ("unroll-loops{absent_cond=maybe}",
     "absent_cond cannot be 'maybe'; it is one of 'keep', 'ignore', 'honour'"),
    ("inline-ifs{x=1}", "inline-ifs has no option 'x'; its options: none"))  # fmt: skip
def test_unreadable_pipelines(text, message):
    with pytest.raises(PassOptionError, match=re.escape(message)):
        parse_pipeline(text)


@table(
    (UnrollLoops, {"max_nodes": None}),
    (UnrollLoops, {"max_trips": 2.5}),
    (UnrollLoops, {"max_trips": float("inf")}),
    (FoldConstants, {"max_bytes": [1]}),
)
def test_values_that_do_not_fit(kind, options):
    with pytest.raises(PassOptionError, match=kind.name):
        make_pass(kind, options)


@table(
    ({"max_trps": 3}, "has an option 'max_trps'"),
    ({"exactness": "bits"}, "an option 'exactness'; the pipeline 'simplify' has it"),
    ({"optimize_for": "load"}, "an option 'optimize_for'; the pipeline 'accelerate' has it"),
    ({"valus": {}}, "there is no keyword 'valus'; did you mean 'values'"),
    ({"strict": True}, "this call has no keyword 'strict'; transform has it"),
)
def test_an_option_that_no_pass_has(options, message):
    with pytest.raises(PassOptionError, match=message):
        straighten(**options)


def test_straighten_among_others_takes_the_options_of_its_passes():
    repeated = parse_pipeline("inline-ifs,straighten", max_trips=3, max_nodes=5).passes[1]
    assert [*repeated.passes] == [*straighten(max_trips=3, max_nodes=5).passes]
    own = parse_pipeline("straighten{max_trips=4},inline-ifs", max_trips=3).passes[0]
    assert [*own.passes] == [*straighten(max_trips=4).passes]
    with pytest.raises(PassOptionError, match="no pass of the pipeline has an option 'sense'"):
        parse_pipeline("straighten,inline-ifs", sense=1)


@table(
    ("true", True), ("True", True), ("false", False), ("FALSE", False), (True, True), (False, False)
)
def test_truth_values_of_options(value, wanted):
    assert make_pass(InlineFunctions, {"always": value}).always is wanted


def test_internal_parameters_are_no_options():
    assert "trial" not in dict(InlineFunctions().options())
    with pytest.raises(PassOptionError, match="inline-functions has no option 'trial'"):
        parse_pipeline("inline-functions{trial=none}")
    assert InlineFunctions().always is False
    assert str(InlineFunctions()) == "inline-functions"


@table(
    ({"max_trips": ["a\nb" * 999]}, "max_trips must be a number, not ['a"),
    ({"keep_nan": {1}}, "keep_nan must be true or false, not {1}"),
    ({"optimize_for": 10**999}, "optimize_for cannot be 10000"),
)
def test_an_unfit_value_is_one_short_line(options, message):
    with pytest.raises(PassOptionError, match=re.escape(message)) as caught:
        parse_pipeline("accelerate", **options)
    assert len(str(caught.value)) < 200 and "\n" not in str(caught.value)


def test_a_value_may_hold_an_equals_sign():
    with pytest.raises(
        PassOptionError, match="absent_cond cannot be 'keep=it'; did you mean 'keep'"
    ):
        parse_pipeline("unroll-loops{absent_cond=keep=it}")


@table(
    (straighten(), True),
    (straighten(exact=False), False),
    (parse_pipeline("straighten{exact=false}").passes[0], False),
    (parse_pipeline("straighten,inline-ifs").passes[0], True),
    (parse_pipeline("straighten,inline-ifs", exact=False).passes[0], False),
    (parse_pipeline("raise-recurrences"), False),
)
def test_options_of_the_default_pipeline_give_way_to_those_that_are_given(pipeline, exact):
    (found,) = [pass_ for pass_ in pipeline.passes if pass_.name == "raise-recurrences"]
    assert found.exact is exact
    assert found.straight is (len(pipeline.passes) > 1)
