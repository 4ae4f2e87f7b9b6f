"""A sheet that keeps all digits of a float and takes no text for markup (R19)."""

from __future__ import annotations

from typing import Any

from xlsxwriter.worksheet import Worksheet


class Sheet(Worksheet):  # type: ignore[misc]
    """The writer's own sheet cuts a float to 16 digits, and writes a text that looks like its rich strings unescaped."""

    def _xml_number_element(self, number: Any, attributes: Any = ()) -> None:
        told = "".join(f' {key}="{value}"' for key, value in attributes)
        whole = repr(number)
        self.fh.write(f"<c{told}><v>{whole.removesuffix('.0') if whole != '-0.0' else whole}</v></c>")

    def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
        self._xml_inline_string(string, False, attributes)
