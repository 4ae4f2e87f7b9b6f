"""Forms built from a contract document alone: fields, what is wrong with them, presets, and copies of what was filled in."""
