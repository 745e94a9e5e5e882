import ast
import pickle
from pathlib import Path

import pytest
from straightline import passes
from straightline.facts.obstacle import Obstacle, require_none
from straightline.facts.reason import Message

PASSES = Path(passes.__file__).parent
_WIDE = Message("test-too-wide", "it is {width} wide")


def test_an_obstacle_has_the_fields_of_its_sentence():
    obstacle = Obstacle(_WIDE(width=3))
    assert str(obstacle) == "it is 3 wide"
    assert (obstacle.code, obstacle.arguments, obstacle.node) == (
        "test-too-wide",
        {"width": 3},
        None,
    )


def test_text_is_a_sentence_without_a_code():
    assert Obstacle("it stays").reason == "it stays" and Obstacle("it stays").code == ""


def test_an_obstacle_survives_pickling():
    assert str(pickle.loads(pickle.dumps(Obstacle("it stays")))) == "it stays"


def test_the_first_reason_is_raised():
    require_none(None, None)
    with pytest.raises(Obstacle, match="first"):
        require_none(None, "first", "second")


ROOMS = ("control", "iteration", "loops", "recurrences", "scans", "sequences", "vectorize")
NO_REFUSAL = ["IterationMemory.growth", "CopyOutputs.violation", "unreadable"]
"""Descriptions: of memory, of a broken condition, and of a Scan that a conversion may keep."""


def test_planners_of_loop_passes_raise_instead_of_returning_a_text():
    texts = []
    for path in sorted(path for room in ROOMS for path in Path(PASSES, room).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        owners = {function: f"{one.name}." for one in classes for function in one.body}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                parts = ast.unparse(node.returns).split(" | ")
                if len(parts) > 1 and not {"str", "Reason"}.isdisjoint(parts):
                    texts.append(owners.get(node, "") + node.name)
    assert sorted(texts) == sorted(NO_REFUSAL)
