"""Messages a byte at a time, of kinds nobody knows, of the wrong shape, nested too deeply, and half of one at the end."""

import os

messages = open(os.environ["ACTUM_MESSAGES"], "ab", buffering=0)  # noqa: SIM115
for byte in b'{"progress": [3, 4]}\n{"metric": "steps", "value": "4", "observations": 4}\n':
    messages.write(bytes([byte]))
messages.write(b'{"wonder": 1, "' + b"k" * 300_000 + b'": 2}\n')
messages.write(b'\xff\xfe no text\n[1]\n"x"\n' + b"[" * 100_000 + b'\n{"progress": "x"}\n{"progress": [1e999, NaN]}\n\n \n')
messages.write(b'{"stage": "' + "😀".encode() * 5_000 + b'"}\n')
messages.write(b'{"note": ' + b"[" * 100_000 + b"]" * 100_000 + b'}\n{"wonder": ' + b"[" * 33 + b"]" * 33 + b"}\n")
messages.write(b'{"note": "' + b"n" * (2 << 20) + b'"}\n')
messages.write(b'{"progress": [4, 4]}\n{"record": "half", "data": {"a": ')
with open(os.path.join(os.environ["ACTUM_OUTPUT"], "said.txt"), "w") as file:
    file.write("something")
