"""Table of all options of a transformation, from which every list of options derives.

    --max-work N  =  max_work=N  =  max-work = N in straightline.toml

`dev/tools/options.py` writes the calls (`driver/calls.py`), the fields and the keywords
(`driver/option_fields.py`) and the table of docs/command-line.md from it. Commands, the messages
that name options, suggestions and configuration files read it when they run.
"""

from typing import NamedTuple

ALL = "transform rewrite convert_version inspect"
ANY = "rewrite simplify convert inspect check"


class Option(NamedTuple):
    """One option.

    Attributes:
        name: the keyword; an option of passes is one, too.
        type: its type in a call; "" for an option of passes, whose class has it.
        text: the documentation of the keyword.
        calls: the public calls that have it by name.
        default: its value where it is left out, as Python writes it.
        flag: the option of commands; without its dashes, the key in a configuration file.
        help: the documentation of that.
        page: the same in docs/command-line.md, where it says more or has links.
        metavar: the form of its value on the command line; "" for a switch.
        least: the smallest whole number.
        repeats: it may stand once for each name.
        weakens: results may differ from the original's, so far as the caller is wrong.
        off: the flag that turns a switch off, which is on by default.
        of: the keyword that it sets in another form.
    """

    name: str
    type: str = ""
    text: str = ""
    calls: str = ""
    default: str = "None"
    flag: str = ""
    help: str = ""
    page: str = ""
    commands: str = ""
    metavar: str = ""
    least: int = 0
    choices: tuple[str, ...] = ()
    repeats: bool = False
    weakens: bool = False
    off: str = ""
    of: str = ""

    @property
    def key(self) -> str:
        """The key in a configuration file."""
        return self.flag.removeprefix("--")

    @property
    def keyword(self) -> str:
        """The keyword that it sets."""
        return self.of or self.name

    @property
    def row(self) -> str:
        """The row of docs/command-line.md."""
        metavar = self.metavar.replace("|", "\\|")
        flags = f"`{self.flag} {metavar}`" if metavar else f"`{self.flag}`"
        flags += f", `{self.off}`" if self.off else ""
        text = self.help.removesuffix(".")
        return f"| {flags} | {self.page or text[:1].lower() + text[1:]} |"

    @property
    def spelling(self) -> str:
        """The keyword as a message names it: "values=" or "selects=True"."""
        return f"{self.keyword}={'' if self.metavar else 'True'}"


