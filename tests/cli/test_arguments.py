"""Arguments in groups: what typer is given of them, and the options that they stand for."""

import dataclasses
import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from straightline.cli import commands
from straightline.cli.arguments import (
    ComparisonArguments,
    ManyArguments,
    ModelArguments,
    OutputArguments,
    PipelineArguments,
    ProofArguments,
    demanded,
)
from straightline.cli.parsing import Given
from straightline.cli.rewrite_session import Session
from straightline.driver.options import RewriteOptions
from straightline.verification.runs.options import VerifyOptions


def session(stage="rewriting", target=None, whole=False, **keywords):
    about, groups = (
        ModelArguments(fits=target),
        (ProofArguments(), ComparisonArguments(), OutputArguments(), ManyArguments()),
    )
    return Session(SimpleNamespace(), stage, about, *groups, keywords, whole_target=whole)


@pytest.mark.parametrize("name", ["rewrite", "convert", "inspect", "verify"])
def test_typer_is_given_each_argument_by_itself_once(name):
    parameters = inspect.signature(getattr(commands, name)).parameters
    assert {"timeout", "max_memory", "as_json"} <= {*parameters}
    assert not any(dataclasses.is_dataclass(one.annotation) for one in parameters.values())


EMPTY = {"assume_max": {}, "assume": {}}


def test_selects_stands_for_a_pipeline():
    assert PipelineArguments().keywords() == {"passes": None, **EMPTY}
    found = PipelineArguments("inline-ifs", max_trips=3, keep_nan=True).keywords()
    assert found == {"passes": "inline-ifs", **EMPTY, "max_trips": 3, "keep_nan": True}
    assert PipelineArguments(selects=True).keywords()["passes"] == "selects"
    with pytest.raises(typer.BadParameter, match="give it alone"):
        PipelineArguments("inline-ifs", selects=True).keywords()


def test_a_model_and_its_inputs():
    values, dims = [Given("n", 2, "n=2")], [Given("T", 6, "T=6")]
    about = ModelArguments(fits="tvm", max_work=9, assignments=values, sizes=dims)
    wanted = RewriteOptions.of(
        target="tvm", max_work=9, values={"n": 2}, dims={"T": 6}, opset=17, max_trips=2
    )
    assert about.options(opset=17, max_trips=2) == wanted


def test_a_target_is_named_once():
    assert ModelArguments().target() is None
    assert ModelArguments(fits="tvm").target() == "tvm"
    assert ModelArguments(fits_file=Path("npu.toml")).target() == Path("npu.toml")
    with pytest.raises(typer.BadParameter, match="give one of them"):
        ModelArguments(fits="tvm", fits_file=Path("npu.toml")).target()


def test_a_comparison():
    arguments = ComparisonArguments(Path("in.npz"), [Given("x", [2], "x=2")], "both", seed=3)
    wanted = VerifyOptions(
        True, Path("in.npz"), "both", seed=3, sample_shapes={"x": [2]}, dims={"T": 6}
    )
    assert arguments.options(True, dims={"T": 6}) == wanted


def test_a_certificate_demands_a_proof():
    assert demanded(None, None) is None and demanded(False, None) is False
    assert demanded(None, Path("c.json")) is True
    with pytest.raises(typer.BadParameter, match="leave out --no-prove"):
        demanded(False, Path("c.json"))
    with pytest.raises(typer.BadParameter, match="leave out --no-verify"):
        ProofArguments(verify=False, prove=True).demanded()


def test_what_lacks_another_option_is_refused():
    session(target="tvm", whole=True).check()
    session("converting", opset=17).check()
    session("converting", target="tvm", opset=None).check()
    with pytest.raises(typer.BadParameter, match="name one with --target"):
        session(whole=True).check()
    with pytest.raises(typer.BadParameter, match="--opset N, or --target NAME"):
        session("converting", opset=None).check()
