"""What a rewrite may cost: each limit at its edge, and the words of its refusal."""

import ast
from pathlib import Path

import pytest
from straightline import passes
from straightline.passes import PassContext
from straightline.passes.base import Meter
from straightline.passes.utils.budget import Budget

FAMILIES = ("control", "scans", "sequences", "functions", "cleanup")


def budget(max_nodes=10, max_trips=None, used=0):
    context = PassContext()
    context.meter.added_nodes = used
    return Budget(context.meter, max_nodes, max_trips)


def test_nodes():
    assert budget(used=4).refuses(6, "it") is None
    assert budget(used=4).refuses(7, "inlining it") == (
        "inlining it would add 7 nodes to the 4 added so far, over max_nodes=10;"
        " raise it with --max-nodes 11 (max_nodes= in Python)"
    )


def test_what_adds_nothing_counts_as_more():
    assert budget().refuses(0, "it", weight=10) is None
    assert "would add 0 nodes" in budget().refuses(0, "it", weight=11)


@pytest.mark.parametrize(
    ("maximum", "said"),
    [
        (False, "its 4 trips are more than max_trips=3 allows"),
        (True, "its maximum of 4 trips is more than max_trips=3 allows"),
    ],
)
def test_trips(maximum, said):
    assert budget(max_trips=3).refuses_trips(3, 9, maximum) is None
    assert budget(max_trips=3).refuses_trips(4, 9, maximum) == said


def test_trips_cost_nodes_and_count_as_one_at_least():
    assert budget(used=1).refuses_trips(2, 9) is None
    assert budget(used=2).refuses_trips(2, 9).startswith("its 2 trips would add 9 nodes to the 2")
    assert budget().refuses_trips(11, 0, True).startswith("its maximum of 11 trips would add 0")


@pytest.mark.parametrize(
    ("nodes", "trips", "each", "most", "option"),
    [
        (10, None, 3, 3, "max_nodes=10"),
        (10, 2, 3, 2, "max_trips=2"),
        (10, 7, 3, 3, "max_nodes=10"),
        (10, None, 0, 10, "max_nodes=10"),
        (10**9, None, 1, 10**6, "max_nodes=1000000000"),
        (10**9, 10**7, 1, 10**7, "max_trips=10000000"),
    ],
)
def test_how_many_trips_need_be_counted(nodes, trips, each, most, option):
    limits = budget(nodes, trips)
    assert limits.most_trips(each) == most
    assert limits.exceeded_limit(most).startswith(f"{option} allows; raise it with --{option[:3]}-")


def test_all_passes_of_a_run_spend_from_one():
    context = PassContext()
    Budget(context.meter, 10).spend(6)
    assert Budget(context.meter, 10).refuses(4, "it") is None
    assert "to the 6 added so far" in Budget(context.meter, 10).refuses(5, "it")


def test_what_is_tried_is_counted_apart():
    limits = budget(used=9)
    assert limits.may_try(4) and limits.may_try(6)
    assert not limits.may_try(1)
    assert limits.refuses(1, "it") is None


def test_no_family_of_passes_imports_from_another():
    """What two of them share stands in tools/."""
    folder = Path(passes.__file__).parent
    for family in FAMILIES:
        for path in (folder / family).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.level == 2:
                    assert (node.module or "").split(".")[0] not in FAMILIES, path


def test_trips_from_which_on_there_is_no_maximum():
    """2^31 and more stand for no maximum, which no option allows."""
    at = budget(max_nodes=2**40, max_trips=2**40)
    assert at.refuses_trips(2**31 - 1, 1) is None
    assert at.refuses_trips(2**31, 1) == "2147483648 trips are more than can be written out"


def test_what_no_budget_allows_is_not_offered():
    refused = Budget(Meter(), 100).refuses_trips(2**63 - 1, 2**63)
    assert refused == "9223372036854775807 trips are more than can be written out"
