"""Options of the public calls and of the commands that stand for them."""
