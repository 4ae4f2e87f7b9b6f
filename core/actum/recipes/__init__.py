"""Tasks that come with the program."""
