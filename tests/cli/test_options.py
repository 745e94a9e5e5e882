"""Options that stand for others."""

import pytest
import typer
from straightline.cli.options import Accelerated, pipeline_text


def test_a_target_stands_for_a_pipeline():
    assert pipeline_text(None, None) is None
    assert pipeline_text("inline-ifs", None) == "inline-ifs"
    assert pipeline_text(None, Accelerated.onnxruntime) == "accelerate"
    with pytest.raises(typer.BadParameter, match="give one of the two"):
        pipeline_text("inline-ifs", Accelerated.onnxruntime)


def test_selects_stands_for_a_pipeline():
    assert pipeline_text(None, None, True) == "selects"
    for passes, target in (("inline-ifs", None), (None, Accelerated.onnxruntime)):
        with pytest.raises(typer.BadParameter, match="give it alone"):
            pipeline_text(passes, target, True)
