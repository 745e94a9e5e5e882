from straightline.facts.notions import NOTIONS
from straightline.verification.proof.prove import prove  # noqa: F401 - registers all rules
from straightline.verification.proof.terms.term_manager import CANONICAL_FORMS, RULES
from straightline.verification.rules_in_words import NOTIONS_IN_WORDS, rules_in_words


def test_every_rule_of_the_prover_has_a_sentence():
    names = {*RULES, *CANONICAL_FORMS, "counted", "polynomial"}
    assert [name for name in names if rules_in_words([name])[0].endswith("rule of its own.")] == []


def test_rules_of_one_sentence_are_told_once_and_others_by_name():
    assert len(rules_in_words(["Reshape", "view", "Squeeze"])) == 1
    assert rules_in_words(["New"]) == ("New is brought to one form by a rule of its own.",)


def test_every_notion_has_a_sentence():
    assert set(NOTIONS_IN_WORDS) == set(NOTIONS)
