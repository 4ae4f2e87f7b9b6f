"""Fuzzing of what comes from outside: frames, messages, and every file that somebody else may have written."""
