"""Tests: helpers."""
