"""The mutants of a source file: where each is and what its text is."""

import dataclasses
import difflib
import functools
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from mutation.operators import is_silent, replacements, silent_parts

ROOT = Path(__file__).resolve().parents[3]


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of one file; `index` counts the changes of the file from its start."""

    path: str
    index: int
    operator: str
    lines: range  # of the statement that is changed, up to the change
    function: tuple[str, int] | None  # the outermost one that holds it, with its first line
    body: range  # the lines of what that function does

    @property
    def name(self) -> str:
        return f"{self.path}@{self.index}"

    def text(self) -> str:
        """The text of the whole file with the change in it."""
        old, new = _changes(self.path).nodes[self.index]
        return _changes(self.path).module.deep_replace(old, new).code

    def diff(self) -> str:
        """What is changed, as a patch."""
        original = (ROOT / self.path).read_text().splitlines()
        changed = self.text().splitlines()
        lines = difflib.unified_diff(original, changed, self.path, self.name, lineterm="")
        return "\n".join(lines)


def mutants_of(path: str) -> list[Mutant]:
    """All mutants of a file, given by its path from the root of the repository."""
    return _changes(path).mutants


@functools.lru_cache(maxsize=8)
def _changes(path: str) -> "_Changes":
    wrapper = MetadataWrapper(cst.parse_module((ROOT / path).read_text()))
    changes = _Changes(path, wrapper.module)
    wrapper.visit(changes)
    return changes


class _Changes(cst.CSTVisitor):
    """Walks a file once and keeps what can be changed in it."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, path: str, module: cst.Module) -> None:
        super().__init__()
        self.path = path
        self.module = module
        self.mutants: list[Mutant] = []
        self.nodes: list[tuple[cst.CSTNode, cst.CSTNode]] = []
        self._statements: list[cst.CSTNode] = []
        self._functions: list[cst.FunctionDef] = []
        self._silent: set[cst.CSTNode] = set()
        self._definition = 0  # how deep we are in what runs when a function is defined

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.BaseStatement | cst.SimpleStatementLine | cst.ExceptHandler):
            self._statements.append(node)
        if isinstance(node, cst.FunctionDef):
            self._functions.append(node)
        if isinstance(node, cst.Decorator | cst.Parameters):
            self._definition += 1
        if node in self._silent or is_silent(node):
            return False  # it is left all the same
        self._silent.update(silent_parts(node))
        for operator, old, new in replacements(node):
            self.nodes.append((old, new))
            self.mutants.append(
                Mutant(self.path, len(self.mutants), operator, self._lines(old), *self._function())
            )
        return True

    def on_leave(self, node: cst.CSTNode) -> None:
        if isinstance(node, cst.Decorator | cst.Parameters):
            self._definition -= 1
        if self._functions and self._functions[-1] is node:
            self._functions.pop()
        if self._statements and self._statements[-1] is node:
            self._statements.pop()

    def _lines(self, node: cst.CSTNode) -> range:
        position = self.get_metadata(PositionProvider, node)
        first = position.start.line
        if self._statements:
            first = self.get_metadata(PositionProvider, self._statements[-1]).start.line
        return range(min(first, position.start.line), position.end.line + 1)

    def _function(self) -> tuple[tuple[str, int] | None, range]:
        """The outermost function, unless what is changed runs when that function is defined."""
        if not self._functions or (self._definition and len(self._functions) == 1):
            return None, range(0)
        function = self._functions[0]
        start = function.decorators[0] if function.decorators else function
        first = self.get_metadata(PositionProvider, start).start.line
        body = self.get_metadata(PositionProvider, function.body)
        return (function.name.value, first), range(body.start.line, body.end.line + 1)
