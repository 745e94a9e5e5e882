"""Weights of cells as libraries keep them, in the order and shape of ONNX's operators."""

from collections.abc import Callable, Sequence

import numpy as np

from .case import Arrays


def blocks(array: np.ndarray, order: Sequence[int], axis: int = 0) -> np.ndarray:
    """The gates, which lie side by side along an axis, in another order."""
    parts = np.split(array, len(order), axis)
    return np.concatenate([parts[index] for index in order], axis)


def torch_cell(order: Sequence[int]) -> Callable[[Arrays], Arrays]:
    """From torch's `w_ih`, `w_hh`, `b_ih` and `b_hh`, gate over gate: `w`, `r` and `b`."""

    def pack(given: Arrays) -> Arrays:
        w, r, b_ih, b_hh = (blocks(given[n], order) for n in ("w_ih", "w_hh", "b_ih", "b_hh"))
        made = {"w": w[None], "r": r[None], "b": np.concatenate([b_ih, b_hh])[None]}
        return {**others(given, "w_ih", "w_hh", "b_ih", "b_hh"), **made}

    return pack


def separate_gates(gates: str) -> Callable[[Arrays], Arrays]:
    """From `w_z`, `u_z`, `b_z` and so on, a letter for each gate in ONNX's order: `w`, `r`, `b`."""
    return lambda given: {
        **others(given, *(f"{kind}_{gate}" for kind in "wub" for gate in gates)),
        "w": np.concatenate([given[f"w_{gate}"].T for gate in gates])[None],
        "r": np.concatenate([given[f"u_{gate}"].T for gate in gates])[None],
        "b": doubled(np.concatenate([given[f"b_{gate}"] for gate in gates]))[None],
    }


def one_gate(given: Arrays) -> Arrays:
    """From `w_x`, `w_h` and `bias` of a simple cell: `w`, `r` and `b`."""
    return {
        **others(given, "w_x", "w_h", "bias"),
        "w": given["w_x"].T[None],
        "r": given["w_h"].T[None],
        "b": doubled(given["bias"])[None],
    }


def doubled(bias: np.ndarray) -> np.ndarray:
    """A bias of the inputs, and none of the state."""
    return np.concatenate([bias, np.zeros_like(bias)])


def others(given: Arrays, *used: str) -> Arrays:
    """The arrays that are not used."""
    return {name: array for name, array in given.items() if name not in used}
