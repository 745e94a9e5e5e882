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
    ProofArguments,
    TableArguments,
    demanded,
    field_of,
    parameter_of,
)
from straightline.cli.parsing import Given
from straightline.cli.rewrite_session import Session
from straightline.driver.options import RewriteOptions
from straightline.options.table import options_on
from straightline.verification.runs.options import VerifyOptions


def session(stage="rewriting", target=None, whole=False, **keywords):
    table = TableArguments("convert", {"target": target, **keywords})
    groups = ModelArguments(), ProofArguments(), ComparisonArguments(), OutputArguments()
    return Session(
        SimpleNamespace(), stage, table, *groups, ManyArguments(), {}, whole_target=whole
    )


@pytest.mark.parametrize("name", ["rewrite", "convert", "inspect", "verify"])
def test_typer_is_given_each_argument_by_itself_once(name):
    parameters = inspect.signature(getattr(commands, name)).parameters
    names = {name.removeprefix("option_") for name in parameters}
    assert {"timeout", "max_memory", "as_json"} <= names
    assert not any(dataclasses.is_dataclass(one.annotation) for one in parameters.values())


def of_rewrite(**values):
    return TableArguments("rewrite", values)


def test_selects_stands_for_a_pipeline():
    bare = of_rewrite().keywords()
    assert bare["passes"] is None and bare["values"] == {} and "keep_nan" not in bare
    found = of_rewrite(passes="inline-ifs", max_trips=3, keep_nan=True).keywords()
    assert found == {**bare, "passes": "inline-ifs", "max_trips": 3, "keep_nan": True}
    assert of_rewrite(selects=True).keywords()["passes"] == "selects"
    with pytest.raises(typer.BadParameter, match="use it alone"):
        of_rewrite(passes="inline-ifs", selects=True).keywords()


def test_a_model_and_its_inputs():
    values, dims = [Given("n", 2, "n=2")], [Given("T", 6, "T=6")]
    table = of_rewrite(target="tvm", max_work=9, values=values, dims=dims, max_trips=2)
    wanted = RewriteOptions.of(
        target="tvm", max_work=9, values={"n": 2}, dims={"T": 6}, opset=17, max_trips=2
    )
    assert table.options(opset=17) == wanted


def test_a_target_is_named_once():
    assert of_rewrite().target() is None
    assert of_rewrite(target="tvm").target() == "tvm"
    assert of_rewrite(target_file="npu.toml").target() == Path("npu.toml")
    with pytest.raises(typer.BadParameter, match="use one of them"):
        of_rewrite(target="tvm", target_file="npu.toml").target()


@pytest.mark.parametrize("command", ["rewrite", "simplify", "convert", "inspect"])
def test_a_command_has_the_options_of_the_table(command):
    parameters = inspect.signature(getattr(commands, command)).parameters
    wanted = [parameter_of(row) for row in options_on(command)]
    assert [name for name in parameters if name.startswith("option_")] == wanted


def test_an_option_of_the_table_may_stand_in_another_command():
    field = field_of("max_memory")
    assert field.metadata["typer"].default == "--max-memory"  # typer reads it as the first name


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


def test_an_option_without_its_companion_is_refused():
    session(target="tvm", whole=True).check()
    session("converting", opset=17).check()
    session("converting", target="tvm", opset=None).check()
    with pytest.raises(typer.BadParameter, match="name one with --target"):
        session(whole=True).check()
    with pytest.raises(typer.BadParameter, match="--opset N, or --target NAME"):
        session("converting", opset=None).check()
