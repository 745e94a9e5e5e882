from straightline.passes import ApplyRules


def test_the_pass_claims_the_notion_that_it_may_keep():
    assert ApplyRules().exactness == "values"
    assert ApplyRules(exactness="bits").exactness == "bits"
