"""Write what derives from the table of options: the calls, their fields and keywords, a docs table.

Run: python -m straightline.dev.tools.options
"""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from straightline.options.table import OPTIONS, Option, options_of, options_on
from straightline.passes.manager.autotune import Accelerate
from straightline.passes.manager.registry import PASSES

ROOT = Path(__file__).parents[2]
_WIDTH = 100
_NOTICE = "# Written by dev/tools/options.py from options/table.py: change the table, and run it."
_CLASSES = {
    "convert_version": ("ConvertKeywords", "SharedKeywords"),
    "rewrite": ("RewriteKeywords", "SharedKeywords, PassOptions"),
    "transform": ("TransformKeywords", "RewriteKeywords"),
}
"""The classes of keywords, with their bases, which come first."""
_WHOLE = "transform"
"""The call that documents every option."""
_CALL = re.compile(
    r"(?P<head>^def (?P<name>\w+)\(\n(?:    (?!\*).*\n)+    \*,\n)(?:    \w.*\n)+"
    r"(?P<middle>(?:    \*\*.*\n)?\) -> .*:\n(?:.*\n)*?    Args:\n)"
    r"(?P<entries>(?:        .*\n)+)"
    r"(?:\n    As in `transform`: (?:.+\n)+)?(?P<tail>\n    Returns:)",
    re.MULTILINE,
)
"""A call: its positional parameters, options, and the entries of its docstring."""
_ENTRY = re.compile(r"^        (?P<name>\w+): .*\n(?:            .*\n)*", re.MULTILINE)
_OF_FIELDS = ("verify", "unproved", "on_progress")
"""Keywords of a call that are no fields of its options."""


def filled(text: str, indent: int, hang: int = 4) -> str:
    """Return text in lines of the width of the code."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hang),
        break_long_words=False,
        break_on_hyphens=False,
    )


def parameter(option: Option) -> str:
    """Return the parameter of a call."""
    return f"    {option.name}: {option.type} = {option.default},"


def fields() -> str:
    """Return the file of the fields and keywords."""
    return "\n".join([*_head_of_fields(), *_fields(), *_pass_options(), *_keywords()]) + "\n"


def _head_of_fields() -> Iterator[str]:
    yield '"""Fields of the options of a transformation, and keywords for type checkers."""'
    yield from ("", _NOTICE, "", "from __future__ import annotations", "", "import os")
    yield "from collections.abc import Iterable, Mapping"
    yield from ("from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict", "")
    yield "from ..analysis.iterations.trip_count import AbsentCond"
    yield "from ..display import OnProgress"
    yield "from ..facts.named_dimensions import Dims, Shapes"
    yield "from ..facts.notions import Equality"
    yield "from ..ir import BaseDir"
    yield "from ..passes import Pass, Pipeline"
    yield "from ..passes.costs.goal import GoalName"
    yield "from ..passes.costs.table import Costs"
    yield "from ..records import field, record"
    yield "from ..verification.runs.options import Unproved, Verify"
    yield "from .assumptions import Branches, Maxima"
    yield "from .specialize import Values"
    yield from ("", "if TYPE_CHECKING:", "    from ..passes.manager.adapt_passes import Foreign")
    yield from ("    from ..targets import Target", "")
    yield 'TargetLike: TypeAlias = "str | os.PathLike[str] | Target | None"'
    yield '"""A target as callers name it: by name, by the path of a file, or as an object."""'
    yield ""
    yield 'Passes: TypeAlias = "str | Pass | Foreign | Iterable[Pass | Foreign] | Pipeline | None"'
    yield '"""Passes as callers name them: None for the default ones, text, a pass, several."""'


def _fields() -> Iterator[str]:
    yield from ("", "", "@record(frozen=True)", "class OptionFields:")
    yield '    """Options of a transformation, as `straightline.transform` documents them."""'
    yield ""
    for option in (o for o in OPTIONS if o.type and o.name not in _OF_FIELDS):
        type_, default = option.type, option.default
        if type_ in ("Values | None", "Shapes | None", "Dims | None", "Maxima | None") or (
            type_ == "Branches | None"
        ):
            type_ = type_.removesuffix(" | None")
            default = "field(default_factory=dict)"
        yield f"    {option.name}: {type_} = {default}"
    yield "    pass_options: Mapping[str, Any] = field(default_factory=dict)"


def _keywords() -> Iterator[str]:
    shared = set.intersection(*({o.name for o in options_of(call)} for call in _CLASSES))
    yield from ("", "", "class SharedKeywords(TypedDict, total=False):")
    yield from ('    """Keywords of each of the calls."""', "")
    yield from _types(shared)
    written = shared
    for call, (name, bases) in _CLASSES.items():
        names = {option.name for option in options_of(call)}
        yield from ("", "", f"class {name}({bases}, total=False):")
        yield from (f'    """Keywords of `straightline.{call}`."""', "")
        yield from _types(names - written)
        if call == "rewrite":  # the base of the next
            written = names


def _types(names: Collection[str]) -> Iterator[str]:
    """Yield the types of options, in the order of the table."""
    yield from (f"    {option.name}: {option.type}" for option in OPTIONS if option.name in names)


def _pass_options() -> Iterator[str]:
    types: dict[str, str] = {}
    for kind in (*PASSES, Accelerate):
        written = _annotations(kind)
        for field in dataclasses.fields(kind):
            if not field.metadata.get("code_only"):
                types[field.name] = written[field.name]
    yield from ("", "", "class PassOptions(TypedDict, total=False):")
    yield '    """Options of passes; each goes to every pass of the pipeline that has it.'
    yield from ("", "    `straightline passes` describes them.", '    """', "")
    yield from (f"    {name}: {types[name]}" for name in sorted(types))


