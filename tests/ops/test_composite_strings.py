"""Operators on texts: what they make of little."""

import numpy as np
from operator_facts import make_node
from straightline.ops import rules_of


def growth(op_type, *texts, **attributes):
    arrays = [np.array(texts, object)] * (2 if op_type == "StringConcat" else 1)
    node = make_node(op_type, arrays, **attributes)
    return rules_of(node.op).growth(node, arrays)


def test_all_texts_are_split_into_as_many_parts_as_the_longest():
    assert growth("StringSplit", "a" * 1000, *["b"] * 999) >= 1_000_000
    assert growth("StringSplit", "ab", "c") < 10


def test_joined_texts_have_the_letters_of_both():
    assert growth("StringConcat", "a" * 1000, "b") >= 2000
    assert growth("StringConcat", "") >= 1


def test_a_pattern_is_matched_with_each_text():
    arrays = [np.array(["aa", "b"], object)]
    node = make_node("RegexFullMatch", arrays, pattern="a+")
    rules = rules_of(node.op)
    assert 0 < rules.work(node, arrays) < 1e6
    assert rules.work(make_node("RegexFullMatch", arrays, pattern="(a+)+"), arrays) > 1e18


def test_each_gram_of_each_token_is_looked_for():
    arrays = [np.arange(100)]
    given = {"ngram_indexes": [0, 1], "max_gram_length": 2, "max_skip_count": 1}
    short = make_node("TfIdfVectorizer", arrays, **given)
    long = make_node("TfIdfVectorizer", arrays, **{**given, "max_gram_length": 20})
    rules = rules_of(short.op)
    assert rules.work(long, arrays) > 5 * rules.work(short, arrays)
    assert rules.growth(short, arrays) == 2
