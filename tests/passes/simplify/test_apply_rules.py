import pytest
import straightline as sl
from depth import DEEP
from random_flat import Flat
from straightline.facts.notions import NOTIONS
from straightline.passes import ApplyRules
from straightline.verification.proof import prove


def test_the_pass_claims_the_notion_that_it_may_keep():
    assert ApplyRules().exactness == "values"
    assert ApplyRules(exactness="bits").exactness == "bits"


@pytest.mark.parametrize("notion", NOTIONS)
def test_random_flat_models(notion):
    models = [Flat(seed).model for seed in range(400 if DEEP else 15)]
    rewrites = [sl.rewrite(model, "simplify", exactness=notion, verify=False) for model in models]
    pairs = zip(models, rewrites, strict=True)
    statuses = [prove(one, other, equality=notion).status for one, other in pairs]
    assert statuses.count("proved") > 0.9 * len(statuses) and "refuted" not in statuses
