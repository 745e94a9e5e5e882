"""Limits of the work before run time: amount, unit, option and reason.

A construct, node or size beyond a limit stays as it is, or as declared; no limit makes a result
wrong. The defaults fit a machine of 4 GB. docs/limits.md shows this table.
"""

from typing import NamedTuple


class Limit(NamedTuple):
    """One limit.

    Attributes:
        default: the amount without an option.
        unit: the noun that it counts.
        option: the option that raises it, on the command line or in the text of a pipeline; empty
            for a fixed limit.
        reason: the reason for the limit and its amount.
    """

    default: float
    unit: str
    option: str
    reason: str


LIMITS = {
    "max_work": Limit(10_000_000_000,
     "steps of about a nanosecond, a fifth of them for one node; as many for inferring sizes",
     "--max-work", "a file of a few KB can demand years of work"),
    "max_memory": Limit(1 << 28, "bytes of computed constants in memory at a time", "--max-memory",
     "a constant that 2,000 iterations read counts once for each content"),
    "timeout": Limit(5, "seconds for all kernels with an unknown number of steps", "--timeout",
     "a regular expression may backtrack forever; such kernels run in a process with a timeout"),
    "counted_apart": Limit(1_000_000_000, "steps of a kernel in the main process", "",
     "a longer one runs in a process with a timeout, which needs a second to start"),
    "max_nodes": Limit(20_000, "nodes that a rewrite adds, or all trials of hints together",
     "--max-nodes",
     "onnxruntime loads a flat graph in time quadratic in its size, so this many need about 5 s"),
    "written_loop_nodes": Limit(1_000,
     "nodes that unrolling adds for a Loop by which a conversion or a fit expresses an operator",
     "", "the operator was one node; a client that lacks Loop has it unrolled up to max_nodes"),
    "scratch_nodes": Limit(100,
     "nodes that the vectorizer emits for a loop, for each node of its body and for 100 more", "",
     "batching rules emit ten at most; an endless rule would use all memory"),
    "row_bytes": Limit(1 << 17,
     "bytes of one iteration's part of a batched value, where only run time determines the trip"
     " count; more where the loop outputs more per iteration", "straighten{row_bytes=...}",
     "larger ones are slower in onnxruntime (dev/benchmarks/row_memory.py), and memory has no"
     " bound"),
    "window_elements": Limit(1 << 16,
     "elements of a batched Slice with a moving window, along one axis", "",
     "a constant holds their indices"),
    "condition_iterations": Limit(1_000_000,
     "iterations for which the condition of a while loop is computed", "--max-trips",
     "a condition may never become false"),
    "max_bytes": Limit(1 << 20, "bytes of a tensor that folding reads or computes",
     "fold-constants{max_bytes=...}", "folding must not inflate a model"),
    "folded_bytes": Limit(1 << 16,
     "bytes that folded constants may add to a model; a tenth of the model, if that is more", "",
     "a small file must not become a large one: a Tile of a row can be thousands of times as"
     " large"),
    "construct_iterations": Limit(10_000, "iterations of a construct that folding computes whole",
     "", "each iteration costs about a millisecond in Python"),
    "all_construct_iterations": Limit(50_000, "the same, in all its runs together", "",
     "an outer loop runs it again and again"),
    "construct_elements": Limit(1 << 24,
     "elements of a value inside a construct that folding computes whole", "", "64 MB of floats"),
    "size_terms": Limit(512, "terms of the polynomial of a size; a symbol replaces a longer one",
     "", "the product of 24 sizes, each plus one, has 2^24 terms"),
    "size_products": Limit(1 << 14, "products of terms in one multiplication", "",
     "as for terms: 128 times 128"),
    "size_factors": Limit(64, "symbols in one product", "",
     "a model may square a size again and again"),
    "call_depth": Limit(60, "nested calls that are followed", "", "Python's stack is finite"),
    "called_nodes": Limit(1_000, "nodes of functions that are computed for the outputs of one call",
     "", "functions that call others twice run 2 to the power of their depth calls"),
    "expanded_nodes": Limit(10_000_000,
     "nodes of a model with its functions expanded, which is verified or run", "",
     "onnx's inference and runtimes expand functions; as for called_nodes"),
    "speculated_calls": Limit(10_000, "calls of functions whose nodes are proved not to fail", "",
     "as for called_nodes"),
    "bound_steps": Limit(16, "nodes back from a value that its bounds depend on", "",
     "bounds widen from node to node"),
    "proof_terms": Limit(1_000_000, "terms of a proof", "", "a term needs a KB: a GB in total"),
    "proof_steps": Limit(350_000,
     "steps of a proof, of about two microseconds: nodes that it runs, terms that it builds and"
     " compares; some more for each node of the models", "",
     "an open proof ends within two seconds for small models"),
    "proof_steps_per_node": Limit(50,
     "steps of a proof for each node of the models, also in bodies", "",
     "the time of a proof is linear in the size of the models"),
    "proof_loop_steps": Limit(2_000_000, "nodes of all iterations of a loop that a proof unrolls",
     "", "beyond it the proof tries induction first"),
    "proof_elements": Limit(1 << 20, "elements of a constant that a proof computes", "",
     "8 MB of doubles"),
    "search_nodes": Limit(20_000,
     "nodes that a search among pipelines copies and infers; some more for each node of the model",
     "", "each costs a tenth of a millisecond; the first pipeline always runs"),
    "search_nodes_per_node": Limit(40, "the same, for each node of the model", "",
     "the time of a search is linear"),
    "fit_forms": Limit(48, "forms that are tried for the operators that one form of an unsupported"
     " operator needs, and for what these need", "", "twelve suffice in all tests, and four levels"
     " of nested forms take minutes"),
    "memory_nodes": Limit(20_000, "nodes of a model whose peak memory and run time are estimated",
     "", "the estimate infers the sizes of all values"),
    "hint_nodes": Limit(50_000, "nodes of a model for which hints are tried", "",
     "each hint is a rewrite"),
    "hints": Limit(6, "options that are tried as hints", "", "each hint is a rewrite")}  # fmt: skip


def limit(name: str) -> int:
    """The default of a limit that is a whole number."""
    return int(LIMITS[name].default)


def allowed(name: str, most: float | None = None) -> str:
    """Wording of a limit after "more than"; of its default without an amount.

    >>> allowed("call_depth")
    'call_depth=60 allows'
    """
    return f"{name}={LIMITS[name].default if most is None else most} allows"
