"""Facts of values before run time, in terms that every room above shares."""
