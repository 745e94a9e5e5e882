"""Every limit of what is done before run time: how much, of what, why, and who can change it.

What reaches a limit stays as it is, or as it was declared; nothing is ever made wrong by one. The
defaults fit a machine of 4 GB. docs/limits.md shows this table.
"""

from __future__ import annotations

from typing import NamedTuple


class Limit(NamedTuple):
    """One limit.

    Attributes:
        default: how much where nothing else is asked for.
        unit: of what.
        option: what raises it on the command line, or in the text of a pipeline; empty where it is
            fixed.
        reason: why there is one, and why it is so high.
    """

    default: float
    unit: str
    option: str
    reason: str


LIMITS = {
    "max_work": Limit(
        10_000_000_000,
        "steps of about a nanosecond, a fifth of them for one node; as many for finding out sizes",
        "--max-work",
        "a file of a few KB can ask for years of work",
    ),
    "max_memory": Limit(
        1 << 28,
        "bytes of computed constants that are held at a time",
        "--max-memory",
        "a constant that is read on each of 2,000 trips counts once for each content",
    ),
    "timeout": Limit(
        5,
        "seconds for all kernels of which nobody knows how many steps they take",
        "--timeout",
        "a pattern may backtrack for ever; such kernels run in a process that is ended",
    ),
    "counted_apart": Limit(
        1_000_000_000,
        "steps of a kernel that runs in this process",
        "",
        "what takes longer runs in one that can be ended, which takes a second to start",
    ),
    "max_nodes": Limit(
        20_000,
        "nodes that a rewrite adds",
        "--max-nodes",
        "onnxruntime loads a flat graph in time quadratic in its size, so many take about 5 s",
    ),
    "scratch_nodes": Limit(
        100,
        "nodes made beside a loop to compute all its iterations at once, for each node of its body"
        " and 100 more",
        "",
        "rules make ten at most; a rule that fell into a circle would take all memory",
    ),
    "row_bytes": Limit(
        1 << 17,
        "bytes of a value of one iteration that is computed for all iterations at once, where only"
        " run time tells how many there are; more where the loop gives out more for each",
        "straighten{row_bytes=...}",
        "from there on it is slower in onnxruntime (dev/benchmarks/row_memory.py), and memory"
        " has no bound",
    ),
    "window_elements": Limit(
        1 << 16,
        "elements along an axis of what a moving Slice takes, to be taken for all iterations",
        "",
        "their places are written as a constant",
    ),
    "condition_trips": Limit(
        1_000_000,
        "trips of which a while loop's condition is computed",
        "--max-trips",
        "a condition may never become false",
    ),
    "max_bytes": Limit(
        1 << 20,
        "bytes of a tensor that is read or made by folding",
        "fold-constants{max_bytes=...}",
        "a model does not grow by being folded",
    ),
    "construct_trips": Limit(
        10_000,
        "trips of a construct that is computed whole",
        "",
        "each trip takes Python about a millisecond",
    ),
    "all_construct_trips": Limit(
        50_000,
        "the same for all times that it is computed",
        "",
        "a loop around it computes it anew",
    ),
    "construct_elements": Limit(
        1 << 24,
        "elements of a value inside of a construct that is computed whole",
        "",
        "64 MB of floats",
    ),
    "size_terms": Limit(
        512,
        "terms of a polynomial that is a size; symbols stand for those of a longer one",
        "",
        "the product of 24 sizes, each plus one, has 2^24",
    ),
    "size_products": Limit(
        1 << 14, "products of terms that are made at once", "", "as for terms: 128 times 128"
    ),
    "size_factors": Limit(64, "symbols in one product", "", "a size may be squared on and on"),
    "call_depth": Limit(
        60, "calls in each other that are looked into", "", "Python's stack has an end"
    ),
    "called_nodes": Limit(
        1_000,
        "nodes of functions that are computed for what one call gives out",
        "",
        "functions that call others twice stand for 2 to the power of their depth",
    ),
    "speculated_calls": Limit(
        10_000,
        "calls of functions in which nodes are proved not to fail",
        "",
        "as for inference",
    ),
    "bound_steps": Limit(
        16, "nodes that bounds of a value are followed back", "", "they widen from node to node"
    ),
    "proof_terms": Limit(
        1_000_000, "terms that a proof makes", "", "a term takes a KB: a GB together"
    ),
    "proof_steps": Limit(
        4_000_000,
        "nodes that a proof runs, and pairs of terms that it compares",
        "",
        "about ten seconds",
    ),
    "proof_loop_steps": Limit(
        2_000_000,
        "nodes of all trips of a loop that a proof runs by its definition",
        "",
        "other ways than running it are tried first where there are more",
    ),
    "proof_elements": Limit(
        1 << 20, "elements of a constant that a proof computes", "", "8 MB of doubles"
    ),
    "memory_nodes": Limit(
        20_000,
        "nodes of a model of which the peak memory is found out",
        "",
        "the sizes of all values must be inferred for it",
    ),
    "hint_nodes": Limit(
        50_000, "nodes of a model on which hints are tried", "", "each hint is a rewrite"
    ),
    "hints": Limit(6, "options that are tried as hints", "", "the same"),
}


def limit(name: str) -> int:
    """The default of a limit that is a whole number."""
    return int(LIMITS[name].default)


def allowed(name: str, most: float | None = None) -> str:
    """Wording of a limit after "more than"; of its default without an amount.

    >>> allowed("call_depth")
    'call_depth=60 allows'
    """
    return f"{name}={LIMITS[name].default if most is None else most} allows"


def as_table() -> str:
    """All limits in Markdown."""
    rows = ["| limit | default | of what | raised by | why |", "|---|---|---|---|---|"]
    for name, one in LIMITS.items():
        option = f"`{one.option}`" if one.option else "fixed"
        rows.append(f"| {name} | {one.default:,} | {one.unit} | {option} | {one.reason} |")
    return "\n".join(rows)
