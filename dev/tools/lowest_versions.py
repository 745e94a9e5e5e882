"""Run the main commands with the lowest versions of all dependencies that pyproject.toml allows.

Used by `make lowest`, outside of the tests: it installs an environment of its own, of about 400 MB.
"""

import argparse
import re
import subprocess
import sys
import venv
from pathlib import Path

from straightline.ir.io.toml_text import parse_toml

ROOT = Path(__file__).resolve().parents[2]
MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <int64 n = {3}, bool c = {1}> {
    y = Loop (n, c, x) <body = b (int64 i, bool d, float[2] a) => (bool e, float[2] o) {
        e = Identity (d)
        o = Neg (a)
    }>
}"""
COMMANDS = (
    "rewrite m.onnx out.onnx",
    "rewrite m.onnx out.onnx --passes accelerate",
    "rewrite m.onnx out.onnx --target onnxruntime",
    "rewrite m.onnx out.onnx --target openvino --runtime both --samples 3",
    "simplify m.onnx out.onnx",
    "convert m.onnx old.onnx --opset 9",
    "convert m.onnx new.onnx --opset 21",
    "verify m.onnx old.onnx --samples 3",
    "prove m.onnx new.onnx",
    "inspect m.onnx",
    "check m.onnx --max-opset 17",
    "targets",
    "passes",
)


def lowest(table: dict[str, object], extras: tuple[str, ...] = ("ort",)) -> list[str]:
    """Return the lowest allowed version of each dependency, as pip reads it."""
    project = table["project"]
    assert isinstance(project, dict)
    listed = list(project["dependencies"])
    listed += [one for extra in extras for one in project["optional-dependencies"][extra]]
    return [re.sub(r">=", "==", one.partition(";")[0].strip()) for one in listed if ";" not in one]


def main() -> int:
    """Install, and run each command; return the number of those that fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the environment")
    folder = parser.parse_args().folder
    venv.create(folder, with_pip=True, clear=True)
    folder = folder.resolve()
    pip = [str(folder / "bin/pip"), "install", "--quiet"]
    pins = lowest(parse_toml((ROOT / "pyproject.toml").read_text("utf-8")))
    print(*pins)
    subprocess.run([*pip, *pins], check=True)
    subprocess.run([*pip, "--no-deps", str(ROOT)], check=True)
    write = "import onnx, sys; onnx.save(onnx.parser.parse_model(sys.argv[1]), 'm.onnx')"
    python = [folder / "bin/python", "-c", f"import onnx.parser; {write}", MODEL]
    subprocess.run(python, cwd=folder, check=True)
    failed = 0
    for command in COMMANDS:
        words = [folder / "bin/straightline", *command.split()]
        run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        failed += run.returncode != 0
        last = (run.stderr or run.stdout).strip().splitlines()[-1:] if run.returncode else []
        print(f"exit {run.returncode}: {command}", *last)
    return min(failed, 99)


if __name__ == "__main__":
    sys.exit(main())