OPTIONS = (
    Option(
        "passes",
        "Passes",
        'None for the default pipeline "straighten", text such as "unroll-loops,inline-ifs", or'
        " pass objects; `()` for a conversion alone.",
        flag="--passes",
        help="Passes instead of the default pipeline, such as"
        " 'unroll-loops{max_trips=64},inline-ifs'; see the command 'passes'.",
        page="passes instead of the default pipeline, such as"
        " `'unroll-loops{max_trips=64},inline-ifs'`",
        commands="rewrite inspect check",
        metavar="TEXT",
    ),
    Option(
        "target",
        "TargetLike",
        'a client that must support the result: a name such as "onnx2torch", the path of a file,'
        " or a `straightline.targets.Target`. The model is converted to an opset that the target"
        " reads, unsupported operators are decomposed, and remarks name the rest.",
        "transform rewrite inspect",
        flag="--target",
        help="Fit the model to a compiler or runtime, its opsets and operators; see the command"
        " 'targets'. onnxruntime also searches for the fastest form.",
        page="fit the model to a compiler or runtime: its opset, and decompositions of"
        " operators that it lacks; see [targets](targets.md). `onnxruntime` also"
        " searches for the fastest form, see [accelerate](accelerate.md)",
        commands=ANY,
        metavar="NAME",
    ),
    Option(
        "target_file",
        flag="--target-file",
        help="Fit the model to a compiler or runtime that a file describes.",
        page="the same for a client that you describe in a file",
        commands=ANY,
        metavar="FILE.toml",
        of="target",
    ),
    Option(
        "opset",
        "int | None",
        "convert to this version of ONNX's operator set after the passes.",
        "transform",
        flag="--opset",
        help="Convert to this opset, 7 or later. One proof covers the rewrite as well.",
        page="convert the result to this opset, in the same command; the proof or"
        " comparison covers both steps at once",
        commands="rewrite simplify convert",
        metavar="N",
        least=7,
    ),
    Option(
        "ir_version",
        "int | None",
        "with `opset`, the version of the file format; by default the one that ONNX released with"
        " it, where the model's features allow it.",
        "transform convert_version",
        flag="--ir-version",
        help="Version of the file format; by default the one that ONNX released with the opset.",
        commands="convert",
        metavar="N",
        least=3,
    ),
    Option(
        "rewrite",
        "bool",
        "straighten control flow, sequences and optionals that the opset cannot hold.",
        "transform convert_version",
        default="True",
        flag="--rewrite",
        help="Straighten control flow and sequences that the opset cannot hold; on by default.",
        commands="convert",
        off="--no-rewrite",
    ),
    Option(
        "values",
        "Values | None",
        'values of inputs, which leave the signature: `{"sr": 16000}`.',
        ALL,
        flag="--set",
        help="Bind an input to a value; the input leaves the signature. Repeatable. Values are"
        " JSON (16000, true, [1, 2]) or @file.npy.",
        page="bind an input to a value; the input leaves the signature",
        commands=ANY,
        metavar="NAME=VALUE",
        repeats=True,
    ),
    Option(
        "shapes",
        "Shapes | None",
        'shapes of inputs, None for a dimension that stays open: `{"x": (1, None, 512)}`.',
        ALL,
        flag="--shape",
        help="Fix the shape of an input; '?' keeps a dimension as declared. Repeatable.",
        page="fix the shape of an input; `?` keeps the declared dimension",
        commands=ANY,
        metavar="NAME=D,D",
        repeats=True,
    ),
    Option(
        "dims",
        "Dims | None",
        'sizes of named dimensions, wherever they occur: `{"T": 6}`. `{"N": ">=1"}` assumes a least'
        " size: the model accepts others as before, and its results hold for these.",
        ALL,
        flag="--dim",
        help="Fix a named dimension over all inputs, or assume a minimum size: 'NAME>=D'."
        " Repeatable.",
        page="fix a named dimension (`dim_param`), such as `T=6`, over all inputs;"
        " `'N>=1'` assumes a minimum size, see [known"
        " inputs](problems/known-inputs.md#an-if-for-empty-batches)",
        commands=ANY,
        metavar="NAME=D",
        repeats=True,
    ),
    Option(
        "assume_max",
        "Maxima | None",
        'maximum trip counts of Loops, by path: `{"decoder/loop": 64}`. The caller vouches for'
        " them. Inputs with more iterations give other results; the comparison searches for such"
        " inputs.",
        "transform rewrite inspect",
        flag="--assume-max",
        help="Assume a maximum trip count of a Loop, named by its path. Repeatable.",
        page="assume a maximum trip count of a Loop, named by its path; see below",
        commands="rewrite inspect check",
        metavar="LOOP=N",
        repeats=True,
        weakens=True,
    ),
    Option(
        "assume",
        "Branches | None",
        'branches of Ifs, by path: `{"boxes/If_807": "else"}`; as `assume_max`.',
        "transform rewrite inspect",
        flag="--assume",
        help="Assume that an If, named by its path, always takes this branch. Repeatable.",
        page="assume that an If, named by its path, always takes this branch; see below",
        commands="rewrite inspect check",
        metavar="IF=then|else",
        repeats=True,
        weakens=True,
    ),
    Option(
        "freeze_initializers",
        "bool",
        "turn inputs with a default into constants.",
        ALL,
        default="False",
        flag="--freeze-initializers",
        help="Turn inputs with a default into constants.",
        commands=ANY,
    ),
    Option(
        "selects",
        "bool",
        'also replace run-time Ifs and bounded Loops by selects: the pipeline "selects".',
        "transform",
        default="False",
        flag="--selects",
        help="Replace run-time Ifs and bounded Loops by selects: the same as '--passes selects'.",
        page="run both branches of Ifs on run-time conditions, and all iterations that a"
        " Loop can have: the same as `--passes selects`, see"
        " [selects](passes/selects.md)",
        commands="rewrite inspect check",
    ),
    Option(
        "verify",
        "Verify",
        '"proof" proves equal outputs; True proves, and runs samples where the proof stays open'
        " whatever `unproved` says; False verifies nothing. A mapping holds options of"
        ' `straightline.verify`, such as `{"samples": 5, "timeout": 300}`.',
        "transform rewrite convert_version",
        default='"proof"',
    ),
    Option(
        "unproved",
        "Unproved",
        'the treatment of an open proof. "samples" runs both models, and keeps a construct whose'
        ' rewrite they refute; "keep" keeps each construct whose rewrite is not proved; "allow"'
        " returns the result, and runs nothing. A conversion cannot be kept in part: if its outputs"
        " differ, nothing is returned.",
        "transform rewrite convert_version",
        default='"samples"',
    ),
    Option(
        "strict",
        "bool",
        "raise when a construct is kept, when a pass fails or changes the outputs, or when nothing"
        " could be compared.",
        "transform rewrite",
        default="False",
        flag="--strict",
        help="Fail when a pass keeps a construct, or when nothing could be compared.",
        commands="rewrite",
    ),
    Option(
        "hints",
        "bool",
        "search for options that would decide residual control flow.",
        "transform",
        default="True",
    ),
    Option(
        "base_dir",
        "BaseDir",
        "the folder of the external data of a model in memory; it is read only where the content of"
        " a tensor decides something.",
        ALL,
    ),
    Option(
        "on_progress",
        "OnProgress",
        "progress callback: stage, text, number done, total (see"
        " `straightline.display.OnProgress`). An exception in it ends the work.",
        "transform",
        default="silent",
    ),
    Option(
        "max_work",
        "int | None",
        "limit of steps, of about a nanosecond, for computing constants before run time; a node"
        " beyond it stays, with a remark.",
        ALL,
        flag="--max-work",
        help="Limit of steps, of about a nanosecond, for computing constants; 10000000000 by"
        " default.",
        page="limit of steps, of about a nanosecond, for computing constants before run"
        " time; see below",
        commands=ANY,
        metavar="N",
    ),
    Option(
        "max_memory",
        "int | None",
        "limit in bytes of computed constants at a time; a model that runs for a comparison may use"
        " four times as much.",
        ALL,
        flag="--max-memory",
        help="Limit of computed constants in memory at a time; 256M by default. A model that runs"
        " for a comparison may take four times as much.",
        page="limit of computed constants in memory at a time, in bytes; `500M` or `2G`",
        commands=ANY,
        metavar="SIZE",
    ),
    Option(
        "timeout",
        "float | None",
        "limit in seconds, all together, for constants whose steps cannot be counted; 5 by"
        " default.",
        ALL,
        flag="--timeout",
        help="Limit for constants whose steps cannot be counted; 5 by default.",
        commands="inspect",
        metavar="SECONDS",
    ),
    Option(
        "keep_nan",
        flag="--keep-nan",
        help="Keep cells in which GRU, LSTM or RNN of onnxruntime may turn a NaN into a number.",
        page="keep cells in which GRU, LSTM or RNN of onnxruntime may turn a NaN into a"
        " number; see [accelerate](accelerate.md#infinities-and-nan)",
        commands="rewrite inspect check",
    ),
    Option(
        "exactness",
        flag="--exactness",
        help="Of the passes of 'simplify': bits keeps outputs bit for bit; values, the default, up"
        " to the signs of zeros; reals allows other rounding.",
        commands="rewrite simplify inspect check",
        metavar="NOTION",
        choices=("bits", "values", "reals"),
    ),
    Option(
        "optimize_for",
        flag="--optimize-for",
        help="Of 'accelerate': run, the default, lets a faster form load twice as long or 5 ms"
        " longer; balanced a tenth longer; load no longer.",
        page="of `accelerate`: `run`, the default, lets a form load twice as long or 5 ms"
        " longer, `balanced` a tenth longer, `load` no longer; see"
        " [accelerate](accelerate.md)",
        commands="rewrite inspect check",
        metavar="GOAL",
        choices=("run", "balanced", "load"),
    ),
    Option(
        "costs",
        flag="--costs",
        help="Compare the forms of 'accelerate' by these costs: a file that 'straightline"
        " calibrate' wrote.",
        page="costs by which `accelerate` compares forms, as [calibrate](#calibrate) writes them",
        commands="rewrite inspect check",
        metavar="FILE.toml",
    ),
    Option(
        "max_run_memory",
        flag="--max-run-memory",
        help="Of 'accelerate': limit of the predicted memory of a run; 1G by default, 0 for none.",
        page="of `accelerate`: limit of the predicted memory of a run where sizes are"
        " known, 1G by default; 0 for none; see [accelerate](accelerate.md#memory)",
        commands="rewrite inspect check",
        metavar="SIZE",
    ),
    Option(
        "max_trips",
        flag="--max-trips",
        help="Keep loops of more than N iterations.",
        commands="rewrite inspect check",
        metavar="N",
    ),
    Option(
        "max_nodes",
        flag="--max-nodes",
        help="Limit of nodes that the whole rewrite may add; 20000 by default.",
        page="limit of nodes that the whole rewrite may add",
        commands="rewrite inspect check",
        metavar="N",
    ),
)
"""All options, in the order in which calls and commands have them."""

KEYWORDS = tuple([option.name for option in OPTIONS if option.calls])
"""The keywords of `straightline.transform`, besides options of passes."""

FLAGS = {option.name: option.flag for option in OPTIONS if option.flag}
"""The options of commands by keyword."""


def options_of(call: str) -> tuple[Option, ...]:
    """Return the options of a public call."""
    return tuple([option for option in OPTIONS if call in option.calls.split()])


def options_on(command: str) -> tuple[Option, ...]:
    """Return the options of a command that stand for keywords."""
    return tuple([option for option in OPTIONS if command in option.commands.split()])
