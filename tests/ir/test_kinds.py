import contextlib
import inspect
import warnings

import numpy as np
import pytest
import straightline as sl
from tables import table

MODULES = (
    sl,
    sl.batch,
    sl.interop,
    sl.ir,
    sl.passes,
    sl.reference,
    sl.report,
    sl.targets,
    sl.versions,
)
WRONG = (5, None, object(), [1], {"a": 1}, "no such file", 3.5, b"xx", print)


def functions():
    for module in MODULES:
        for name in getattr(module, "__all__", dir(module)):
            function = getattr(module, name)
            if inspect.isfunction(function) and name[0] != "_":
                yield f"{module.__name__}.{name}", function


def required(function):
    """How many arguments a function cannot be called without."""
    parameters = inspect.signature(function).parameters.values()
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in places for p in parameters)


@pytest.mark.parametrize(("name", "function"), [*functions()])
def test_an_argument_of_the_wrong_kind_is_an_error_of_ours(name, function):
    count = required(function)
    for value in WRONG if count else ():
        try:
            result = function(*[value] * count)
        except sl.Error as error:
            assert str(error) and "\n" not in str(error).strip(), name
        else:
            assert result is not NotImplemented


@table(
    (lambda: sl.ir.save(5, "x.onnx"), "save: 'model' must be Model or ModelProto, not int"),
    (lambda: sl.save("x.onnx", "y.onnx"), "'model' must be Model or ModelProto, not str"),
    (lambda: sl.ir.parse(text=5), "parse: 'text' must be str, not int"),
    (lambda: sl.report.page(None), "page: 'report' must be Report, not NoneType"),
    (lambda: sl.rewrite(b"", values={3: 3}), "values must be a mapping by name, .*, not {3: 3}"),
    (lambda: sl.Pipeline("selects"), "Pipeline: 's' is not a pass; parse text with parse_pipeline"),
)
def test_the_error_names_the_argument_and_its_kind(call, text):
    with pytest.raises(sl.KindError, match=text) as caught:
        call()
    assert isinstance(caught.value, TypeError)


def test_a_missing_argument_is_told_by_python():
    with pytest.raises(TypeError, match="path"):
        sl.ir.save(sl.ir.parse('<ir_version: 8, opset_import: ["" : 17]> g () => () { }'))


ODD = (5, -1, "no such", b"xx", (1, 2), {1: 2}, {"x": object()}, np.array([1, 2]), np.array(3))
MODEL = sl.ir.parse('<ir_version: 8, opset_import: ["" : 17]> g (int64 n) => (int64 y) {'
                    "y = Loop (n, , n) <body = b (int64 i, bool c, int64 a) => (bool d, int64 e)"
                    "{ d = Identity (c) e = Add (a, i) }> }")  # fmt: skip


FIRST = {
    **{sl.convert_version: (18,), sl.prove: (MODEL,), sl.verify: (MODEL,)},
    **{sl.reference.run: ({"n": np.array(2)},), sl.save: ("no such folder/model.onnx",)},
}
"""The arguments of calls after the model."""


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (call, name)
        for call in (*FIRST, sl.transform, sl.rewrite, sl.inspect)
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name != "timeout"
    ]
    + [(sl.rewrite, name) for name in ("max_trips", "absent_cond", "costs", "exact", "passes")],
)
def test_a_keyword_of_the_wrong_kind_is_an_error_of_ours(call, keyword):
    second = FIRST.get(call, ())
    for value in (*ODD, None, "a" * 5000, [None], {"x": np.array([1, 2])}):
        with contextlib.suppress(sl.Error), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert call(MODEL, *second, **{keyword: value}) is not NotImplemented


@table(
    (
        lambda: sl.transform(MODEL, on_progress=3),
        "on_progress must be a function of stage, .*, not 3",
    ),
    (lambda: sl.prove(MODEL, MODEL, search="no"), "search must be True or False, not 'no'"),
    (lambda: sl.rewrite(MODEL, assume=["loop"]), r"assume must be a mapping .*, not \['loop'\]"),
    (lambda: sl.inspect(MODEL, base_dir=3), "base_dir must be the path of a folder, not 3"),
    (lambda: sl.save(MODEL, "x", keep="abc"), "keep must be a list of paths, not 'abc'"),
    (lambda: sl.reference.run(MODEL, {}, operators=[int]), "operators must be a list of classes"),
)
def test_a_keyword_of_the_wrong_kind_is_named(call, text):
    with pytest.raises(sl.KindError, match=text):
        call()
