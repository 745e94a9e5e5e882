import csv
import dataclasses
import html.parser
import io

import pytest
from straightline.ir import SaveError
from straightline.report.sheet import Column, Sheet, shown

COLUMNS = (
    Column("name", "model", "name"),
    Column("status", "status", "status"),
    Column("nodes_before", "before", "count", "nodes"),
    Column("nodes_after", "after", "count", "nodes"),
    Column("why", "why"),
)
HOSTILE = "<script>alert('x')</script>\"&\u202e\x1b"
ROWS = (
    ("a.onnx", "proved", 1234567, 2, ""),
    (HOSTILE, "bad", None, 1, f"=cmd|{HOSTILE}"),
    ("=1+1", "other", 0, 0.25, "two\nlines"),
)
SHEET = Sheet(f"title {HOSTILE}", COLUMNS, ROWS, ("3", None, 1, 2, None), (("worse", "1"),))


class Tags(html.parser.HTMLParser):
    """The tags of a page, and the rows of its table."""

    def __init__(self):
        super().__init__()
        self.tags, self.rows, self.sorts = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.sorts.append(dict(attributes).get("data-sort"))

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


def parsed():
    found = Tags()
    found.feed(SHEET.to_html())
    return found


def test_the_page_shows_all_rows_as_text():
    found = parsed()
    _, titles, first, hostile, *_, last = found.rows
    assert titles == ["model", "status", "before", "after", "why"]
    assert first[:4] == ["a.onnx", "proved", "1,234,567", "2"]
    assert hostile[0] == r"<script>alert('x')</script>" + '"&' + r"\u202e\x1b"
    assert last[:4] == ["3", "", "1", "2"]
    assert "1234567" in found.sorts and "" in found.sorts
    spans = [attributes for tag, attributes in found.tags if "colspan" in attributes]
    assert spans == [{"colspan": "2", "scope": "colgroup"}]


def test_the_page_runs_its_own_scripts_only():
    found = parsed()
    scripts = [attributes for tag, attributes in found.tags if tag == "script"]
    assert len(scripts) == 3 and not any(scripts)
    policy = next(a["content"] for _, a in found.tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert not any({"src", "href"} & {*a} and a.get("href") != "data:," for _, a in found.tags)


def test_a_name_links_to_its_report():
    links = ["a%20b.html", "", *[""] * (len(SHEET.rows) - 2)]
    page = dataclasses.replace(SHEET, links=links).to_html()
    assert page.count("<a href=") == 1 and '<a href="a%20b.html">a.onnx</a></th>' in page


def test_csv_has_numbers_as_they_are_and_no_formula():
    rows = list(csv.reader(io.StringIO(SHEET.to_csv())))
    assert rows[0] == ["name", "status", "nodes_before", "nodes_after", "why"]
    assert rows[1] == ["a.onnx", "proved", "1234567", "2", ""]
    assert rows[2][2] == "" and rows[2][4].startswith("'=cmd|<script>")
    assert rows[3] == ["'=1+1", "other", "0", "0.25", r"two\nlines"]


@pytest.mark.parametrize("name", ["s.html", "s.csv"])
def test_only_summaries_are_replaced(name, tmp_path):
    path = tmp_path / name
    for _ in range(2):
        SHEET.write(path)
    path.write_text("precious")
    with pytest.raises(SaveError, match="not a summary"):
        SHEET.write(path)
    SHEET.write(path, force=True)
    with pytest.raises(SaveError, match="it is read"):
        SHEET.write(path, [path])
    assert path.read_text() == (SHEET.to_csv() if name == "s.csv" else SHEET.to_html())


def test_values_for_people():
    assert shown(None, "count") == "" and shown(0.25, "seconds") == "250 ms"
    assert shown(12.4, "microseconds") == "12 µs" and shown(5 << 20, "bytes") == "5.0 MB"
