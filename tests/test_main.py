"""The command as a process: what it imports, since a command pays only for what it uses."""

import json
import subprocess
import sys

import onnx
import pytest
from harness import as_model
from tables import table

CLI = {"typer", "rich", "shellingham", "annotated_doc"}
WORK = {"cython_runtime", "onnx", "google", "numpy", "ml_dtypes", "networkx", "typing_extensions"}
NEVER = {"onnx_ir", "sympy", "mpmath", "onnxscript", "onnxruntime", "hypothesis"}

UNROLLED = """g (float[2] x) => (float[2] y) <int64 three = {3}, bool yes = {1}> {
    y = Loop (three, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = Neg (a) }> }"""
FOLDED = """g (float[2] x) => (float[2] y) <float two = {2}, float three = {3}> {
    five = Add (two, three)
    y = Mul (x, five) }"""

LISTING = """
import atexit, json, sys
atexit.register(lambda: open("modules.json", "w").write(json.dumps(sorted(sys.modules))))
from straightline.__main__ import main
main()
"""


def imported(*arguments, folder, code=0):
    """The modules that a command has imported when it ends."""
    found = subprocess.run(
        [sys.executable, "-c", LISTING, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == code, found.stderr
    return set(json.loads((folder / "modules.json").read_text()))


def foreign(modules):
    """The packages among them that come neither with Python nor from here."""
    tops = {name.partition(".")[0] for name in modules}
    return {t for t in tops if not t.startswith("_")} - sys.stdlib_module_names - {"straightline"}


@pytest.fixture
def folder(tmp_path):
    onnx.save(as_model(UNROLLED), tmp_path / "unrolled.onnx")
    onnx.save(as_model(FOLDED), tmp_path / "folded.onnx")
    return tmp_path


@pytest.mark.parametrize("model", ["unrolled", "folded"])
def test_a_rewrite_imports_what_it_needs(model, folder):
    modules = imported("rewrite", f"{model}.onnx", "out.onnx", "--no-verify", folder=folder)
    assert foreign(modules) <= CLI | WORK
    assert ("rich" in modules) == (model == "unrolled"), "for a table of remarks"
    assert not {"straightline.version_converter", "straightline.verification.runs.verify"} & modules
    # numpy folds what has one obvious result; onnx's kernels are for the rest.
    assert "onnx.reference" not in modules
    # What reads and rebuilds loops is for models that have some.
    names = ("vectorize.batch_interpreter", "recurrences.recognize.cell_matching")
    for_loops = {f"straightline.passes.{name}" for name in names}
    assert for_loops & modules == (for_loops if model == "unrolled" else set())


def test_a_flat_model_needs_no_algorithms_on_graphs(folder):
    flat = "<ir_version: 8, opset_import: ['': 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }"
    onnx.save(onnx.parser.parse_model(flat.replace("'", '"')), folder / "flat.onnx")
    for command in ("rewrite", "simplify"):
        assert "networkx" not in imported(command, "flat.onnx", "out.onnx", folder=folder)


def test_inputs_that_are_set_bring_nothing_more(folder):
    options = ("--set", "x=[1.5,2]", "--no-verify")
    modules = imported("rewrite", "unrolled.onnx", "out.onnx", *options, folder=folder)
    assert foreign(modules) <= CLI | WORK


def test_a_comparison_runs_models_in_another_process(folder):
    options = ("--no-prove", "--samples", "1")
    modules = imported("rewrite", "unrolled.onnx", "out.onnx", *options, folder=folder)
    assert not foreign(modules) & NEVER
    assert "straightline.verification.proof" not in modules


@pytest.mark.parametrize("model", ["unrolled", "folded"])
def test_a_proof_starts_no_process_and_brings_no_runtime(model, folder):
    modules = imported("rewrite", f"{model}.onnx", "out.onnx", folder=folder)
    assert foreign(modules) <= CLI | WORK
    running = {f"straightline.reference.{name}" for name in ("verify", "runtimes", "draw")}
    assert not running & modules
    assert "onnx.reference" not in modules
    assert not {"straightline.version_converter", "straightline.verification.certificate"} & modules


def test_a_conversion(folder):
    options = ("--opset", "18", "--no-verify")
    modules = imported("convert", "folded.onnx", "out.onnx", *options, folder=folder)
    assert not foreign(modules) & NEVER


def test_the_version_needs_no_command_line(folder):
    assert not foreign(imported("--version", folder=folder)) & {"typer", "rich", "pydantic"}


@pytest.mark.parametrize("arguments", [("--version",), ("rewrite", "--help")])
def test_commands_without_a_model_do_not_import_onnx(arguments, folder):
    assert not foreign(imported(*arguments, folder=folder)) & {"onnx", "numpy", "networkx", *NEVER}


def test_an_error_of_usage_imports_no_onnx(folder):
    modules = imported("rewrite", "folded.onnx", "out.onnx", "--set", "x", folder=folder, code=2)
    assert not foreign(modules) & {"onnx", "numpy", "networkx"}


ENDING = """
import atexit
{earlier}
from straightline.__main__ import main
atexit.register(print, "late")
main()
"""


@table(("", ["late"]), ("atexit.register(print, 'earlier')", ["late", "earlier"]))
def test_a_process_ends_after_all_exit_functions(earlier, printed, folder):
    program = [sys.executable, "-c", ENDING.format(earlier=earlier), "passes", "--none"]
    run = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.split()) == (2, printed)


def test_the_package_itself_loads_nothing(tmp_path):
    program = "import sys, straightline; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert {m for m in found.stdout.split() if m.startswith("straightline")} == {"straightline"}
