"""The helper program: long or heavy work beside the app, one verb a file."""
