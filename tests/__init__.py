"""The tests.."""
