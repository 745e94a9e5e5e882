"""Install the clients into the environment that runs this, each by itself.

    python -m straightline.dev.benchmarks.clients.installing [PLACE ...]

What does not install is told, and is left out of the table. torch is the build for processors, from
pytorch.org or from the pages and folders that are named instead: what the package registry calls
torch brings gigabytes for graphics cards. onnx2torch asks for torchvision, which it needs for two
operators only; where there is none that goes with this torch, it is installed without. onnx2tf pins
packages that others have in other versions: it gets an environment of its own within this one, with
the first Python that it supports; npm installs what runs in node.
"""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_EXTRA = "clients"
_PYTORCH = "https://download.pytorch.org/whl/cpu/"
_ON_TORCH = ("onnx2pytorch", "pnnx")
"""Clients that would bring the torch of the package registry."""
PLACES = (f"{_PYTORCH}torch/", f"{_PYTORCH}torchvision/")
_NODE = ("onnxruntime-web",)
_APART = "onnx2tf"
_PYTHONS = (sys.executable, "python3.12", "python3.13", "python3.14")
"""Names of Pythons that may be 3.12 or newer, where onnx2tf converts without TensorFlow."""


def main() -> None:
    for requirement in requirements():
        name = re.split(r"[^\w-]", requirement)[0]
        if name == "onnx2torch":
            reason = _with_torch(requirement, sys.argv[1:] or PLACES)
        elif name in _ON_TORCH and importlib.util.find_spec("torch") is None:
            reason = "there is no torch for processors"
        else:
            # onnx2pytorch requires a torchvision, and the registry's does not go with this torch.
            alone = ["--no-deps"] if name in _ON_TORCH else []
            reason = None if _pip(*alone, requirement) else f"{requirement} does not install"
        if reason:
            _say(f"{name} is left out: {reason}")
    npm = ("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", sys.prefix, *_NODE)
    if not shutil.which("npm") or not _runs(*npm):
        _say(f"{', '.join(_NODE)} is left out: npm is absent, or does not install it")
    if reason := _apart():
        _say(f"{_APART} is left out: {reason}")


def _apart() -> str | None:
    """Install what needs an environment of its own, with a link to this package."""
    is_new = ("-c", "import sys; sys.exit(sys.version_info < (3, 12))")
    pythons = filter(None, map(shutil.which, _PYTHONS))
    python = next((each for each in pythons if _runs(each, *is_new)), None)
    if python is None:
        return "no Python of 3.12 or newer is on the path"
    folder = Path(sys.prefix) / _APART
    pip = (str(folder / "bin" / "pip"), "install", "--quiet")
    this = ("--no-deps", "--editable", str(Path(__file__).resolve().parents[3]))
    is_done = (
        _runs(python, "-m", "venv", str(folder)) and _runs(*pip, _APART) and _runs(*pip, *this)
    )
    return None if is_done else f"{_APART} does not install"


def requirements() -> list[str]:
    """What the extra of the clients asks for."""
    declared = importlib.metadata.requires("straightline") or []
    found = (line.partition(";") for line in declared)
    return [name.strip() for name, _, marker in found if re.search(rf"['\"]{_EXTRA}['\"]", marker)]


def _with_torch(requirement: str, places: Sequence[str]) -> str | None:
    """Install what wants torch; why that cannot be done."""
    named = [option for place in places for option in ("--find-links", place)]
    only_there = ["--no-index", "--no-deps", "--retries", "1", *named]
    if not _pip(*only_there, "torch"):
        return f"no torch for processors in {' or '.join(places)}; TORCH= names another place"
    if not _pip(*only_there, "torchvision"):
        _say("no torchvision for this torch: onnx2torch does without, but for nms and roi_align")
    if not _pip("torch") or not _pip("--no-deps", requirement):
        return f"{requirement} does not install"
    return None


def _pip(*wanted: str) -> bool:
    return _runs(sys.executable, "-m", "pip", "install", "--quiet", *wanted)


def _runs(*command: str) -> bool:
    return subprocess.run(command, check=False).returncode == 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
