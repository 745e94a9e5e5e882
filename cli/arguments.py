"""Groups of arguments, each with the options of the library that it stands for."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from . import options as shared
from . import parsing
from .completing import pass_names, target_names
from .options import TYPER, choice, flag, for_many, option, repeatable, verifying, whole
from .parsing import Given, contents

LOCAL = "loky"
"""The backend of a batch on this machine."""

if TYPE_CHECKING:
    from ..driver.options import RewriteOptions
    from ..verification.runs.options import VerifyOptions


@dataclasses.dataclass(frozen=True)
class PipelineArguments:
    """Arguments about the passes."""

    passes: str | None = option(
        "Passes instead of the default pipeline, such as 'unroll-loops{max_trips=64},inline-ifs';"
        " see the command 'passes'.",
        metavar="TEXT",
        autocompletion=pass_names,
    )
    selects: bool = flag(
        "Replace run-time Ifs and bounded Loops by selects: the same as '--passes selects'.",
        "--selects",
    )
    keep_nan: bool | None = option(
        "Keep cells in which GRU, LSTM or RNN of onnxruntime may turn a NaN into a number.",
        "--keep-nan",
    )
    exactness: str | None = shared.EXACTNESS
    optimize_for: str | None = option(
        "Of 'accelerate': run, the default, lets a faster form load twice as long or 5 ms longer;"
        " balanced a tenth longer; load no longer.",
        "--optimize-for",
        **choice("GOAL", "run", "balanced", "load"),
    )
    costs: str | None = option(
        "Compare the forms of 'accelerate' by these costs: a file that 'straightline calibrate'"
        " wrote.",
        "--costs",
        metavar="FILE.toml",
    )
    max_run_memory: int | None = option(
        "Of 'accelerate': limit of the predicted memory of a run; 1G by default, 0 for none.",
        "--max-run-memory",
        **shared.SIZE,
    )
    max_trips: int | None = option("Keep loops with more iterations.", **whole())
    max_nodes: int | None = option(
        "Limit of nodes that the whole rewrite may add; 20000 by default.", **whole()
    )
    assumed: list[Given] | None = repeatable(
        "Assume a maximum trip count of a Loop, named by its path. Repeatable.",
        "--assume-max",
        metavar="LOOP=N",
        parser=parsing.maximum,
    )
    branches: list[Given] | None = repeatable(
        "Assume that an If, named by its path, always takes this branch. Repeatable.",
        "--assume",
        metavar="IF=then|else",
        parser=parsing.branch,
    )

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of a rewrite.

        Raises:
            BadParameter: both --selects and --passes are given.
        """
        if self.selects and self.passes is not None:
            raise typer.BadParameter("--selects stands for '--passes selects'; give it alone")
        of_accelerate = ("keep_nan", "exactness", "optimize_for", "costs", "max_run_memory")
        names = (*of_accelerate, "max_trips", "max_nodes")
        numbers = {name: value for name in names if (value := getattr(self, name)) is not None}
        passes = "selects" if self.selects else self.passes
        assumed = {"assume_max": contents(self.assumed), "assume": contents(self.branches)}
        return {"passes": passes, **assumed, **numbers}


@dataclasses.dataclass(frozen=True)
class ModelArguments:
    """Arguments about the model, and what to make of it."""

    load: list[Path] | None = shared.LOAD
    fits: str | None = option(
        "Fit the model to a compiler or runtime, its opsets and operators; see the command"
        " 'targets'. onnxruntime also searches for the fastest form.",
        "--target",
        metavar="NAME",
        parser=parsing.target_name,
        autocompletion=target_names,
    )
    fits_file: Path | None = option(
        "The same for a compiler or runtime that a file describes.",
        "--target-file",
        metavar="FILE.toml",
    )
    max_work: int | None = option(
        "Limit of steps, of about a nanosecond, for computing constants; 10000000000 by default.",
        **whole(),
    )
    max_memory: int | None = shared.MAX_MEMORY
    assignments: list[Given] | None = shared.SET
    dimensions: list[Given] | None = repeatable(
        "Fix the shape of an input; '?' keeps a dimension as declared. Repeatable.",
        "--shape",
        metavar="NAME=D,D",
        parser=parsing.shape,
    )
    sizes: list[Given] | None = shared.DIM
    freeze_initializers: bool = flag(
        "Turn inputs with a default into constants.", "--freeze-initializers"
    )
    max_input_size: int | None = shared.MAX_INPUT_SIZE

    def target(self) -> str | Path | None:
        """Return the target that --target or --target-file names.

        Raises:
            BadParameter: both are given.
        """
        if self.fits is not None and self.fits_file is not None:
            raise typer.BadParameter(
                "--target and --target-file name two targets; give one of them"
            )
        return self.fits if self.fits_file is None else self.fits_file

    def options(self, **keywords: Any) -> RewriteOptions:
        """Return the options of a rewrite; the files of inputs are read.

        Raises:
            FeedError: a file cannot be read.
        """
        from ..driver.options import RewriteOptions

        return RewriteOptions.of(
            target=self.target(),
            values=contents(self.assignments),
            shapes=contents(self.dimensions),
            dims=contents(self.sizes),
            freeze_initializers=self.freeze_initializers,
            max_work=self.max_work,
            max_memory=self.max_memory,
            **keywords,
        )


