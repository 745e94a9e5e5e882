"""Twice as many links, loops or Ifs take about twice the work: Python's calls, not seconds.

dev/benchmarks/growth.py measures the same models in seconds and MB.
"""

import cProfile
import importlib
import sys
from pathlib import Path

import onnx
import pytest
import straightline as sl
from straightline.driver import suggestions
from straightline.driver.job import count_all_nodes
from straightline.verification.proof.terms.budget import Budget

sys.path.insert(0, str(Path(__file__).parents[2] / "dev/fuzz/hostile"))

import calls as calls_of_functions
import chains
import rows
import wide
from tables import table

MOST = 2.6
"""Twice, and what does not depend on the size; a pass that looks back at all takes four times."""

MOST_CALLS = 22
"""Calls of Python a step of a proof: about two microseconds."""

PROVING = importlib.import_module("straightline.verification.proof.prove")
CASES = {
    case.name: case.make for file in (calls_of_functions, chains, rows, wide) for case in file.CASES
}
COMMANDS = {
    "rewrite": lambda model: sl.rewrite(model, verify=False),
    "simplify": lambda model: sl.rewrite(model, "simplify{exactness=reals}", verify=False),
    "accelerate": lambda model: sl.rewrite(model, "accelerate", verify=False),
    "merge": lambda model: sl.rewrite(model, "merge-subexpressions", verify=False),
    "raise": lambda model: sl.rewrite(model, "raise-activations", verify=False),
    "prove": lambda model: sl.prove(model, model, search=False),
}


def calls(command, model):
    """The number of calls that a command makes."""
    profile = cProfile.Profile()
    profile.runcall(COMMANDS[command], model)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.sample(4)
@table(
    ("chain-of-ifs", 15, "rewrite"),
    ("chain-of-ifs", 15, "accelerate"),
    ("branches", 15, "accelerate"),
    ("chain-of-concat", 40, "simplify"),
    ("chain-of-concat-sides", 40, "simplify"),
    ("chain-of-clip", 40, "simplify"),
    ("chain-of-where", 40, "rewrite"),
    ("chain-of-slices", 40, "simplify"),
    ("chain-of-matmul-open", 40, "simplify"),
    ("chain-of-diamonds", 40, "simplify"),
    ("chain-of-diamonds-of-choices", 20, "rewrite"),
    ("many-outputs", 40, "simplify"),
    ("maps", 6, "rewrite"),
    ("recurrences", 6, "rewrite"),
    ("states", 10, "rewrite"),
    ("chained-calls", 40, "merge"),
    ("exponentials", 40, "raise"),
    ("chain-of-add-open", 40, "prove"),
    ("chain-of-gemm", 40, "prove"),
    ("chain-of-diamonds-of-products", 40, "prove"),
)
def test_work_is_linear_in_the_size(name, size, command):
    once, twice = CASES[name](size), CASES[name](2 * size)
    COMMANDS[command](once)  # what is loaded and made ready at first
    assert calls(command, twice) <= MOST * calls(command, once)


@pytest.mark.parametrize(("name", "size"), [("sums-chained", 12), ("rows-nested", 6)])
def test_all_attempts_of_a_proof_share_its_budget(monkeypatch, name, size):
    spent, attempt = [], PROVING._Question._attempt

    def counted(question):
        answer = attempt(question)
        spent.append(question.spent)
        return answer

    monkeypatch.setattr(PROVING._Question, "_attempt", counted)
    model, most = CASES[name](size), 4_000
    after = sl.rewrite(model, verify=False)
    proof = PROVING.prove(model, after, budget=Budget(steps=most))
    assert not proof.proved and "too many steps" in proof.reason
    assert len(spent) > 1 and sum(spent) <= 1.5 * most


@pytest.mark.sample(2)
@table(
    ("chain-of-pad", 25),
    ("chain-of-slices", 30),
    ("chain-of-clip", 40),
    ("chain-of-matmul-open", 40),
    ("states", 80),
    ("wide-concat", 200),
    ("rows-nested", 4),
    ("rows-nested-known", 4),
)
def test_steps_of_an_open_proof_are_alike(name, size, monkeypatch):
    """Else a budget of steps is no limit of time."""
    steps, step = [], Budget.step
    model = CASES[name](size)
    other = with_a_sine(model)
    PROVING.prove(model, other)  # what is made ready at first
    monkeypatch.setattr(Budget, "step", lambda self, n=1: (steps.append(n), step(self, n)))
    profile = cProfile.Profile()
    assert profile.runcall(PROVING.prove, model, other).status == "open"
    made = sum(entry.callcount for entry in profile.getstats()) - 2 * len(steps)
    assert made <= MOST_CALLS * sum(steps)


def with_a_sine(model):
    """The model with a Sin behind a node in the middle of its innermost graph."""
    other = onnx.ModelProto.FromString(model.SerializeToString())
    graph = other.graph
    while bodies := [a.g for node in graph.node for a in node.attribute if a.HasField("g")]:
        graph = bodies[0]
    nodes = list(graph.node)
    at = next(k for k in range(len(nodes) // 2, len(nodes)) if nodes[k].op_type != "Identity")
    name = nodes[at].output[0]
    nodes[at].output[0] = "before"
    nodes.insert(at + 1, onnx.helper.make_node("Sin", ["before"], [name]))
    del graph.node[:]
    graph.node.extend(nodes)
    return other


def test_each_loop_of_a_nest_runs_its_body_for_few_loops_around():
    """Some 400 runs in place of 3 ** 20."""
    model = rows.nested_loops(20, 3)
    assert PROVING.prove(model, model, budget=Budget(steps=20_000), brief=True).proved


def test_too_many_cases_are_seen_at_once():
    model = rows.nested_loops(17)
    proof = PROVING.prove(model, model, budget=Budget(steps=200_000))
    assert proof.reason.startswith("too many loops may have no iteration")


@table(
    ("captures-nested", 3000, True), ("sums-nested", 1000, True), ("captures-nested", 300, False)
)
def test_all_trials_of_hints_add_at_most_what_one_rewrite_may(name, most, cut, monkeypatch):
    """One that lacks what others have added is no evidence."""
    grown, rewritten = [], suggestions._Trials._rewritten

    def counted(trials, request):
        result = rewritten(trials, request)
        before, _ = request.prepare()
        grown.append(count_all_nodes(result.model) - count_all_nodes(before))
        return result

    monkeypatch.setattr(suggestions._Trials, "_rewritten", counted)
    found = sl.inspect(CASES[name](6), max_nodes=most)
    assert len(grown) > 1 and most // 3 < sum(grown) <= most
    assert any("which was not tried" in each.reason for each in found.constructs) == cut
    raised = ("--passes", "straighten{exact=false}")  # it adds little, and is never cut
    assert not (cut and [hint for hint in found.hints if hint.options != raised])
