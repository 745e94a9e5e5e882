from conversions import assert_becomes, assert_refuses


def test_repeats_of_one_axis_become_those_of_all():
    body = """t = Constant <value = float {2}> () a = Constant <value = float {1}> ()
        y = Tile (x, t, a)"""
    assert_becomes(f"""5 to 9: {body} =>
        y = Tile (x, [1, 2])""")


def test_an_axis_that_the_data_lacks_is_refused():
    body = """t = Constant <value = float {2}> () a = Constant <value = float {5}> ()
        y = Tile (x, t, a)"""
    assert_refuses(body, 5, 9, "input 0 has no axis 5")
