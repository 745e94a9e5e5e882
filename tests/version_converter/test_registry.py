from types import SimpleNamespace

import pytest
from straightline.version_converter import registry
from straightline.version_converter.attribute_to_input import MOVES, Move
from straightline.version_converter.registry import (
    adapt,
    added_values,
    downgrade,
    harmless,
    upgrade,
)


@pytest.fixture(autouse=True)
def tables(monkeypatch):
    """Tables of their own, so that nothing stays behind."""
    for name in ("UPGRADES", "DOWNGRADES", "ADDED_VALUES"):
        monkeypatch.setattr(registry, name, {})
    monkeypatch.setattr(registry, "HARMLESS", set())


def step(source, target, op_type="Odd"):
    """As much of a draft as `adapt` looks at."""
    node = SimpleNamespace(op_type=op_type)
    return SimpleNamespace(node=node, source=source, target=target, is_upgrade=target > source)


def test_adapters_of_the_step_run_in_order_until_one_replaces_the_node():
    called = []

    def adapter(name, outcome=None):
        def run(draft):
            called.append(name)
            return outcome

        return run

    upgrade(9, "Odd", "Even")(adapter("up"))
    downgrade(9, "Odd")(adapter("first"))
    downgrade(9, "Odd")(adapter("second", ["value"]))
    downgrade(9, "Odd")(adapter("third"))
    assert adapt(step(8, 9)) is None and adapt(step(8, 9, "Even")) is None
    assert adapt(step(9, 8)) == ["value"]
    assert adapt(step(10, 9)) is None and adapt(step(9, 10)) is None
    assert adapt(step(9, 8, "Even")) is None
    assert called == ["up", "up", "first", "second"]


def test_moves_come_last_wherever_they_stand(monkeypatch):
    called = []
    monkeypatch.setitem(MOVES, ("Odd", 9), (Move("axes", 1, "ints"),))
    monkeypatch.setattr(registry, "apply_moves", lambda draft: called.append("moves"))
    downgrade(9, "Odd")(lambda draft: called.append("adapter"))
    assert adapt(step(9, 8)) is None
    assert called == ["adapter", "moves"]


def test_a_node_that_is_replaced_has_nothing_to_move(monkeypatch):
    called = []
    monkeypatch.setattr(registry, "apply_moves", lambda draft: called.append("moves"))
    downgrade(9, "Odd")(lambda draft: ["value"])
    assert adapt(step(9, 8)) == ["value"] and called == []


def test_notes_beside_the_schemas():
    added_values(9, "Odd", "Even", attribute="mode", values=[b"new"])
    added_values(11, "Odd", attribute="mode", values=[b"newer"])
    harmless("Odd", "Even", attribute="seed")
    assert registry.ADDED_VALUES["Odd"] == {"mode": {b"new": 9, b"newer": 11}}
    assert registry.ADDED_VALUES["Even"] == {"mode": {b"new": 9}}
    assert {("Odd", "seed"), ("Even", "seed")} == registry.HARMLESS
