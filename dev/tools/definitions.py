"""Write docs/data/definitions.csv: the operators that straightline defines.

python dev/tools/definitions.py
"""

from collections.abc import Iterator

from straightline.definitions import Definition, every
from straightline.definitions.pattern import Variable
from straightline.dev.tools import data_files

HEAD = ("operator", "operands", "attributes", "equal", "tried on", "difference of the kernel")


def rows() -> Iterator[list[str]]:
    """Yield the operators that straightline defines, with the differences of their kernels."""
    forms: dict[str, list[Definition]] = {}
    for definition in every():
        if definition.tried or definition.source.startswith(("docs/", "core/")):
            forms.setdefault(definition.name, []).append(definition)
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
        yield [name, operands, attributes, notion, tried, differs]


def _is_required(value: object) -> bool:
    return not (isinstance(value, Variable) and value.is_optional)


if __name__ == "__main__":
    data_files.write("definitions", HEAD, rows())
