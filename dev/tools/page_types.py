"""Write the Python of each page, and of each public docstring, as a module for type checkers.

    python -m straightline.dev.tools.page_types FOLDER

`make types` checks the modules. Blocks of one page form one module, as they run.
"""

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import straightline as sl

_FOR_OTHERS = ("docs/exporters/", "docs/interfaces.md")
"""Pages with code for libraries that have no types."""
_UNTYPED = """# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# mypy: allow-subclassing-any
"""
_HEAD = '# mypy: disable-error-code="import-not-found,import-untyped"\n'
"""The libraries need not be installed. As options of the command these would make mypy check the
whole package again, since its cache is for one set of options."""

ROOT = Path(__file__).parent.parent.parent
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def modules() -> dict[str, str]:
    """Return the text of each module by its name."""
    texts = {}
    for page in sorted((ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))):
        blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
        if blocks:
            place = page.relative_to(ROOT).as_posix()
            name = re.sub(r"\W", "_", place.removesuffix(".md"))
            head = _UNTYPED if place.startswith(_FOR_OTHERS) else ""
            texts[f"page_{name}"] = _HEAD + head + "\n".join(blocks)
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md")]
    listed = re.findall(r"^::: straightline\.(\S+)$", "\n".join(pages), re.MULTILINE)
    for name in sorted({*listed, *sl.__all__}):
        module, _, attribute = f"straightline.{name}".rpartition(".")
        text = inspect.getdoc(getattr(importlib.import_module(module), attribute)) or ""
        examples = doctest.DocTestParser().get_examples(text)
        texts[f"page_of_{name.replace('.', '_')}"] = "".join(one.source for one in examples)
    return texts


def main() -> None:
    """Write the modules into the folder of the command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("page_*.py"):
        old.unlink()
    for name, text in modules().items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
