"""Obstacles: a reason with its code, raised before anything changes."""

import pickle

import pytest
from straightline.facts.obstacle import Obstacle, require_none
from straightline.facts.reason import Message

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
