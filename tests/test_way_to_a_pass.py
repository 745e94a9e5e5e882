"""The way from a call to the first pass: short enough to step through."""

import gc
import sys
from pathlib import Path

import pytest
import straightline as sl
from straightline.passes import Pass
from typer.testing import CliRunner

ROOT = Path(sl.__file__).parent
MOST_FRAMES, MOST_FRAMES_OF_A_COMMAND = 7, 10
MOST_FILES = 40
LOOP = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) <int64 n = {3}> {
    y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c) e = Add (a, a) }> }"""


class Arrived(BaseException):
    """The first pass runs."""


def way_to_first_pass(call):
    """The functions that are running when the first pass begins, and the files entered by then."""
    files, frames = set(), []

    def own(frame):
        path = Path(frame.f_code.co_filename)
        inside = path.is_relative_to(ROOT) and "site-packages" not in path.parts
        return path.relative_to(ROOT) if inside else None

    def trace(frame, event, argument):
        file = own(frame)
        if file is None or file.parts[0] == "tests":
            return None
        files.add(file.as_posix())
        if frame.f_code.co_name == "run" and isinstance(frame.f_locals.get("self"), Pass):
            outer = frame.f_back
            while outer is not None:
                if own(outer) is not None and own(outer).parts[0] != "tests":
                    frames.append(f"{own(outer)}: {outer.f_code.co_name}")
                outer = outer.f_back
            raise Arrived
        return None

    earlier = sys.gettrace()
    gc.collect()  # finalizers of other tests are no part of the way
    gc.disable()
    sys.settrace(trace)
    try:
        call()
    except Arrived:
        pass
    finally:
        sys.settrace(earlier)
        gc.enable()
    return frames, files


@pytest.mark.parametrize("passes", [None, "unroll-loops"])
def test_a_call_reaches_its_first_pass_soon(passes):
    model = sl.ir.to_proto(sl.ir.parse(LOOP))
    sl.rewrite(model, passes)  # imports, and initializers that are compiled once, are no way
    frames, files = way_to_first_pass(lambda: sl.rewrite(model, passes))
    assert len(frames) <= MOST_FRAMES, frames
    assert len(files) <= MOST_FILES, " ".join(sorted(files))


def test_a_command_reaches_its_first_pass_soon(tmp_path, monkeypatch):
    from straightline.cli.commands import app

    monkeypatch.chdir(tmp_path)
    sl.save(sl.ir.parse(LOOP), "in.onnx")

    def command():
        return CliRunner().invoke(app, ["rewrite", "in.onnx", "out.onnx", "--no-verify"])

    assert command().exit_code == 0
    frames, _ = way_to_first_pass(command)
    assert len(frames) <= MOST_FRAMES_OF_A_COMMAND, frames
