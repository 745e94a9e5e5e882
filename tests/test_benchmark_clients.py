"""The table of clients: what becomes of a model in a process of its own, and how it is told.

The clients themselves are run by `make clients`; here is one that does what a test wants.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from harness import as_model
from straightline.dev.benchmarks.clients import __main__ as script
from straightline.dev.benchmarks.clients import installing, one_node
from straightline.dev.benchmarks.clients.client import CLIENTS, Client
from straightline.dev.benchmarks.clients.client_run import (
    ClientRun,
    classify,
    essence,
    operators_in,
)
from straightline.dev.benchmarks.clients.comparing import compared
from straightline.dev.benchmarks.clients.corpus import Source, straightened, subjects
from straightline.dev.benchmarks.clients.exported import exported
from straightline.dev.benchmarks.clients.nodes import broken, trials_of
from straightline.dev.benchmarks.clients.one_node import Case
from straightline.dev.benchmarks.clients.running import Answer, ChildError, Worker
from straightline.dev.benchmarks.clients.steps import STEPS, STEPS_OF_EXPORTS
from straightline.dev.benchmarks.clients.table import tables
from straightline.targets import Opsets, Target
from tables import table

from targets import SOURCE

ROOT = Path(__file__).resolve().parent.parent
X = np.array([0.5, 1.0], np.float32)
FAKE = Client("fake", "fake_client", ("onnx",), ("onnx",), 15)


def named(name):
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Tanh (x) }'
    )
    proto.graph.name = name
    return proto.SerializeToString()


@pytest.fixture
def path(monkeypatch):
    """The child finds the fake client."""
    monkeypatch.setenv("PYTHONPATH", ":".join(part for part in sys.path if part))


@pytest.mark.parametrize("keeps", ["", "1"])
def test_nothing_that_a_client_does_stops_the_rest(path, monkeypatch, keeps):
    monkeypatch.setenv("KEEPS_PROCESS", keeps)
    wanted = {
        "is right": ("right", ""),
        "rounds": ("right", ""),
        "is wrong": ("wrong", "other values: at [0]: 0.4621"),
        "says more": ("wrong", "2 outputs for 1"),
        "refuses": ("not loaded", "NotImplementedError: <op>: error: failed on 'onnx.Tanh'"),
        "exits": ("not loaded", "SystemExit: 3"),
        "crashes": ("not run", "crash (SIGABRT)"),
        "fills memory": ("not run", "MemoryError"),
        "never ends": ("late", "it took too long"),
    }
    with Worker(FAKE, seconds=1, megabytes=4000) as worker:
        for name, (status, reason) in wanted.items():
            found = classify(worker.run(named(name), {"x": X}), [np.tanh(X)])
            assert (found[0], found[1][: len(reason)]) == (status, reason)


@pytest.fixture
def two_tests(monkeypatch):
    """Two tests of onnx in the place of all."""
    tanh = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Tanh (x) }'
    )
    reshape = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>'
        " g (float[2] x, int64[2] s) => (float[a, b] y) { y = Reshape (x, s) }"
    )
    row = X.reshape(1, 2)
    every = [
        Case("tanh", "Tanh", "", tanh, {"x": X}, [np.tanh(X)]),
        Case("reshape", "Reshape", "", reshape, {"x": X, "s": np.array([1, 2])}, [row]),
    ]
    monkeypatch.setattr(one_node, "_tests", lambda: iter(every))


def test_a_list_is_tried_one_node_at_a_time(path, two_tests):
    lists = Target("fake", "a fake", Opsets(13, 17), SOURCE, operators={"Tanh": (Opsets(1, 17),)})
    every = list(one_node.cases(lists))
    assert {(case.opset, case.form) for case in every} == {
        (opset, form) for opset in (13, 17) for form in ("", "float64", "float16")
    }
    trials = list(trials_of(FAKE, iter(every)))
    assert len(trials) == 6 and not list(broken(trials))
    wrong = trials[0]._replace(status="wrong", reason="other type", form="int8")
    assert list(broken([wrong, *trials])) == [
        "Tanh: 1 of 7 fail",
        f"  tanh int8 in [{wrong.opset}]: wrong: other type",
    ]


def test_constants_are_a_form_of_their_own(two_tests):
    listed = {"Reshape": (Opsets(1, 17),)}
    lists = Target("fake", "a fake", Opsets(17, 17), SOURCE, operators=listed)
    (case,) = (case for case in one_node.cases(lists) if case.form == "constants")
    assert [value.name for value in case.model.graph.input] == ["x"] and list(case.feeds) == ["x"]


def test_a_client_that_cannot_be_imported_is_told(path):
    with pytest.raises(ChildError, match="no_such_client: ModuleNotFoundError"):
        Worker(dataclasses.replace(FAKE, adapter="no_such_client")).__enter__()


def test_shapes_types_and_nan_count():
    one = np.ones((1, 2), np.float32)
    for other in (np.ones(2, np.float32), one.astype(np.float64), one * np.nan):
        assert classify(Answer([other]), [one])[0] == "wrong"
    halves = np.array([1, 1.003], np.float16)
    assert classify(Answer([halves[:1]]), [halves[1:]])[0] == "right"
    assert classify(Answer([[one]]), [[one]]) == ("right", "")


def test_a_reason_is_the_line_that_says_most():
    iree = "Error invoking tool\nError code: 1\n<stdin>:6:10: error: failed 'onnx.Loop' at 0x7fab"
    assert essence(iree) == "<stdin>:6:10: error: failed 'onnx.Loop' at 0x…"
    assert essence("KeyError: 'x'\nmore") == "KeyError: 'x' more"
    assert operators_in(essence(iree)) == ["Loop"]
    assert operators_in("not supported for frontend ONNX: Loop, Unique, Run") == ["Loop", "Unique"]
    assert operators_in("OperationDescription(operation_type='OneHot', version=11)") == ["OneHot"]
    openvino = "core.cpp:105:\nfailed:\n-- Conversion is failed for: ArgMax-17, Transpose-17\n"
    assert operators_in(essence(openvino)) == ["ArgMax", "Transpose"]
    assert operators_in("If Not Where it Is") == []


def test_models_are_rewritten_as_far_as_it_takes():
    plain = first("gelu_rows")
    assert plain.passes == "straighten"
    assert (plain.bound, plain.remaining.keys()) == ({}, plain.feeds.keys())
    told = first("rnn_steps_given")
    assert list(told.bound) == ["steps"]
    assert "steps" not in told.remaining
    # What the rewrite was told of sizes, the client is told too before it.
    assert [dim.dim_value for dim in told.before.graph.input[0].type.tensor_type.shape.dim] == [
        *told.feeds[told.before.graph.input[0].name].shape
    ]


def first(name):
    """The first model of the name, without looking for more."""
    return next(iter(subjects(name)))


def test_a_model_that_keeps_its_control_flow_does_not_count():
    text = """g (float x) => (float y) <bool go = {1}, float most = {100}> {
        y = Loop (, go, x) <body = step (int64 i, bool c, float h) => (bool again, float next) {
            next = Add (h, h)
            again = Less (next, most) }> }"""
    assert straightened(Source("search", as_model(text), {"x": X[0]})) is None


def test_every_step_is_given_to_the_client():
    subject = first("gelu_rows")
    client = next(client for client in CLIENTS if client.name == "onnxruntime")
    client = dataclasses.replace(client, opset=15)
    found = list(compared(client, [subject]))
    assert [(one.step, one.status) for one in found] == [(step, "right") for step in STEPS]


def test_a_step_that_is_refused_is_told():
    subject = first("gelu_rows")
    client = dataclasses.replace(CLIENTS[0], opset=3)
    found = {one.step: one.status for one in compared(client, [subject])}
    assert list(found.values()) == ["right", "right", "not made", "not made", "right"]


def test_the_tables():
    found = [
        ClientRun("a", "fake", "as it is", "not loaded", "op='Loop' is not supported"),
        ClientRun("a", "fake", "rewritten", "right"),
        ClientRun("b", "fake", "as it is", "wrong", "other shape"),
        ClientRun("b", "fake", "rewritten", "not run", "a | b"),
    ]
    text = tables(found, {"fake": "fake 1.0"})
    assert "| client | models | as it is | rewritten |" in text
    assert "| fake 1.0 | 2 | 0 (1 with other outputs) | 1 |" in text
    assert "| fake | 1 | not run | `a / b` | `b` |" in text
    assert "What stays" in text and "What stays" not in tables(found[1:2], {"fake": "fake 1.0"})


def test_models_of_a_folder_have_steps_of_their_own(tmp_path, capsys):
    """A model that onnxruntime does not run is left out; sizes come last."""
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N] x) => (float[N] y) { y = Tanh (x) }'
    )
    model = onnx.parser.parse_model(text)
    for name in ("good", "none", "other"):
        onnx.save(model, tmp_path / f"{name}.onnx")
    model.graph.node[0].op_type = "Unknown"
    onnx.save(model, tmp_path / "bad.onnx")
    for name in ("good", "bad", "other"):
        np.savez(tmp_path / f"{name}.npz", x=X)
    assert [subject.name for subject in exported(tmp_path)] == ["good", "other"]
    assert "bad is left out: " in capsys.readouterr().err
    (subject,) = exported(tmp_path, "good")
    client = next(client for client in CLIENTS if client.name == "onnxruntime")
    outcomes = list(compared(client, [subject], steps=STEPS_OF_EXPORTS))
    assert [(one.step, one.status) for one in outcomes] == [
        (step, "right") for step in ("as it is", "rewritten", "for the target", "and its sizes")
    ]


def test_maps_count_as_their_numbers():
    maps, rows = [{1: 0.25, 2: 0.75}], np.array([[0.25, 0.75]], np.float32)
    assert classify(Answer([rows]), [maps]) == classify(Answer([maps]), [maps]) == ("right", "")
    assert classify(Answer([rows + 1]), [maps])[0] == "wrong"


def test_the_script_leaves_out_what_is_not_installed(monkeypatch, capsys, tmp_path):
    missing = Client(
        "missing", "fake_client", ("no_such.module", "onnx"), (), 15, ("no_such_tool",)
    )
    broken = Client("broken", "no_such_client", ("onnx",), ("onnx",), 15)
    monkeypatch.setattr(script, "CLIENTS", (CLIENTS[0], missing, broken))
    monkeypatch.setattr(script, "subjects", lambda only: [first("gelu_rows")])
    monkeypatch.setattr(script, "PAGE", tmp_path / "page.md")
    script.PAGE.write_text(f"before\n{script.BEGIN}old\n{script.END}after\n")
    monkeypatch.setattr(sys, "argv", ["clients", "--json", str(tmp_path / "x"), "--write"])
    script.main()
    page = script.PAGE.read_text()
    assert page.startswith(f"before\n{script.BEGIN}\nMeasured on ")
    assert page.endswith(f"\n{script.END}after\n")
    assert "old" not in page
    reason = "no_such.module, no_such_tool not installed"
    assert f"Left out: missing ({reason}); broken (no_such_client: ModuleNotFoundError" in page
    assert f"missing is left out: {reason}" in capsys.readouterr().err
    # What was measured before is not measured again.
    monkeypatch.setattr(script, "subjects", None)
    monkeypatch.setattr(script, "CLIENTS", (CLIENTS[0], missing))
    monkeypatch.setattr(sys, "argv", ["clients", "--with", str(tmp_path / "x")])
    script.main()
    head = "| client | models |"
    printed = capsys.readouterr().out
    assert printed.partition(head)[2].rstrip() in page
    monkeypatch.setattr(sys, "argv", ["clients"])
    monkeypatch.setattr(script, "CLIENTS", (missing,))
    with pytest.raises(SystemExit, match="error: no client is installed"):
        script.main()


ASKED = ["straightline[ort]", "onnx2torch>=1.5", "client-of-ours[onnx]>=3"]


@table(
    ([], []),
    (["client-of-ours"], ["client-of-ours is left out: client-of-ours[onnx]>=3 does not"]),
    (["torchvision"], ["no torchvision for this torch: onnx2torch does without"]),
    (["torch"], ["onnx2torch is left out: no torch for processors in a or b; TORCH= names"]),
    (["onnx2torch"], ["onnx2torch is left out: onnx2torch>=1.5 does not install"]),
    (["onnxruntime-web"], ["onnxruntime-web is left out: npm is absent, or does not"]),
    (["onnx2tf"], ["onnx2tf is left out: onnx2tf does not install"]),
    (["-c"], ["onnx2tf is left out: no Python of 3.12 or newer is on the path"]),
)
def test_each_client_is_installed_by_itself(refused, told, monkeypatch, capsys):
    """What one of them lacks keeps none of the others from it."""
    asked = []

    def pip(*wanted):
        asked.append(wanted[-1])
        return wanted[-1] not in refused and wanted[-1].split("[")[0].split(">")[0] not in refused

    monkeypatch.setattr(installing, "requirements", lambda: ASKED)
    monkeypatch.setattr(installing, "_pip", pip)
    monkeypatch.setattr(installing, "_runs", lambda *command: not set(command) & set(refused))
    monkeypatch.setattr(installing.shutil, "which", lambda name: name)
    monkeypatch.setattr(sys, "argv", ["installing", "a", "b"])
    installing.main()
    said = capsys.readouterr().err.splitlines()
    assert [line[: len(start)] for line, start in zip(said, told, strict=True)] == told
    assert [name for name in asked if name in ASKED] == (
        [name for name in ASKED if name[0] != "o" or "torch" not in refused]
    )


def test_torch_is_taken_from_where_it_is_for_processors_alone(monkeypatch):
    """With no index at all, so that none of those that are set can give another build."""
    asked = []
    monkeypatch.setattr(installing, "requirements", lambda: ["onnx2torch"])
    monkeypatch.setattr(installing, "_pip", lambda *wanted: asked.append(wanted) or True)
    monkeypatch.setattr(installing, "_runs", lambda *command: True)
    monkeypatch.setattr(sys, "argv", ["installing"])
    installing.main()
    assert asked[0][:2] == ("--no-index", "--no-deps") and asked[0][-1] == "torch"
    assert {"--find-links", *installing.PLACES} < set(asked[0])
    assert asked[-2:] == [("torch",), ("--no-deps", "onnx2torch")]


def test_installed_packages_are_those_of_the_extra():
    """As pyproject.toml has it, and everything that a client is known by."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = text.partition("\nclients = [\n")[2].partition("\n]")[0]
    asked = [line.strip(' ",') for line in block.splitlines()]
    packages = {name for c in CLIENTS if not c.environment for name in c.packages}
    packages -= {"onnxruntime", "torch"}  # by the extra "ort", and by onnx2torch
    for package in packages:
        assert any(line.startswith(package) for line in asked), package


def test_packages_of_node_and_of_other_environments_have_versions(monkeypatch, tmp_path):
    client = dataclasses.replace(FAKE, modules=(), of_node="web", environment="apart")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert client.obstacle == "apart, web not installed"
    for file, text in {
        "apart/bin/python": "",
        "apart/lib/python3.12/site-packages/onnx-7.dist-info/METADATA": "Name: onnx\nVersion: 7\n",
        "node_modules/web/package.json": '{"version": "3"}',
    }.items():
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(text)
    assert client.obstacle == "" and client.versions == "web 3"
    assert dataclasses.replace(client, of_node="").versions == "onnx 7"


def test_every_client_has_an_adapter_and_a_page():
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    assert page.count(script.BEGIN) == page.count(script.BEGIN_OF_EXPORTS) == 1
    assert page.count(script.END) == 2
    for client in CLIENTS:
        file = client.adapter.removeprefix("straightline.").replace(".", "/") + ".py"
        assert (ROOT / file).is_file()
        assert all(package in page for package in client.packages)
