from straightline.passes.simplify.rule_set import all_rules, rules_within


def test_rules_of_a_class_and_of_stronger_ones():
    bits, values, reals = map(rules_within, ("bits", "values", "reals"))
    assert {rule.exactness for rule in bits} == {"bits"}
    assert len(bits) < len(values) < len(reals) == len(all_rules())


def test_names_are_unique_and_every_rule_has_a_sentence():
    rules = [rule for rule, _ in all_rules()]
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.summary.endswith(".") for rule in rules)
