"""Result packages: sealing, deriving, verifying, publishing, checking, exporting."""
