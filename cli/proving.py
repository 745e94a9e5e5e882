"""Command `prove`: whether two models are equal for every input, and if not, why."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import interrupts, report
from . import options as shared
from .arguments import field_of
from .counterexamples import folder_blocks, require_folder, with_folder, write_counterexample
from .exit_codes import EXIT_DIFFERENT, EXIT_NOT_REPLAYED, EXIT_NOT_VERIFIED, NOT_REPLAYED, finish
from .options import argument, choice, option, repeatable
from .parsing import Given, assignment, contents, dimension, number, shape
from .piping import read_model
from .rerun_command import command_again

if TYPE_CHECKING:
    from ..ir import ModelFile
    from ..verification.proof import Proof

_CODES = {"proved": 0, "refuted": EXIT_DIFFERENT, "open": EXIT_NOT_VERIFIED}
_CODES[NOT_REPLAYED] = EXIT_NOT_REPLAYED


def prove(
    context: typer.Context,
    before: Path = argument("A", "A model; '-' is standard input."),
    after: Path = argument("B", "Another model; '-' is standard input."),
    *,
    equality: str = option(
        "bits, values or reals. bits, the default, proves outputs equal bit for bit; values proves"
        " them equal up to the signs of zeros; reals, if floats were real numbers.",
        default="bits",
        **choice("NOTION", "bits", "values", "reals"),
    ),
    assignments: list[Given] | None = repeatable(
        "Bind an input to a value: the claim holds for that value. B may lack the input."
        " Repeatable. Values are JSON (16000, true, [1, 2]) or @file.npy.",
        "--set",
        metavar="NAME=VALUE",
        parser=assignment,
    ),
    sizes: list[Given] | None = repeatable(
        "Without a proof for every size, prove equality for this size of a named dimension, or for"
        " sizes from a minimum on: 'NAME>=D'. Repeatable.",
        "--dim",
        metavar="NAME=D",
        parser=dimension,
    ),
    shapes: list[Given] | None = repeatable(
        "The same for the shape of an input; '?' leaves a dimension open. Repeatable.",
        "--shape",
        metavar="NAME=D,D",
        parser=shape,
    ),
    by_position: bool = shared.BY_POSITION,
    search: bool = option(
        "Without a proof, run both models on random inputs, and try sizes and values that would"
        " decide it; on by default.",
        "--search/--no-search",
        default=True,
    ),
    certificate: Path | None = option("Store the proof in FILE.", metavar="FILE"),
    counterexample: Path | None = shared.COUNTEREXAMPLE,
    force: bool = shared.FORCE_FOLDER,
    timeout: float | None = option(
        "Limit for loading a model, or running it once, in the search; 10 by default.",
        metavar="SECONDS",
        parser=number(above=True),
    ),
    max_input_size: int | None = shared.MAX_INPUT_SIZE,
    max_memory: int | None = field_of("max_memory"),
    as_json: bool = shared.JSON,
    quiet: bool = shared.QUIET,
) -> int:
    """Prove two models of any origin equal for every input, or refute it.

    The checker of certificates replays a proof where it can. Without a proof, show what differs,
    and conditions under which there is one.
    """
    from ..display import Line
    from ..driver.specialize import typed_values
    from ..limits import Limits, governed
    from ..verification import prove as decide

    dims = contents(sizes)
    is_narrow = shapes or any(isinstance(size, int) for size in dims.values())
    if certificate is not None and (is_narrow or by_position):
        raise typer.BadParameter(
            "a certificate covers every size, or every one from a minimum on, and matches inputs"
            " by name; leave out --dim NAME=D, --shape and --by-position"
        )
    interrupts.raise_from_now_on()
    require_folder(counterexample, force)
    with report.progress("proving", quiet=as_json or quiet) as progress:
        models = [read_model(path, max_input_size) for path in (before, after)]
        read = [before, after, *(file for model in models for file in model.data_files)]
        if certificate is not None:
            from ..verification.certificate import place_of

            place_of(certificate, read, force=force)
        bound = typed_values(models[0], contents(assignments))
        settings: dict[str, Any] = {"bound": bound, "equality": equality, "search": search}
        settings |= {"sample_shapes": contents(shapes) or None, "dims": dims or None}
        settings |= {} if timeout is None else {"timeout": timeout}
        settings["by_position"] = by_position
        with governed(Limits.of(None, max_memory, timeout)):
            proof = decide(*models, **settings, replay=True, on_progress=progress)
    if certificate is not None and proof.proved:
        proof = _write_certificate(certificate, models, proof, bound, read, force=force)
    place = None
    if counterexample is not None and proof.feeds is not None:
        more = ["--rtol", "0", "--atol", "0"] if proof.equality == "reals" else []
        more += ["--by-position"] if by_position else []
        subject = (before, after), models[0], proof.feeds, proof.reason, bound, more
        place = write_counterexample(counterexample, *subject, force=force)
    code = _CODES[proof.word]
    failure = [f"{proof.word}: {proof.unreplayed or proof.reason}"] if code else []
    command_with = functools.partial(command_again, context)

    def show() -> None:
        blocks = [*proof.blocks(lambda condition: command_with(condition.options))]
        blocks += folder_blocks(counterexample, place, proof.proved)
        if counterexample is None and proof.feeds is not None:
            blocks.append(Line("--counterexample FOLDER writes this input as files", "note"))
        fields = with_folder(proof.to_dict(), place)
        report.show_result(lambda: fields, blocks, as_json, code, failure)

    return finish(code, show, product=True)


def _write_certificate(
    path: Path,
    models: Sequence[ModelFile],
    proof: Proof,
    bound: Mapping[str, Any],
    read: Sequence[Path],
    *,
    force: bool,
) -> Proof:
    """Write the certificate of a proof. Return the proof with its derivation."""
    from ..verification.certificate import Certificate

    before, after = models
    record = Certificate.of(before, after, proof, bound)
    record.write(path, read, force=force)
    return record.proof
