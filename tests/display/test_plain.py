from straightline.display import Code, Line, Table, as_text, time_of, visible
from tables import table

TABLE = Table(("Operator", "Why"), [("Loop", "it is long, and so is this"), ("If", ["one", "two"])])


def test_lines_with_and_without_a_status():
    blocks = [Line(": for every input", status="proved"), Line("note: x", "note"), Code("a=1")]
    assert as_text(blocks) == "proved: for every input\nnote: x\n  a=1"


def test_a_table_wraps_its_last_column():
    assert as_text([TABLE], width=30).splitlines() == [
        "Operator  Why",
        "--------  --------------------",
        "Loop      it is long, and so",
        "          is this",
        "If        one",
        "          two",
    ]


def test_a_narrow_table_keeps_its_last_column_readable():
    assert max(len(line) for line in as_text([TABLE], width=5).splitlines()) == 30


def test_an_empty_table_has_its_head():
    assert as_text([Table(("A", "B"), [])]) == "A  B\n-  -"
    assert as_text([Table(("A", "B"), [("", "")])]) == "A  B\n-  -\n"


@table(("a\x1b[2J", r"a\x1b[2J"), ("a\nb", r"a\nb"), ("é", "é"), ("\u202e", r"\u202e"), ("", ""))
def test_nothing_steers_the_terminal(text, seen):
    assert visible(text) == seen
    table = Table(("A",), [(text,), ([text, text],)])
    for block in (Line(text), Line(text, status=text), Code(text), table):
        assert text.isprintable() or text not in as_text([block])


def test_times():
    assert (time_of(0.0123), time_of(12.34)) == ("12 ms", "12.3 s")
