"""The rows of docs/data/recognized.csv, and how each is checked.

Column "check" tells how the output of `accelerate` was checked, column "by hand" how the form was
that a person would write: by a proof over the reals, or on samples.
"""

from typing import NamedTuple

import straightline as sl

from ..tools import data_files
from .pairs import pair

HEAD = ("in the loop", "becomes", "by", "gain", "check", "by hand")

LOOPS: dict[str, tuple[str, ...]] = {
    "an iteration reads no other one": ("elementwise_rows_with_iteration", "softmax_and_matmul"),
    "rows `x[i]`": ("rows_scanned_backward", "difference_from_last_frame"),
    "windows `x[i : i + k]`": ("windows_by_slice", "windows_by_strided_index"),
    "sums, means, products, extremes of such windows that overlap": ("moving_average",),
    "sums and means of prefixes": ("prefix_means",),
    "extremes and products of prefixes": ("prefix_maxima",),
    "sums and means of windows of a length known at run time": ("sums_of_windows_given",),
    "extremes of such windows": ("extremes_of_windows_of_any_length",),
    "an If that differs between iterations": ("if_by_row", "if_by_iteration"),
    "an If on a loop-invariant condition": ("branches_on_an_invariant",),
    "an If with equal branches": ("equal_branches",),
    "inner loops with carried values": ("nested_recurrence_by_row", "nested_cumulative_sums"),
    "inner loops whose trip count differs": ("trip_counts_of_rows",),
    "lists that grow at either end": ("list_append_and_stack", "growing_concat", "rows_in_front"),
    "`out[i] = v`": ("buffer_scatter_nd", "buffer_scatter_elements"),
    "buffers put together from slices": ("buffer_of_slices", "buffer_torch_columns"),
    "`h[j] = h[j] + v`": ("histogram",),
    "`a[i] = f(a[i])`": ("rows_changed_in_place",),
    "`a[i] = a[i - 1] + x[i]`": ("rows_added_in_place",),
    "a cell of a GRU, LSTM or RNN": ("gru_separate_gates", "lstm_fused_scan", "rnn_elman_scan"),
    "the same behind calls": ("cell_by_einsum",),
    "the same with a mask": ("rnn_masked",),
    "sums, means, counts": ("cumulative_sum_loop", "sum_of_squares_final", "running_count"),
    "sums of what a condition lets in": ("sum_under_a_condition",),
    "products": ("product_final", "running_product"),
    "extremes by Max and Min, all values": ("running_maximum",),
    "the last extreme": ("maximum_final", "smallest_size_final"),
    "the best by a comparison": ("best_score_and_its_row",),
    "the last value, row or index": ("last_row_under_a_condition",),
    "the first index where": ("first_row_above_a_limit",),
    "any, all": ("all_true_final",),
    "a register of the last k rows": ("register_of_rows",),
    "attention to a cache": ("attention_to_cache", "attention_heads_past", "decoder_layers"),
    "the same without Softmax": ("scores_of_all_rows_so_far",),
    "sums, means, extremes of all rows so far": ("mean_of_history",),
    "values of large rows beside a true state": ("suppression_by_hand",),
    "parity": ("parity",),
    "`s = a * s + b`": ("exponential_smoothing", "linear_recurrence_loop"),
    "the same between bounds": ("sum_above_a_bound",),
    "two or three states": ("two_states",),
    "the same of states that depend on each other": ("recursive_filter",),
    "`s = s A + b`": ("constant_matrix",),
    "`s = log(exp(s) + exp(x))`": ("log_of_a_sum",),
    "the last value of such a state": ("horner",),
    "`while i < n`": ("while_less",),
    "the same with a step": ("while_with_a_step",),
    "`while i < n and not found`": ("search_that_stops",),
}
"""Loops by the beginning of the first cell of their row."""


class Row(NamedTuple):
    """A row of the table.

    Attributes:
        cells: all cells.
        loops: names of its loops.
    """

    cells: list[str]
    loops: tuple[str, ...]


class Check(NamedTuple):
    """How a loop is checked: True for a proof; None where no form by hand is written down."""

    own: bool
    by_hand: bool | None


def rows() -> list[Row]:
    """The rows of the table.

    Raises:
        KeyError: a row begins like none of the loops.
    """
    return [Row(cells, _loops(cells[0])) for cells in data_files.read("recognized")]


def check(name: str) -> Check:
    """Prove what `accelerate` makes of a loop, and its form by hand."""
    loop, by_hand = pair(name)
    own = sl.rewrite(loop, "accelerate", verify=False, max_run_memory=0)
    models = [own] if by_hand is None else [own, by_hand]
    proofs = [sl.prove(loop, model, equality="reals", search=False).proved for model in models]
    return Check(proofs[0], proofs[1] if by_hand is not None else None)


def columns(checks: list[Check]) -> list[str]:
    """The cells of a row that say how its loops were checked."""
    by_hand = [each.by_hand for each in checks if each.by_hand is not None]
    return [_text([each.own for each in checks]), _text(by_hand)]


def filled() -> list[list[str]]:
    """The rows with both columns as they come out now."""
    return [[*row.cells[:-2], *columns([*map(check, row.loops)])] for row in rows()]


def _loops(cell: str) -> tuple[str, ...]:
    fitting = [key for key in LOOPS if cell.startswith(key)]
    return LOOPS[max(fitting, key=len)] if fitting else LOOPS[cell]


def _text(proofs: list[bool]) -> str:
    if not proofs:
        return "-"
    if len({*proofs}) == 1:
        return "proved" if proofs[0] else "samples"
    return f"proved: {sum(proofs)} of {len(proofs)}"


if __name__ == "__main__":
    data_files.write("recognized", HEAD, filled())
