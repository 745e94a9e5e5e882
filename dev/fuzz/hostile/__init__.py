"""Models of a few KB that ask for much: each file makes one class of them, of any size.

    PYTHONPATH=tests/support python dev/fuzz/hostile
    PYTHONPATH=tests/support python dev/fuzz/hostile calls sizes --commands inspect
    PYTHONPATH=tests/support python dev/fuzz/hostile/seeded.py --seeds 100

The first runs all, each child under a limit of memory and time; the last combines other classes at
random.
"""
