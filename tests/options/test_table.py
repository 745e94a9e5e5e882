import re
import subprocess
import sys

import pytest
from source_files import ROOT
from straightline.dev.tools import options as writer
from straightline.ir.option_names import KEYWORDS, by
from straightline.options import table
from straightline.options.table import FLAGS, OPTIONS, Option, options_of, options_on


@pytest.mark.parametrize("path", writer.files(), ids=lambda path: path.name)
def test_derived_files_are_up_to_date(path):
    wanted = writer.files()[path]
    assert path.read_text(encoding="utf-8") == wanted, (
        "run python -m straightline.dev.tools.options"
    )


def test_names_and_flags_are_unique_and_complete():
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)
    flags = [option.flag for option in OPTIONS if option.flag]
    assert len(set(flags)) == len(flags)
    for option in OPTIONS:
        assert bool(option.flag) == bool(option.commands) == bool(option.help), option
        assert bool(option.type) == bool(option.text), option
        assert option.text or option.flag, option


def test_each_keyword_is_read_by_the_driver():
    derived = {path.name for path in writer.files()}
    files = [file for file in (ROOT / "driver").glob("*.py") if file.name not in derived]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert [o.name for o in OPTIONS if o.type and not re.search(rf"\.{o.name}\b", text)] == []


def test_a_row_has_all_spellings():
    row = next(option for option in OPTIONS if option.name == "values")
    assert (row.key, row.keyword, row.spelling, FLAGS["values"]) == (
        "set",
        "values",
        "values=",
        "--set",
    )
    assert KEYWORDS["--set"] == "values=" and by("--set n=3").endswith("(values= in Python)")
    file = next(option for option in OPTIONS if option.name == "target_file")
    assert (file.keyword, file.spelling) == ("target", "target=")
    assert next(option for option in OPTIONS if option.name == "selects").spelling == "selects=True"


NEW = Option(
    "patience",
    "int | None",
    "how long to try.",
    table.ALL,
    flag="--patience",
    help="How long to try.",
    commands=table.ANY,
    metavar="N",
)


def test_a_new_row_is_a_keyword_and_an_option_of_commands(monkeypatch):
    monkeypatch.setattr(table, "OPTIONS", (*OPTIONS, NEW))
    assert NEW in options_of("rewrite") and NEW in options_on("check")
    monkeypatch.setattr(writer, "OPTIONS", (*OPTIONS, NEW))
    files = {path.name: text for path, text in writer.files().items()}
    assert "    patience: int | None = None\n" in files["option_fields.py"]
    assert files["calls.py"].count("    patience: int | None = None,\n") == 4
    assert files["calls.py"].count("        patience: how long to try.\n") == 1
    assert " ".join(files["calls.py"].split()).count("`, `patience`.") == 3


def test_the_table_needs_nothing_else():
    program = "import sys, straightline.options.table; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    ours = {name for name in found.stdout.split() if name.startswith("straightline")}
    assert ours == {"straightline", "straightline.options", "straightline.options.table"}


def test_a_new_row_is_a_row_of_the_page(monkeypatch):
    monkeypatch.setattr(table, "OPTIONS", (*OPTIONS, NEW))
    page = writer.page()
    assert next(option for option in OPTIONS if option.name == "values").row in page
    assert "| `--patience N` | how long to try |\n" in page
    assert next(o for o in OPTIONS if o.name == "rewrite").row.startswith(
        "| `--rewrite`, `--no-rewrite` |"
    )
