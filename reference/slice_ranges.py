"""Elements of an axis that a slice takes."""


def slice_range(size: int, start: int, end: int, step: int) -> range:
    """The numbers of the elements of an axis that a slice takes (specification, Slice 13)."""
    first, last = (bound + size if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(first, 0), size), min(max(last, 0), size), step)
    return range(min(max(first, 0), size - 1), min(max(last, -1), size - 1), step)
