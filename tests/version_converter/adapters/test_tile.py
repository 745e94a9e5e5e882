from conversions import assert_becomes


def test_repeats_of_one_axis_become_those_of_all():
    body = """t = Constant <value = float {2}> () a = Constant <value = float {1}> ()
        y = Tile (x, t, a)"""
    assert_becomes(f"""5 to 9: {body} =>
        y = Tile (x, [1, 2])""")
