import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
import straightline as sl
from reports import rewritten
from source_files import ROOT
from straightline import report

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028&amp;<!--"
VOID = {"meta", "link", "input", "br", "img"}
ASSETS = ROOT / "report" / "assets"


class Reader(HTMLParser):
    """Collects tags with attributes, and the content of scripts; checks that tags are closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.scripts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


PAGE = report.page(rewritten())
READ = read(PAGE)


def data_of(reader):
    (data,) = [s for (a, s) in zip(scripts(reader), reader.scripts, strict=True) if "type" in a]
    return json.loads(data)


def scripts(reader):
    return [attributes for tag, attributes in reader.tags if tag == "script"]


def test_the_page_is_well_formed_and_holds_the_report():
    assert PAGE.startswith("<!doctype html>")
    assert data_of(READ)["before"]["name"] == "decoder.onnx"


def test_nothing_is_loaded_from_elsewhere():
    loads = [
        value
        for _, attributes in READ.tags
        for name, value in attributes.items()
        if name in ("src", "href", "action", "srcset", "data", "poster")
    ]
    assert loads == ["data:,"]
    style = (ASSETS / "page.css").read_text()
    assert "url(" not in style and "@import" not in style
    own = [path for path in ASSETS.iterdir() if path.suffix == ".js" and ".min." not in path.name]
    for script in own:
        assert not re.search(r"https?:|fetch\(|XMLHttp|innerHTML|eval\(", script.read_text()), (
            script
        )


def test_the_policy_lets_only_these_scripts_run_and_nothing_be_loaded():
    (policy,) = [a["content"] for t, a in READ.tags if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    for attributes, script in zip(scripts(READ), READ.scripts, strict=True):
        if "type" in attributes:
            continue
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "http" not in policy and "*" not in policy


def test_no_name_becomes_a_part_of_the_page():
    proto = sl.ir.to_proto(
        sl.ir.parse(
            '<ir_version: 8, opset_import: ["" : 17]> g (float x) => (float y)'
            " { a = Abs (x) y = Neg (a) }"
        )
    )
    proto.graph.node[0].name = HOSTILE
    proto.graph.node[0].output[0] = proto.graph.node[1].input[0] = HOSTILE
    proto.graph.node[0].doc_string = HOSTILE
    found = read(report.page(report.gather(proto, proto, names=(HOSTILE, HOSTILE))))
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in READ.tags]
    data = data_of(found)
    assert data["before"]["name"] == data["before"]["graphs"][0]["nodes"][0][1] == HOSTILE
    (raw,) = [s for a, s in zip(scripts(found), found.scripts, strict=True) if "type" in a]
    assert "<" not in raw and raw.isascii()


def test_the_page_is_small():
    assert sum(path.stat().st_size for path in ASSETS.iterdir()) < 700_000
    assert len(PAGE) < 700_000


def luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'])
def test_text_stands_out_from_every_ground_by_four_and_a_half(theme):
    style = (ASSETS / "page.css").read_text().partition(theme)[2].partition("}")[0]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", style))
    for text in ("ink", "soft", "blue", "orange", "violet", "teal", "good", "warn", "bad"):
        for ground in ("paper", "card", "faint", f"{text}-paper"):
            if ground in colours:
                lights = sorted(luminance(colours[name]) for name in (text, ground))
                assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 4.5, (text, ground)


def test_vendored_assets_have_a_notice():
    notice = (ASSETS / "NOTICE").read_text()
    for path in ASSETS.glob("*.min.js"):
        assert path.name in notice
    assert notice.count("Permission is hereby granted") >= 2


def test_a_report_is_written_whole_and_replaces_only_a_report(tmp_path):
    path, found = tmp_path / "r.html", rewritten(verify=False)
    report.write(path, found)
    report.write(path, found)
    assert read(path.read_text(encoding="utf-8"))
    other = tmp_path / "notes.html"
    other.write_text("<p>mine</p>")
    with pytest.raises(sl.ir.SaveError, match="the file there is not a report"):
        report.write(other, found)
    assert other.read_text() == "<p>mine</p>"
    report.write(other, found, force=True)
    assert "straightline report" in other.read_text(encoding="utf-8")
    with pytest.raises(sl.ir.SaveError, match="it is read, or the result itself"):
        report.write(path, found, taken=[path])


def test_a_file_name_that_is_no_text_is_shown_all_the_same(tmp_path):
    found = rewritten(verify=False)
    side = dataclasses.replace(found.before, name="caf\udce9.onnx")
    report.write(tmp_path / "r.html", dataclasses.replace(found, before=side))
    assert "caf" in (tmp_path / "r.html").read_text(encoding="utf-8")
