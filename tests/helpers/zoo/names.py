"""Files with every name a file system takes: line ends, quotes, dashes, markup, formulas, and as long as can be."""

import os

os.chdir(os.environ["ACTUM_OUTPUT"])
NAMES = ("two\nlines", "-rf", "a b\t'\"", "<b>bold<", "=1+1", "%s{0}$HOME`id`", "\x1b[31mred", "文件", "x" * 255, "...")

for name in NAMES:
    with open(name, "w") as file:
        file.write(name)
os.makedirs("sub\n/..x")
with open("sub\n/..x/\n", "w") as file:
    file.write("deep")
