import re

import pytest
from source_files import ROOT, sources
from straightline.limits import LIMITS, Limits, allowed, limit


def test_the_page_shows_the_table():
    page = ROOT / "docs" / "limits.md"
    assert as_table() in page.read_text(encoding="utf-8"), "copy what as_table() gives"


def test_default_limits_come_from_the_table():
    assert Limits() == Limits(limit("max_work"), limit("max_memory"), LIMITS["timeout"].default)
    assert Limits.of(3, None, 0.5) == Limits(3, limit("max_memory"), 0.5)


def test_each_limit_is_used_and_explained():
    used = re.findall(r'limit\("(\w+)"\)', "".join(read(ROOT / path) for path in sources()))
    assert {*used, "max_work", "max_memory", "timeout"} == {*LIMITS}
    assert all(one.default > 0 and one.unit and one.reason for one in LIMITS.values())


@pytest.mark.parametrize("name", [name for name in LIMITS if LIMITS[name].option.startswith("--")])
def test_options_are_those_of_the_command_line(name):
    assert re.search(rf"{LIMITS[name].option}\b", read(ROOT / "docs" / "command-line.md"))


def test_messages_name_a_limit_and_how_much_it_is():
    assert allowed("call_depth") == f"call_depth={limit('call_depth')} allows"
    assert allowed("max_work", 3) == "max_work=3 allows"


def read(path):
    return path.read_text(encoding="utf-8")


def as_table() -> str:
    """The limits that users raise, in Markdown."""
    rows = ["| limit | default | of what | raised by | why |", "|---|---|---|---|---|"]
    for name, one in LIMITS.items():
        if one.option:
            rows.append(
                f"| {name} | {one.default:,} | {one.unit} | `{one.option}` | {one.reason} |"
            )
    return "\n".join(rows)
