from straightline.passes import InlineIfs, UnrollLoops


def test_a_pass_is_written_with_the_options_that_differ():
    assert str(UnrollLoops()) == "unroll-loops"
    assert str(UnrollLoops(max_trips=3)) == "unroll-loops{max_trips=3}"
    assert dict(UnrollLoops(max_trips=3).options())["max_trips"] == 3
    assert InlineIfs().summary == "Inline the taken branch of every If whose condition is constant."
