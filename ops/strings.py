"""Operators on texts, and on lists of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import Node
from .cost_estimates import EACH, elements, matching
from .elementwise import OfEach
from .rules import OperatorRules, describes


@describes("RegexFullMatch")
class RegexFullMatch(OfEach):
    """RegexFullMatch, from opset 20 on: runtimes match in time linear in the text, the reference
    tries one way after the other."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return matching(node.attribute("pattern", b"").decode(), arrays[0])


@describes("StringSplit")
class StringSplit(OperatorRules):
    """StringSplit, from opset 20 on: each text gets as many places as the one with most parts, and
    as many letters as the longest."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        longest = max((len(str(text)) for text in arrays[0].reshape(-1)), default=0)
        return float(arrays[0].size) * (1 + longest)

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """With `maxsplit`, what stays of the blanks around a text is open; so are the parts of an
        empty one."""
        return node.attribute("maxsplit") is None and all(arrays[0].reshape(-1))


@describes("StringNormalizer")
class StringNormalizer(OperatorRules):
    """StringNormalizer: each letter and each stopword is looked at; stopwords are dropped."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        letters = sum(1 + len(str(text)) for text in arrays[0].reshape(-1))
        return float(EACH * (letters + 1) * (1 + len(node.attribute("stopwords", []))))

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """The locale says what case letters are in, but for those of ASCII."""
        return all(str(text).isascii() for text in arrays[0].reshape(-1))


@describes("TfIdfVectorizer")
class TfIdfVectorizer(OperatorRules):
    """TfIdfVectorizer: each token begins a gram for each length and each skip."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        wide = 1 + max(node.attribute("ngram_indexes", [0]), default=0)
        return float(wide) * (arrays[0].shape[0] if arrays[0].ndim > 1 else 1)

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        grams = node.attribute("max_gram_length", 1) * (1 + node.attribute("max_skip_count", 0))
        pool = len(node.attribute("ngram_indexes", [0]))
        return EACH * (elements(arrays) * float(grams) * pool + self.growth(node, arrays))
