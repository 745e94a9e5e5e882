"""Work that is counted rather than timed, so that a test says the same on every machine."""

import sys


def calls_of(run):
    """How many functions are called, of Python and of C, while something runs.

    Args:
        run: the work; a first run of it makes ready what is kept for later ones.
    """
    run()
    count = 0

    def profile(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def assert_linear(work, small, times, spare=1.3):
    """Check that work grows as its size does.

    Args:
        work: makes the work of a size, not counted, which is then run.
        small: a size that is large enough for what does not grow to be little.
        times: how many times as large the other size is.
        spare: how much more than that is allowed.
    """
    few, many = (calls_of(work(size)) for size in (small, small * times))
    assert many < few * times * spare, (few, many)
