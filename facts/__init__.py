"""What can be known about a value before run time, in words that every floor above shares."""
