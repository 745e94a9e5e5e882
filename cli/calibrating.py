"""Command `calibrate`: what models cost to load and to run on this machine."""

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path

from . import interrupts
from .exit_codes import finish
from .options import JSON, QUIET, flag, option
from .report import progress, show_result


def calibrate(
    out: Path | None = option(
        "Write the costs to a file, for the option --costs of other commands.",
        "--out",
        "-o",
        metavar="FILE.toml",
    ),
    *,
    force: bool = flag("Also overwrite a file that is not a table of costs.", "--force"),
    quiet: bool = QUIET,
    as_json: bool = JSON,
) -> int:
    """Measure what onnxruntime takes to load and to run models on this machine.

    `accelerate` compares the forms of a model by such costs; a table of them is built in.
    """
    from ..display import Line, Table
    from ..ir.io.files import replacing
    from ..ir.io.write_target import place_beside
    from ..passes.costs.calibrate import calibrate as measure
    from ..passes.costs.table import holds_costs

    interrupts.raise_from_now_on()
    place = None if out is None else place_beside(out, (), "table of costs", holds_costs, force)
    with progress("calibrating", quiet or as_json) as on_progress:
        table = measure(functools.partial(on_progress, "calibrating"))
    if place is not None:
        with replacing(place) as (temporary,):
            temporary.write_text(table.to_toml(), encoding="utf-8")

    def show() -> None:
        columns: dict[str, Mapping[str, float]] = {
            "Load, us": table.load,
            "Run, us": table.run,
            "Largest state": table.most_numbers,
        }
        tables = [
            Table((title, "Cost"), [(item, f"{cost:g}") for item, cost in column.items()])
            for title, column in columns.items()
        ]
        line = Line(", ".join(table.about.values()))
        fields = {**dataclasses.asdict(table), "out": None if out is None else str(out)}
        show_result(lambda: fields, [line, *tables], as_json)

    return finish(0, show, product=not quiet)
