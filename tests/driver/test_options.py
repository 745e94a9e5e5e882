import inspect
import pickle

import pytest
import straightline as sl
from straightline.batch import run
from straightline.batch.job_config import JobConfig
from straightline.driver.options import RewriteOptions
from straightline.passes import InlineIfs, Pipeline, UnrollLoops
from tables import table

PUBLIC = (sl.transform, sl.rewrite, sl.convert_version, sl.inspect)


def test_none_stands_for_a_default_and_other_names_are_options_of_passes():
    options = RewriteOptions.of(passes=None, values=None, opset=17, max_trips=3)
    assert options == RewriteOptions(opset=17, pass_options={"max_trips": 3})


@pytest.mark.parametrize("function", PUBLIC)
def test_a_public_keyword_that_has_a_default_has_that_of_the_options(function):
    defaults = RewriteOptions()
    for name, parameter in inspect.signature(function).parameters.items():
        if hasattr(defaults, name) and parameter.default is not inspect.Parameter.empty:
            assert parameter.default == getattr(defaults, name) or not parameter.default


def test_options_reach_a_worker_as_they_are(monkeypatch, tmp_path):
    (tmp_path / "m.onnx").touch()
    seen = []
    check = JobConfig.check
    monkeypatch.setattr(JobConfig, "check", lambda self: seen.append(self) or check(self))
    keywords = {"values": {"n": 2}, "opset": 17, "max_trips": 3, "max_work": 9}
    run([tmp_path / "m.onnx"], tmp_path / "out", "unroll-loops", verify={"seed": 1}, **keywords)
    (how,) = seen
    assert how.rewriting == RewriteOptions.of(passes="unroll-loops", hints=False, **keywords)
    assert pickle.loads(pickle.dumps(how)) == how != JobConfig()


def test_the_pipeline_that_options_describe():
    assert str(RewriteOptions("unroll-loops").pipeline) == "unroll-loops"
    assert RewriteOptions(selects=True).pipeline == RewriteOptions("selects").pipeline
    first = RewriteOptions([InlineIfs()], freeze_initializers=True).pipeline.passes[0]
    assert first.name == "freeze-initializers"
    whole = Pipeline([UnrollLoops(), InlineIfs()], repeat=True)
    assert RewriteOptions(whole).pipeline is whole
    fitted = RewriteOptions(target="tvm", opset=17)
    assert (fitted.pipeline.passes[0].target.name, fitted.pipeline.passes[0].opset) == ("tvm", 17)


def test_selects_are_offered_beside_the_default_pipeline_only():
    assert RewriteOptions().selecting == RewriteOptions(selects=True)
    assert RewriteOptions("straighten").selecting is None
    assert RewriteOptions(selects=True).selecting is None
    with pytest.raises(sl.PassOptionError, match="use it alone"):
        RewriteOptions("inline-ifs", selects=True)


@table(
    ({"ir_version": 9}, "ir_version applies to conversions; add opset="),
    ({"max_memory": -1}, "max_memory is -1; it must be a whole number, 0 or more"),
    ({"max_work": 1.5}, "max_work is 1.5; it must be a whole number, 0 or more"),
    ({"max_work": True}, "max_work is True; it must be a whole number, 0 or more"),
    ({"timeout": float("nan")}, "timeout is nan; it must be a number, 0 or more"),
)
def test_options_out_of_range_are_refused(keywords, message):
    with pytest.raises(sl.PassOptionError, match=message):
        RewriteOptions(**keywords)
