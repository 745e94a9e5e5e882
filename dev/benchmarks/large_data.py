"""Models with much external data: seconds, memory and room on disk beside copying the file.

    python dev/benchmarks/large_data.py [--gb 6] [--folder FOLDER] [--sparse]

A model with a Loop and six weights in one file is rewritten and converted, with a proof, each by
a command of its own, whose peak is what the system tells. `--sparse`: the weights are holes, which
take no room; copying is then `cp --sparse=never`, as a program would that does not know of holes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WEIGHTS = 6
BLOCK = 1 << 24
COMMANDS = {
    "rewrite": ["rewrite"],
    "convert --opset 21": ["convert", "--opset", "21"],
    "rewrite --link-data hard": ["rewrite", "--link-data", "hard"],
    "convert --link-data hard": ["convert", "--opset", "21", "--link-data", "hard"],
    "rewrite --link-data reference": ["rewrite", "--link-data", "reference"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gb", type=float, default=6)
    parser.add_argument("--folder", type=Path, help="where there is room for twice as much")
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:  # in a process of its own, whose memory is not that of the others
        make(options.make, int(options.gb * (1 << 30)), options.sparse)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        home, out = Path(name, "home"), Path(name, "home", "out")
        out.mkdir(parents=True)
        again = [sys.executable, __file__, "--make", str(home), "--gb", str(options.gb)]
        subprocess.run([*again, *(["--sparse"] if options.sparse else [])], check=True)
        told = ["--sparse=never"] if options.sparse else []
        copying, *_ = run(["cp", *told, str(home / "w.bin"), str(out / "copy")], out)
        print("| command | seconds | of copying | peak, MB | on disk, MB |")
        print("|---|---:|---:|---:|---:|")
        print(f"| `cp` | {copying:.1f} | 1 | | |", flush=True)
        for shown, command in COMMANDS.items():
            place = home / "o.onnx" if "reference" in command else out / "o.onnx"
            arguments = [command[0], str(home / "m.onnx"), str(place), *command[1:], "--quiet"]
            child = [sys.executable, "-m", "straightline", *arguments]
            seconds, peak, room = run(child, place.parent)
            ratio = seconds / copying
            print(f"| `{shown}` | {seconds:.1f} | {ratio:.2f} | {peak:.0f} | {room:.0f} |")


def run(command: list[str], folder: Path) -> tuple[float, float, float]:
    """The seconds of a command until the disk has it all, its peak of memory, and the room that
    what it wrote takes, which is deleted."""
    before = set(folder.iterdir())
    started = time.perf_counter()
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    os.sync()
    seconds = time.perf_counter() - started
    if child.returncode:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    made = set(folder.iterdir()) - before
    own = [path.stat() for path in made if path.stat().st_nlink == 1]
    room = sum(status.st_blocks for status in own) * 512
    for path in made:
        path.unlink()
    return seconds, usage.ru_maxrss / 1024, room / (1 << 20)


def make(folder: Path, size: int, sparse: bool) -> None:
    """A model with so many bytes of weights."""
    import onnx

    text = "g (float[n, 1024] x) => (float[n, 1024] y) {" + LOOP
    last = "h"
    for k in range(WEIGHTS):
        text += f" m{k} = MatMul ({last}, w{k}) s{k} = ReduceSum <keepdims = 1> (m{k})"
        text += f" a{k} = Add (h, s{k})"
        last = f"a{k}"
    text += f" y = Identity ({last}) }}"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    each = size // WEIGHTS // BLOCK * BLOCK
    for k in range(WEIGHTS):
        weight = model.graph.initializer.add(name=f"w{k}", data_type=onnx.TensorProto.FLOAT)
        weight.dims.extend([1024, each // 4096])
        weight.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "w.bin"), ("offset", k * each), ("length", each)):
            weight.external_data.add(key=key, value=str(value))
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    with (folder / "w.bin").open("wb") as stream:
        stream.truncate(each * WEIGHTS)
        block = os.urandom(BLOCK)
        for _ in range(0 if sparse else each * WEIGHTS // BLOCK):
            stream.write(block)


LOOP = """
    iterations = Constant <value_int = 3> ()
    h = Loop (iterations, , x) <body = b (int64 i, bool c, float[n, m] v) => (bool d, float[n, m] t)
    {
        d = Identity (c)
        q = Mul (v, v)
        t = Add (q, x)
    }>
"""


if __name__ == "__main__":
    main()