def _annotations(kind: type) -> dict[str, str]:
    """Return the types of fields as classes write them, by names of aliases."""
    bodies = [ast.parse(inspect.getsource(each)).body[0] for each in kind.__mro__[-2::-1]]
    fields = [item for body in bodies for item in body.body if isinstance(item, ast.AnnAssign)]
    return {ast.unparse(item.target): ast.unparse(item.annotation) for item in fields}


def calls(text: str | None = None) -> str:
    """Return the file of the public calls, with the options of each in parameters and docstring."""
    if text is None:
        text = (ROOT / "driver" / "calls.py").read_text(encoding="utf-8")
    return _CALL.sub(lambda match: _call(match, options_of(match["name"])), text)


def _call(match: re.Match[str], options: Sequence[Option]) -> str:
    """Return a call with these options."""
    parameters = "\n".join(map(parameter, options))
    entries = {one["name"]: one[0] for one in _ENTRY.finditer(match["entries"])}
    names = [option.name for option in options]
    if match["name"] == _WHOLE:
        own = {option.name: filled(f"{option.name}: {option.text}", 8) for option in options}
    else:  # what stands there by itself has words of its own
        own = {name: entries[name].rstrip("\n") for name in names if name in entries}
    rest = [f"`{name}`" for name in names if name not in own]
    shared = "\n" + filled(f"As in `{_WHOLE}`: {', '.join(rest)}.", 4, 0) + "\n" if rest else ""
    others = {n: e.rstrip("\n") for n, e in entries.items() if n not in names}
    last = {"options": others.pop("options")} if "options" in others else {}
    lines = "\n".join({**others, **own, **last}.values())
    return f"{match['head']}{parameters}\n{match['middle']}{lines}\n{shared}{match['tail']}"


def page() -> str:
    """Return docs/command-line.md with a row for each option of `rewrite`, new ones last."""
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    head, begin, rest = text.partition("| option | meaning |\n|---|---|\n")
    table, end, tail = rest.partition("\n\n")
    rows = {_cell(option.row): option.row for option in options_on("rewrite")}
    lines = [rows.pop(_cell(line), line) for line in table.split("\n")]
    return "".join([head, begin, "\n".join([*lines, *rows.values()]), end, tail])


def _cell(row: str) -> str:
    """Return the first cell of a row."""
    return row.partition("` |")[0]


def files() -> dict[Path, str]:
    """Return the content of each file that derives from the table."""
    return {
        ROOT / "docs" / "command-line.md": page(),
        ROOT / "driver" / "option_fields.py": fields(),
        ROOT / "driver" / "calls.py": calls(),
    }


def main() -> None:
    """Write the files."""
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
