"""Tests: upgrade."""
