"""Rules of straightline, by theme."""
