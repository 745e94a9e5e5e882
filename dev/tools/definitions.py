"""Write the table of docs/own-operators.md: the operators that straightline defines.

python dev/tools/definitions.py
"""

from __future__ import annotations

from pathlib import Path

from straightline.definitions import Definition, every
from straightline.definitions.pattern import Variable

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "own-operators.md"
BEGIN, END = "<!-- defined: made by dev/tools/definitions.py -->\n", "<!-- end -->\n"


def table() -> str:
    """The operators that straightline defines, with what their kernels do otherwise."""
    forms: dict[str, list[Definition]] = {}
    for definition in every():
        if definition.tried or definition.source.startswith(("docs/", "core/")):
            forms.setdefault(definition.name, []).append(definition)
    lines = [
        "| operator | operands | attributes | equal | tried on | what the kernel does otherwise |",
        "|---|---|---|---|---|---|",
    ]
    for name in sorted(forms):
        first = forms[name][0]
        operands = ", ".join(
            f"{operand.name}{'?' * (operand.kind == 'optional')}" for operand in first.node.inputs
        )
        attributes = ", ".join(
            f"{attribute}{'' if _is_required(value) else '?'}"
            for attribute, value in first.node.attributes.items()
        )
        notion = "bits" if all(each.exact for each in forms[name]) else "reals"
        tried = first.tried or "its documentation alone"
        differs = "; ".join(dict.fromkeys(each.differs for each in forms[name] if each.differs))
        lines.append(f"| `{name}` | {operands} | {attributes} | {notion} | {tried} | {differs} |")
    return "\n".join(lines) + "\n"


def _is_required(value: object) -> bool:
    return not (isinstance(value, Variable) and value.is_optional)


def with_table(page: str) -> str:
    """A page with the table in its place."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
