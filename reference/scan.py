"""Scan, by the specification (versions 9 to 25); version 8 is in scan_8.py."""

from typing import Any

import numpy as np

from .bodies import Array, Body, BoundBody, scan_row
from .control_flow import ControlFlow
from .errors import EvaluationError
from .scan_8 import scan_8


class Scan(ControlFlow):
    """Scan of any version: the opset of the enclosing graph or function decides which."""

    def _run(
        self,
        *inputs: Any,
        context: Any = None,
        attributes: Any = None,
        num_scan_inputs: int = 0,
        **options: Any,
    ) -> tuple[Any, ...]:
        body = self.bodies["body"]
        run = body.bind(context, attributes)
        if self.opsets.get("", 9) < 9:
            lengths, *rest = inputs
            states, scanned = self._split(body, rest, num_scan_inputs)
            flags = self._flags(options, "directions", num_scan_inputs)
            return scan_8(run, lengths, states, scanned, flags)
        states, scanned = self._split(body, list(inputs), num_scan_inputs)
        return self._scan_9(run, states, scanned, options)

    def _split(
        self, body: Body, inputs: list[Any], scan_inputs: int
    ) -> tuple[list[Any], list[Any]]:
        """The initial states and the scan inputs."""
        states = len(inputs) - scan_inputs
        if scan_inputs < 1 or states < 0:
            raise EvaluationError(
                f"num_scan_inputs is {scan_inputs}, the node has {len(inputs)} inputs"
            )
        if any(value is None for value in inputs):
            raise EvaluationError("an initial state or a scan input is absent")
        if len(body.input_names) != len(inputs) or body.output_count < states:
            raise EvaluationError(
                f"{states} states and {scan_inputs} scan inputs need a body of {len(inputs)} "
                f"inputs and at least {states} outputs, it has {len(body.input_names)} "
                f"and {body.output_count}"
            )
        arrays = [np.asarray(value) for value in inputs]
        return arrays[:states], arrays[states:]

    def _scan_9(
        self, run: BoundBody, states: list[Array], scanned: list[Array], options: dict[str, Any]
    ) -> tuple[Any, ...]:
        outputs = run.body.output_count - len(states)
        in_axes = self._axes(options, "scan_input_axes", [s.ndim for s in scanned])
        in_flags = self._flags(options, "scan_input_directions", len(scanned))
        out_flags = self._flags(options, "scan_output_directions", outputs)
        rows = [np.moveaxis(s, axis, 0) for s, axis in zip(scanned, in_axes, strict=True)]
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            raise EvaluationError(f"scan inputs differ in length: {[len(row) for row in rows]}")
        ordered = [r[::-1] if flag else r for r, flag in zip(rows, in_flags, strict=True)]
        final, elements = scan_row(run, states, ordered, lengths.pop())
        # Without an iteration, the types of one element each tell the shapes of the outputs.
        sample = [*states, *(np.empty(row.shape[1:], row.dtype) for row in rows)]
        stacked = [
            run.body.stacked(
                len(states) + i,
                collected[:: -1 if flag else 1],
                inputs=sample,
                captured=run.captured,
            )
            for i, (collected, flag) in enumerate(zip(elements, out_flags, strict=True))
        ]
        # An axis counts in the stacked value, whose rank only its elements tell.
        out_axes = self._axes(options, "scan_output_axes", [s.ndim for s in stacked])
        moved = [np.moveaxis(s, 0, axis) for s, axis in zip(stacked, out_axes, strict=True)]
        return (*final, *moved)

    def _axes(self, options: dict[str, Any], name: str, ranks: list[int]) -> list[int]:
        """The axes attribute ``name``, checked against the rank of each value it applies to."""
        axes = options.get(name) or [0] * len(ranks)
        if len(axes) != len(ranks):
            raise EvaluationError(f"{name} has {len(axes)} entries, {len(ranks)} are needed")
        for axis, rank in zip(axes, ranks, strict=True):
            if not -rank <= axis < rank:
                raise EvaluationError(
                    f"{name} holds {axis}, outside the axes of a value of rank {rank}"
                )
        return list(axes)

    def _flags(self, options: dict[str, Any], name: str, count: int) -> list[bool]:
        """A directions attribute: one flag each, true for backward."""
        values = options.get(name) or [0] * count
        if len(values) != count or not set(values) <= {0, 1}:
            raise EvaluationError(f"{name} must hold {count} entries, each 0 or 1: {list(values)}")
        return [bool(value) for value in values]
