"""Write what must be written by hand of something new: its file and its test.

Run: python -m straightline.dev.new pass NAME [--family FOLDER]
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from straightline.dev.tools import passes

ROOT = Path(__file__).parents[1]

_PASS = '''"""{title}.

    y = Identity (x)   ->   x
"""

from typing import ClassVar

from ...ir import Graph, Model
from ..base import Pass, PassContext


class {kind}(Pass):
    """{title}."""

    name: ClassVar[str] = "{name}"

    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite each graph, and return whether the model changed."""
        return any([self._rewrite(graph, context) for graph in model.graphs()])

    def _rewrite(self, graph: Graph, context: PassContext) -> bool:
        for node in graph.nodes():
            context.kept(self, node, "not written yet")
        return False
'''
_TEST = '''"""{title}: before and after, then numbers, and what must stay."""

from harness import assert_keeps
from straightline.passes.{family}.{module} import {kind}

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) '


def test_kept_nodes():
    assert_keeps({kind}(), HEAD + "{{ y = Neg (x) }}", "not written yet")
'''


def new_pass(name: str, family: str, root: Path = ROOT) -> list[Path]:
    """Write the file and the test of a pass, and what derives from its class.

    Args:
        name: its name in pipelines, in kebab-case.
        family: its folder below `passes/`.
        root: the root of the repository.

    Returns:
        the files to complete.

    Raises:
        ValueError: the name is not in kebab-case or taken, or there is no such folder.
    """
    words = name.split("-")
    if not all(word.isalnum() and word.islower() and word.isascii() for word in words):
        raise ValueError(f"'{name}' is not in kebab-case, such as merge-slices")
    if not (root / "passes" / family / "__init__.py").is_file():
        raise ValueError(f"there is no folder passes/{family}")
    if any(one.name == name for one in passes.classes(root / "passes").values()):
        raise ValueError(f"there is a pass {name}")
    module, kind = name.replace("-", "_"), "".join(word.capitalize() for word in words)
    title = " ".join([words[0].capitalize(), *words[1:]])
    fields = {"name": name, "family": family, "module": module, "kind": kind, "title": title}
    written = {
        root / "passes" / family / f"{module}.py": _PASS,
        root / "tests" / "passes" / family / f"test_{module}.py": _TEST,
    }
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(**fields), encoding="utf-8")
    passes.main(root)
    return list(written)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("pass",))
    parser.add_argument("name")
    parser.add_argument("--family", default="simplify", help="the folder below passes/")
    options = parser.parse_args(arguments)
    try:
        files = new_pass(options.name, options.family)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in files:
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
