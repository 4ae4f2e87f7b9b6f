"""Icons, themes, translations, help pages and samples."""