@dataclasses.dataclass(frozen=True)
class ComparisonArguments:
    """Arguments about how models are run and compared."""

    inputs: Path | None = verifying(
        "Inputs to compare on: an .npz file, a folder of them, or a test_data_set folder; drawn"
        " by default.",
        metavar="PATH",
    )
    sample_shape: list[Given] | None = verifying(
        "The shape of a drawn input; '?' leaves a dimension open. Repeatable.",
        "--sample-shape",
        metavar="NAME=D,D",
        parser=parsing.shape,
        callback=parsing.once,
    )
    runtime: str = verifying(
        "auto, onnxruntime, reference or both. auto, the default, is onnxruntime if it is"
        " installed and runs both models, otherwise the reference.",
        default="auto",
        **choice("NAME", "auto", "onnxruntime", "reference", "both"),
    )
    equality: str | None = verifying(
        "bits, values or reals: prove outputs equal bit for bit, up to the signs of zeros, or if"
        " floats were real numbers; by default bits, but reals after passes that may round.",
        **choice("NOTION", "bits", "values", "reals"),
    )
    rtol: float | None = verifying(
        "Relative tolerance; by default a tight one for the element type.",
        metavar="X",
        parser=parsing.number(),
    )
    atol: float | None = verifying(
        "Absolute tolerance; by default a tight one for the element type.",
        metavar="X",
        parser=parsing.number(),
    )
    samples: int | None = verifying(
        "Number of plain samples to run, even after a proof; by default 3, without a proof only.",
        **whole(1),
    )
    seed: int = verifying("Seed of the samples; 0 by default.", default=0, **whole())
    timeout: float | None = verifying(
        "Limit for loading a model or running it once, 60 by default; also for constants whose"
        " steps cannot be counted, 5 by default.",
        metavar="SECONDS",
        parser=parsing.number(above=True),
    )

    def tolerances(self) -> list[str]:
        """Return the tolerances as they were given."""
        pairs = (("--rtol", self.rtol), ("--atol", self.atol))
        return [word for name, x in pairs if x is not None for word in (name, str(x))]

    def options(self, prove: bool | Literal["only"] | None, **more: Any) -> VerifyOptions:
        """Return the options of a verification.

        Raises:
            VerifyError: the runtime is not installed.
        """
        from ..verification.runs.options import VerifyOptions

        names = ("runtime", "equality", "rtol", "atol", "samples", "seed", "timeout")
        more |= {name: getattr(self, name) for name in names}
        shapes = contents(self.sample_shape) or None
        return VerifyOptions(prove, self.inputs, sample_shapes=shapes, **more)


@dataclasses.dataclass(frozen=True)
class ProofArguments:
    """Arguments about whether a result is proved before it is written."""

    verify: bool = verifying(
        "Prove or compare the outputs before writing; on by default.",
        "--verify/--no-verify",
        default=True,
    )
    prove: bool | None = shared.PROVE
    unproved: str = verifying(
        "Treatment of an open proof: samples, the default, runs both models, and keeps a construct"
        " whose rewrite they refute; keep keeps each construct whose rewrite is not proved; allow"
        " runs nothing.",
        default="samples",
        **choice("CHOICE", "samples", "keep", "allow"),
    )
    certificate: Path | None = shared.of_output(
        "Accept a proof only, and store it in FILE; 'verify --certificate' checks it.",
        metavar="FILE",
    )

    def demanded(self) -> bool | None:
        """Return the option `prove` of the verification: a certificate demands a proof.

        Raises:
            BadParameter: a proof is asked for, and none is to be tried.
        """
        if not self.verify and (self.prove or self.certificate is not None):
            raise typer.BadParameter("a proof is asked for; leave out --no-verify")
        if self.unproved == "keep" and (self.prove is False or not self.verify):
            unfit = "--no-verify" if not self.verify else "--no-prove"
            raise typer.BadParameter(f"--unproved keep needs a proof; leave out {unfit}")
        return demanded(self.prove, self.certificate)

    def asked(self) -> bool | Literal["only"] | None:
        """Return the option `prove` of the verification, by which nothing more is run than asked.

        Raises:
            BadParameter: options contradict each other.
        """
        prove = self.demanded()
        return "only" if prove is None and self.unproved == "allow" else prove


