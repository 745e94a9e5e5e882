"""Models of a few KB that ask for much: each file makes one class of them, of any size.

python tests/support/hostile            # all, each child under a limit of memory and time
python tests/support/hostile calls sizes --commands inspect
python tests/support/hostile/seeded.py --seeds 100     # other classes, put together at random
"""
