"""The tool behind `make mutants`: what it changes and what it leaves, how it draws and counts."""

import gc
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("libcst", reason="needs the extra `mutants`")
pytest.importorskip("mutmut", reason="needs the extra `mutants`")
pytest.importorskip("coverage", reason="needs the extra `mutants`")

from mutation.mutants import mutants_of
from mutation.selection import sample, source_files
from mutation.session import own_tests
from mutation.table import survivors, table
from mutation.trial import functions_here, patch


@pytest.fixture
def changed_lines(tmp_path):
    """For a source text, the lines that mutants have in the place of others."""

    def lines(text):
        return {
            line[1:].strip()
            for mutant in mutants_of(write(tmp_path, text))
            for line in mutant.diff().splitlines()
            if line.startswith("+") and not line.startswith("+++")
        }

    return lines


def write(folder: Path, text: str) -> str:
    place = folder / f"source_{abs(hash(text))}.py"
    place.write_text(textwrap.dedent(text))
    return str(place)


def test_conditions_are_negated_and_calls_dropped(changed_lines):
    assert changed_lines("if known:\n    graph.remove()\n") == {"if not (known):", "pass"}


def test_conditions_that_mutmut_inverts_are_not_negated_again(changed_lines):
    assert changed_lines("while a == b:\n    pass\n") == {"while a != b:"}
    assert changed_lines("while not a:\n    pass\n") == {"while a:"}


@pytest.mark.parametrize(
    "text",
    ["def f(a: int | None) -> list[int]: ...", "raise ValueError(f'{a} is not known here', 3)",
     "'''What it does.'''", "reason = 'no such value'", "keep = a.reshape(-1)",
     "assert a is not None and b > 3, c", "keep = cast(int, a)[len(a)]",
     "if TYPE_CHECKING:\n    from a import b\n    c = 3", "__slots__ = ('a', 'b')",
     "Shape: TypeAlias = 'tuple[int, ...]'"],
)  # fmt: skip
def test_code_without_effect_is_not_mutated(changed_lines, text):
    assert changed_lines(text) <= {"keep = None"}


def test_checks_of_zip_and_arguments_for_people_are_left(changed_lines):
    assert changed_lines("x = zip(a, strict=True)") == {
        "x = None",
        "x = zip(None, strict=True)",
    } | {"x = zip(strict=True)"}
    assert changed_lines("x = keep(a, 'it is used')") == {
        "x = None",
        "x = keep(None, 'it is used')",
        "x = keep('it is used')",
    }


def test_labels_are_left_and_names_of_operators_are_not(changed_lines):
    found = changed_lines("x = site.emit('Shape', [y], 'shape')")
    assert {
        "x = site.emit('SHAPE', [y], 'shape')",
        "x = site.emit('Shape', None, 'shape')",
    } <= found
    assert all("'shape')" in line for line in found - {"x = None"})
    assert "x = site.set('AXIS', 1)" in changed_lines("x = site.set('axis', 1)")


def test_a_mutant_knows_its_statement_and_outermost_function(tmp_path):
    path = write(
        tmp_path,
        """
        TABLE = {
            "a": 1,
        }

        @deco
        def outer(x=2):
            def inner():
                return (
                    x + 3
                )
        """,
    )
    found = {(m.operator, m.lines, m.function) for m in mutants_of(path)}
    assert ("number", range(2, 4), None) in found  # the table is built at import
    assert ("number", range(7, 8), None) in found  # and so is a default
    assert ("number", range(9, 11), ("outer", 6)) in found
    assert {m.body for m in mutants_of(path) if m.function} == {range(8, 12)}


def test_a_sample_is_spread_over_the_files_and_drawn_again_the_same(tmp_path):
    big = write(tmp_path, "x = 1\n" * 80)
    small = write(tmp_path, "y = 1\n" * 20)
    drawn = sample([big, small], 10, seed=3)
    assert [m.path for m in drawn] == [big] * 8 + [small] * 2
    assert drawn == sample([big, small], 10, seed=3)
    assert drawn != sample([big, small], 10, seed=4)
    assert len(sample([big, small], 0, seed=3)) == 200


def test_files_are_found_once_and_a_wrong_name_is_said():
    files = source_files(["passes", "passes/utils", "ops", "ir/graph.py"])
    assert files == sorted(set(files))
    assert {"ir/graph.py", "passes/utils/sites.py", "ops/rules.py"} <= set(files)
    with pytest.raises(SystemExit, match="nowhere: no such file"):
        source_files(["nowhere"])


def test_the_tests_of_a_file():
    assert "ir/test_graph.py".startswith(own_tests("ir/graph.py"))
    assert "version_converter/adapters/test_pad.py".startswith(
        own_tests("version_converter/adapters/pad.py")
    )
    assert not "passes/test_base.py".startswith(own_tests("ir/graph.py"))
    assert not "ir/test_node.py".startswith(own_tests("ir/graph.py")[:1])


def test_the_share_counts_timeouts_as_caught_and_lines_that_nothing_reaches_as_not():
    def result(status):
        return {
            "name": "ir/a.py@1",
            "path": "ir/a.py",
            "line": 7,
            "operator": "number",
            "status": status,
            "tests": 2,
            "left": 0,
        }

    results = [result(s) for s in ("caught", "timeout", "survived", "not reached")]
    assert "|   50% |" in table(results).splitlines()[-1]
    assert survivors(results).count("ir/a.py:7") == 2


def test_a_function_takes_a_mutant_wherever_it_is_held(tmp_path):
    path = write(tmp_path, "LIMIT = 1\n\n\n@keep\ndef f(x):\n    return x + 1\n")
    held = []
    exec(compile(Path(path).read_text(), path, "exec"), {"keep": held.append})
    functions = {(path, "f", 4): held}
    added = next(m for m in mutants_of(path) if m.operator == "swap_op")
    assert held[0](3) == 4
    assert patch(added, added.text(), functions)
    assert held[0](3) == 2
    at_import = next(m for m in mutants_of(path) if m.function is None)
    assert not patch(at_import, at_import.text(), functions)


def test_functions_are_listed_although_the_collector_froze_them():
    gc.freeze()
    code = sample.__code__
    assert sample in functions_here()[code.co_filename, code.co_name, code.co_firstlineno]
    gc.freeze()