def demanded(prove: bool | None, certificate: Path | None) -> bool | None:
    """Return whether a proof is demanded, as a certificate does.

    Raises:
        BadParameter: a certificate is asked for, and no proof is to be tried.
    """
    if certificate is not None and prove is False:
        raise typer.BadParameter("--certificate is about a proof; leave out --no-prove")
    return True if certificate is not None else prove


@dataclasses.dataclass(frozen=True)
class OutputArguments:
    """Arguments about what is written and shown."""

    config: Path | None = shared.CONFIG
    no_config: bool = shared.NO_CONFIG
    force: bool = shared.FORCE
    link_data: str | None = shared.of_output(
        "Do not copy external data: 'reference' refers to it in or below OUT's folder; 'hard'"
        " makes hard links beside OUT, which onnx.load refuses.",
        **choice("HOW", "reference", "hard"),
    )
    as_json: bool = shared.JSON
    quiet: bool = shared.QUIET
    page: Path | None = shared.REPORT
    print_after: list[str] | None = option(
        "Print the model as ONNX text on stderr after each pass that changes it, or after PASS."
        " Repeatable.",
        metavar="[=PASS]",
        rich_help_panel=shared.WATCHING,
    )
    print_before: list[str] | None = option(
        "Print it before each pass that changes it, or before PASS. Repeatable.",
        metavar="[=PASS]",
        rich_help_panel=shared.WATCHING,
    )
    verbose: int = shared.VERBOSE

    @property
    def silent(self) -> bool:
        """Test whether no progress is shown."""
        return self.as_json or self.quiet or self.verbose > 0


@dataclasses.dataclass(frozen=True)
class ManyArguments:
    """Arguments about many models."""

    out: Path | None = for_many(
        "The folder of the results of many models; it keeps the structure of the source folders.",
        "-o",
        "--out",
        metavar="FOLDER",
        parser=parsing.place,
    )
    jobs: int | None = for_many(
        "Number of models in progress at once; by default the number of processors.",
        **whole(1),
    )
    resume: bool = for_many("Skip models that are done and unchanged.", "--resume", default=False)
    backend: str = for_many(
        "The processes: loky, on this machine; dask or ray, on a cluster that reaches the same"
        " files.",
        "--backend",
        default=LOCAL,
        **choice("NAME", LOCAL, "dask", "ray"),
    )
    summary: list[Path] | None = for_many(
        "Also write a line for each model and totals: an HTML page, or CSV where FILE ends in .csv."
        " Repeatable.",
        "--summary",
        metavar="FILE",
        parser=parsing.sheet_path,
    )
    address: str | None = for_many(
        "Address of the cluster, such as tcp://10.0.0.1:8786 (dask) or 10.0.0.1:6379 (ray).",
        metavar="URL",
    )


def _leaves(parameters: Mapping[str, inspect.Parameter]) -> Iterator[inspect.Parameter]:
    """Yield parameters as typer reads them, with the fields of groups in their place."""
    for name, parameter in parameters.items():
        if dataclasses.is_dataclass(parameter.annotation):
            hints = typing.get_type_hints(parameter.annotation)
            for field in dataclasses.fields(parameter.annotation):
                yield _declared(field.name, hints[field.name], field)
        elif isinstance(parameter.default, dataclasses.Field):
            yield _declared(name, parameter.annotation, parameter.default)
        else:
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _declared(name: str, type_: Any, field: dataclasses.Field[Any]) -> inspect.Parameter:
    annotation = Annotated[type_, field.metadata[TYPER]]
    default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


T = TypeVar("T")


def grouped(command: Callable[..., T]) -> Callable[..., T]:
    """Let a command take groups of arguments, where typer gives it each by itself."""
    own = inspect.signature(command, eval_str=True).parameters
    kinds = {name: parameter.annotation for name, parameter in own.items()}
    groups: dict[str, Any] = {
        n: kind for n, kind in kinds.items() if dataclasses.is_dataclass(kind)
    }

    @functools.wraps(command)
    def flat(**values: Any) -> T:
        arguments = {name: values[name] for name in own if name not in groups}
        for name, group in groups.items():
            names = [field.name for field in dataclasses.fields(group)]
            arguments[name] = group(**{field: values[field] for field in names})
        return command(**arguments)

    parameters = list(_leaves(own))
    described: Any = flat
    del described.__wrapped__
    described.__signature__ = inspect.Signature(parameters)
    described.__annotations__ = {one.name: one.annotation for one in parameters}
    return flat
