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

from ..options.table import OPTIONS, Option, options_on
from ..records import record
from . import options as shared
from . import parsing
from .completing import pass_names, target_names
from .options import TYPER, choice, for_many, option, repeatable, verifying, whole
from .parsing import Given, contents

LOCAL = "loky"
"""The backend of a batch on this machine."""

if TYPE_CHECKING:
    from ..driver.options import RewriteOptions
    from ..verification.runs.options import VerifyOptions


_PARSERS: Mapping[str, Any] = {
    "NAME": parsing.target_name,
    "NAME=VALUE": parsing.assignment,
    "NAME=D,D": parsing.shape,
    "NAME=D": parsing.dimension,
    "LOOP=N": parsing.maximum,
    "IF=then|else": parsing.branch,
    "SIZE": parsing.size,
    "SECONDS": parsing.number(above=True),
}
"""The parsers of values, by metavariable."""
_WORDS: Mapping[str, Any] = {"passes": pass_names, "target": target_names}
"""The completion of options whose words are looked up."""
_PREFIX = "option_"


@record(frozen=True)
class TableArguments:
    """Options of the table that a command has.

    Attributes:
        values: their values by name; None where one is left out.
    """

    command: str
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def keywords(self) -> dict[str, Any]:
        """Return the keywords of a rewrite; the files of inputs are read.

        Raises:
            BadParameter: two options contradict each other.
            FeedError: a file cannot be read.
        """
        if self["selects"] and self["passes"] is not None:
            raise typer.BadParameter("--selects is short for '--passes selects'; use it alone")
        keywords: dict[str, Any] = {}
        for row in options_on(self.command):
            value = self[row.name]
            if row.repeats:
                keywords[row.keyword] = contents(value)
            # An option of passes that is left out must not appear as None: passes have defaults of
            # their own.
            elif value is not None or row.type:
                keywords[row.keyword] = value
        keywords["target"] = self.target()
        if keywords.pop("selects", False):
            keywords["passes"] = "selects"
        return keywords

    def target(self) -> str | Path | None:
        """Return the target that --target or --target-file names.

        Raises:
            BadParameter: both are given.
        """
        name, file = self["target"], self["target_file"]
        if name is not None and file is not None:
            raise typer.BadParameter("--target and --target-file name two targets; use one of them")
        return name if file is None else Path(file)

    def options(self, **keywords: Any) -> RewriteOptions:
        """Return the options of a rewrite; the files of inputs are read.

        Raises:
            BadParameter: two options contradict each other.
            FeedError: a file cannot be read.
        """
        from ..driver.options import RewriteOptions

        return RewriteOptions.of(**{**self.keywords(), **keywords})


def of_table(command: str) -> Any:
    """Return the options that the table has for a command, as a field."""
    return TableArguments(command)


def parameter_of(row: Option) -> str:
    """Return the parameter of a command for an option of the table."""
    return f"{_PREFIX}{row.name}"


def field_of(name: str) -> Any:
    """Return the field of one option of the table, for any command."""
    return _field(next(row for row in OPTIONS if row.name == name))


def _field(row: Option) -> Any:
    names = (row.flag,) if not row.off else (f"{row.flag}/{row.off}",)
    if not row.metavar:
        # None tells a switch that was not given from one that was turned off.
        default = {"False": False, "True": True}.get(row.default)
        return option(row.help, *names, default=default)
    settings: dict[str, Any] = {"metavar": row.metavar}
    if row.choices:
        settings = choice(row.metavar, *row.choices)
    elif row.metavar == "N":
        settings = whole(row.least)
    elif row.metavar in _PARSERS:
        settings["parser"] = _PARSERS[row.metavar]
    if row.name in _WORDS:
        settings["autocompletion"] = _WORDS[row.name]
    return (repeatable if row.repeats else option)(row.help, *names, **settings)


def _type_of(row: Option) -> Any:
    if row.repeats:
        return list[Given] | None
    if not row.metavar:
        return bool if row.default != "None" else bool | None
    kinds = {"N": int, "SIZE": int, "SECONDS": float}
    return kinds.get(row.metavar, str) | None


@record(frozen=True)
class ModelArguments:
    """Arguments about what is read and run."""

    load: list[Path] | None = shared.LOAD
    check: bool = shared.flag(
        "Compare the definitions of --define with the kernels of onnxruntime first, on drawn"
        " nodes; one that contradicts its kernel is an error.",
        "--check",
    )
    max_input_size: int | None = shared.MAX_INPUT_SIZE


@record(frozen=True)
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
        "Number of plain samples to run, also after a proof; by default 3, only without one.",
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


@record(frozen=True)
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
        "Require a proof, and store it in FILE; 'verify --certificate' checks it.",
        metavar="FILE",
    )

    def demanded(self) -> bool | None:
        """Return the option `prove` of the verification: a certificate demands a proof.

        Raises:
            BadParameter: a proof is asked for, and none is to be tried.
        """
        if not self.verify and (self.prove or self.certificate is not None):
            raise typer.BadParameter("a proof needs verification; leave out --no-verify")
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
        raise typer.BadParameter("--certificate stores a proof; leave out --no-prove")
    return True if certificate is not None else prove


@record(frozen=True)
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
        "Print the model before each pass that changes it, or before PASS. Repeatable.",
        metavar="[=PASS]",
        rich_help_panel=shared.WATCHING,
    )
    verbose: int = shared.VERBOSE

    @property
    def silent(self) -> bool:
        """Test whether no progress is shown."""
        return self.as_json or self.quiet or self.verbose > 0


@record(frozen=True)
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
        "Number of models in progress at once; by default the number of processors.", **whole(1)
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
        if isinstance(parameter.default, TableArguments):
            for row in options_on(parameter.default.command):
                yield _declared(parameter_of(row), _type_of(row), _field(row))
        elif dataclasses.is_dataclass(parameter.annotation):
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
    # Annotations are texts here (`from __future__ import annotations`).
    own = inspect.signature(command, eval_str=True).parameters
    kinds = {name: parameter.annotation for name, parameter in own.items()}
    tables = {n: p.default for n, p in own.items() if isinstance(p.default, TableArguments)}
    groups: dict[str, Any] = {
        n: k for n, k in kinds.items() if dataclasses.is_dataclass(k) and n not in tables
    }

    @functools.wraps(command)
    def flat(**values: Any) -> T:
        arguments = {n: values[n] for n in own if n not in groups and n not in tables}
        for name, table in tables.items():
            rows = {row.name: values[parameter_of(row)] for row in options_on(table.command)}
            arguments[name] = dataclasses.replace(table, values=rows)
        for name, group in groups.items():
            names = [field.name for field in dataclasses.fields(group)]
            arguments[name] = group(**{field: values[field] for field in names})
        return command(**arguments)

    parameters = list(_leaves(own))
    described: Any = flat
    # `inspect.signature` would follow it to the parameters with groups.
    del described.__wrapped__
    described.__signature__ = inspect.Signature(parameters)
    described.__annotations__ = {one.name: one.annotation for one in parameters}
    return flat
