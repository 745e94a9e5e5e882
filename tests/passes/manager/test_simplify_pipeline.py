import pytest
import straightline as sl
from straightline.passes import PassOptionError, parse_pipeline
from tables import table
from texts import HEADER, LOOP


def test_simplify_straightens_and_takes_options_of_all_its_passes():
    model = sl.rewrite(sl.ir.parse(HEADER + LOOP), "simplify", exactness="bits", max_trips=5)
    assert [node.op_type for node in model.graph.nodes()] == ["Add"] * 3


@table(("simplify", "values"), ("simplify{exactness=bits}", "bits"), ("straighten", "bits"))
def test_a_pipeline_claims_the_weakest_notion_of_its_passes(text, notion):
    assert parse_pipeline(text).exactness == notion


def test_an_option_that_no_pass_has_is_refused():
    with pytest.raises(PassOptionError, match="did you mean 'exactness'"):
        parse_pipeline("simplify", exactnes="bits")
    with pytest.raises(PassOptionError, match="it is one of 'bits', 'values', 'reals'"):
        parse_pipeline("simplify{exactness=bit}")
