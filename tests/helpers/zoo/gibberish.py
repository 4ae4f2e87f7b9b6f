"""Every byte there is, halves of characters, escapes and no last line end, on both streams."""

import os

everything = bytes(range(256))
os.write(1, everything * 4 + b"\n\xe4\xb8\n\x1b[31mred\x1b[0m <b>bold</b> %s {0}\n")
os.write(2, b"\xff\xfe" + everything + b"\xed\xa0\x80 no end")
