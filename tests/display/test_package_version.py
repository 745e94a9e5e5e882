import subprocess
import sys
from importlib import metadata

import straightline as sl
from straightline.display import package_version


def test_the_version_is_that_of_the_distribution():
    assert sl.__version__ == metadata.version("straightline")


def test_a_checkout_that_is_not_installed_has_none(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(package_version, "version", missing)
    assert package_version._installed() == "unknown"


def test_the_version_is_told_without_loading_onnx():
    program = "import sys, straightline; straightline.__version__; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
