"""Options that stand for others."""

import pytest
import typer
from straightline.cli.options import pipeline_text


def test_selects_stands_for_a_pipeline():
    assert pipeline_text(None) is None
    assert pipeline_text("inline-ifs") == "inline-ifs"
    assert pipeline_text(None, True) == "selects"
    with pytest.raises(typer.BadParameter, match="give it alone"):
        pipeline_text("inline-ifs", True)
