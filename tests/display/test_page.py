from html.parser import HTMLParser

from straightline.display import Code, Line, Table, as_html
from tables import table

EVIL = "<script>alert('x')</script>&\"\x1b[2J\u202e"
VOID = {"br"}


class Reader(HTMLParser):
    """The text of a page, its tags, and whether they close in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_a_page_is_one_piece_for_light_and_dark():
    page = as_html("title", [Line("a line", "left"), Code("n=1"), Table(("A",), [("kept",)])])
    found = read(page)
    assert found.tags[:2] == ["div", "style"]
    assert "prefers-color-scheme:dark" in page
    assert not {"link", "script", "img", "iframe"} & {*found.tags}
    assert not any(word in page for word in ("http", "url(", "@import", "src="))
    assert "".join(found.text).endswith("titlea linen=1Akept")
    assert ("class", "open") in found.attributes and ("class", "left") in found.attributes


@table(Line(EVIL), Line(EVIL, status=EVIL), Code(EVIL), Table((EVIL,), [(EVIL,), ([EVIL, EVIL],)]))
def test_names_of_a_model_are_text(block):
    page = as_html(EVIL, [block])
    found = read(page)
    assert "script" not in found.tags
    assert "<script" not in page and "\x1b" not in page and "\u202e" not in page
    assert "<script>alert('x')</script>&\"\\x1b[2J\\u202e" in "".join(found.text)
