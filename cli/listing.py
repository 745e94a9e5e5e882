"""Commands `passes`, `rules` and `targets`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import interrupts, report
from .exit_codes import finish
from .options import JSON, LOAD, TYPER, flag, option

if TYPE_CHECKING:
    from ..display import Block

NAMES: Any = dataclasses.field(
    default=None,
    metadata={
        TYPER: typer.Argument(
            metavar="[NAME]...",
            help="Rules, or operators in them, to show before and after; globs are allowed.",
            show_default=False,
        )
    },
)
_OPERATOR = re.compile(r"= (\w+) [<(]")


def list_targets(
    check: Path | None = option(
        "Check a model against all of them: the operators that each lacks, as the model is and"
        " after --target.",
        "--check",
        metavar="MODEL",
    ),
    as_json: bool = JSON,
) -> int:
    """Show the targets that models can fit, each with the source of its list."""
    from ..display import Table
    from ..targets import find, names

    interrupts.raise_from_now_on()
    if check is not None:
        from .target_checks import check_table, check_targets

        checks = check_targets(check)
        return _list([each.to_dict() for each in checks], [check_table(checks)], as_json)
    targets = [find(name).to_dict() for name in names()]
    rows = []
    for target in targets:
        source, (first, last) = target["source"], target["opsets"]
        control_flow = ", ".join(target["control_flow"]) or "none"
        about = [target["about"], f"{source['list']}, {source['version']}, {source['date']}"]
        tried = target["tried"]
        about.append(f"tried in {tried['version']}, {tried['date']}" if tried else "not tried")
        count = f"all but {target['lacks']}" if target["operators"] is None else target["operators"]
        rows.append((target["name"], f"{first} to {last}", str(count), control_flow, about))
    columns = ("Target", "Opsets", "Operators", "Control flow", "Client; its list")
    return _list(targets, [Table(columns, rows)], as_json)


def list_passes(load: list[Path] | None = LOAD, as_json: bool = JSON) -> int:
    """Show every pass with its options."""
    from ..display import Line, Table
    from ..passes import load_file
    from ..passes.manager.plugins import describe_passes

    interrupts.raise_from_now_on()
    for file in load or ():
        load_file(file)
    passes = describe_passes()
    rows = [
        (item["name"], [f"{o['name']}={o['default']}" for o in item["options"]], item["summary"])
        for item in passes
    ]
    default = ", ".join(item["name"] for item in passes if item["default"])
    line = Line(f"the default pipeline, straighten, repeats: {default}")
    return _list(passes, [Table(("Pass", "Options", "What it does"), rows), line], as_json)


def list_rules(
    names: list[str] | None = NAMES,
    load: list[Path] | None = LOAD,
    prove: bool = flag("Prove the shown rules now, in all cases.", "--prove"),
    as_json: bool = JSON,
) -> int:
    """Show the rewrite rules: all names, or some rules before and after, each with its proof."""
    from ..ir import instead
    from ..passes import load_file
    from ..passes.simplify.rule_set import all_rules, describe

    interrupts.raise_from_now_on()
    # Before the caller's files add theirs.
    shipped = {rule.name for rule, _ in all_rules()}
    for file in load or ():
        load_file(file)
    rules = all_rules()
    if names:
        matches = [pair for pair in rules if _matches(describe(*pair), names)]
        if not matches:
            listed = " or ".join(map(repr, names))
            others = instead(names[0], [r.name for r, _ in rules], listing="'straightline rules'")
            raise typer.BadParameter(f"no rule has the name or the operator {listed}; {others}")
        rules = matches
    if prove:
        from ..passes.simplify.rules.rule_proof import require_proof

        rules = [(rule, None if rule.trusted else require_proof(rule)) for rule, _ in rules]
    items = [describe(*pair) for pair in rules]
    own = [item for item in items if names or item["name"] not in shipped]
    blocks = [] if names else _rule_names(items)
    return _list(items, [*blocks, *([_rule_table(own)] if own else [])], as_json)


def _matches(item: dict[str, Any], names: Sequence[str]) -> bool:
    """Test whether a glob matches the name or an operator of a rule."""
    operators = _OPERATOR.findall(" ".join([*item["before"], item["after"]]))
    texts = [name.lower() for name in (item["name"], *operators)]
    return any(fnmatchcase(name, glob.lower()) for glob in names for name in texts)


def _rule_names(items: Sequence[dict[str, Any]]) -> list[Block]:
    """The names of rules by their class of exactness, and how to see one."""
    from ..display import Line, Table

    rows = []
    for exactness in ("bits", "values", "reals"):
        own = [item["name"] for item in items if item["exactness"] == exactness]
        rows.append((exactness, str(len(own)), ", ".join(own) or "none"))
    hint = "before and after: straightline rules NAME, or an operator such as Gemm"
    return [Table(("Exactness", "Rules", "Names"), rows), Line(hint)]


def _rule_table(items: Sequence[dict[str, Any]]) -> Block:
    from ..display import Table

    rows = [
        (
            [item["name"], item["exactness"], f"opset {item['opsets']['first']}"],
            [*item["before"], "->", item["after"]],
            _proof_of(item["proof"]),
        )
        for item in items
    ]
    return Table(("Rule", "Before and after", "Proof"), rows)


def _proof_of(proof: dict[str, Any]) -> str:
    if proof["cases"] is None:
        return str(proof["status"])
    return f"{proof['status']} in {proof['cases']} cases, {proof['seconds']:.2f} s"


def _list(items: Sequence[Any], blocks: Sequence[Block], as_json: bool) -> int:
    def show() -> None:
        report.show_json(items) if as_json else report.show(blocks)

    return finish(0, show, product=True)
