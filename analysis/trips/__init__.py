"""How many trips a Loop makes, and what its condition is on each."""
