"""One module a schema revision, frozen once released."""
