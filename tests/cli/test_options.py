"""Options that stand for others."""

import pytest
import typer
from straightline.cli.options import pipeline_text, require_opset, target_given


def test_selects_stands_for_a_pipeline():
    assert pipeline_text(None) is None
    assert pipeline_text("inline-ifs") == "inline-ifs"
    assert pipeline_text(None, True) == "selects"
    with pytest.raises(typer.BadParameter, match="give it alone"):
        pipeline_text("inline-ifs", True)


def test_a_target_is_named_once():
    assert target_given(None, None) is None
    assert target_given("tvm", None, True) == "tvm"
    assert target_given(None, "npu.toml") == "npu.toml"
    with pytest.raises(typer.BadParameter, match="give one of them"):
        target_given("tvm", "npu.toml")
    with pytest.raises(typer.BadParameter, match="name one with --target"):
        target_given(None, None, True)


def test_a_conversion_is_told_where_to():
    require_opset(17, None)
    require_opset(None, "tvm")
    with pytest.raises(typer.BadParameter, match="--opset N, or --target NAME"):
        require_opset(None, None)
