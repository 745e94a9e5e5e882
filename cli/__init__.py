"""The command line: it reads options, calls the public functions and shows what they found."""
