"""Checks of a release: notes of its version, and an archive that holds what the wheel holds."""

import io
import tarfile
import zipfile

from straightline.dev.tools.release import missing_modules, notes_of, version_in


def test_notes_are_the_section_of_the_version():
    changelog = "# Log\n\n## Unreleased\n\n- new\n\n## 0.2.0 - A\n\n- old\n\n## 0.1.0\n\n- f"
    assert notes_of("0.2.0", changelog) == "- old"
    assert notes_of("0.1.0", changelog) == "- f"
    assert notes_of("0.3.0", changelog) == ""


def test_the_version_is_that_of_the_project():
    assert version_in('[project]\nname = "x"\nversion = "0.2.0"\n') == "0.2.0"


def test_a_module_that_the_archive_lacks_is_named(tmp_path):
    wheel, archive = tmp_path / "x.whl", tmp_path / "x.tar.gz"
    with zipfile.ZipFile(wheel, "w") as file:
        for name in (
            "straightline/a.py",
            "straightline/ir/b.py",
            "straightline-1.dist-info/RECORD",
        ):
            file.writestr(name, "")
    with tarfile.open(archive, "w:gz") as file:
        file.addfile(tarfile.TarInfo("straightline-1/a.py"), io.BytesIO(b""))
    assert missing_modules(wheel, archive) == ["straightline/ir/b.py"]
