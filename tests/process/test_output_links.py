"""Links in the output folder: contained ones are part of the result, whatever else the run does with them (§5, R19)."""

from __future__ import annotations

import os
from pathlib import Path

from tests.helpers.program import made

LINKS = 'cd "$ACTUM_OUTPUT"; echo text > a; ln -s a inner; mkdir sub; ln -s ../a sub/up; ln -s sub folder; ln -s absent none'


def test_contained_links_are_published_and_recorded(tmp_path: Path) -> None:
    place = made(tmp_path)
    place.define("links", LINKS)
    told = place.actum("run", "links")
    assert told.code == 0, told
    result = place.actum("results", "1").objects[-1]
    roles = {file["name"]: file["role"] for file in result["files"]}
    links = ("files/folder", "files/inner", "files/none", "files/sub/up")
    assert all(roles[name] == "link" for name in links)
    assert [os.readlink(Path(result["path"], name)) for name in links] == ["sub", "a", "absent", "../a"]
    assert place.actum("verify", "1").code == 0
    assert place.actum("audit").code == 0


def test_an_audit_sees_a_link_that_was_turned(tmp_path: Path) -> None:
    place = made(tmp_path)
    place.define("links", LINKS)
    assert place.actum("run", "links").code == 0
    assert place.actum("audit").code == 0
    link = Path(place.actum("results", "1").objects[-1]["path"], "files", "inner")
    link.parent.chmod(0o755)
    link.unlink()
    link.symlink_to("none")
    told = place.actum("audit")
    assert told.code == 5
    assert "“files/inner” is not the link that was sealed." in str(told.objects)


def test_a_link_that_leads_out_is_refused_by_name(tmp_path: Path) -> None:
    place = made(tmp_path)
    place.define("out", 'ln -s /etc/hostname "$ACTUM_OUTPUT/out"')
    told = place.actum("run", "out")
    assert told.code == 1, told
    assert told.objects[-1]["failure"]["code"] == "result_rejected"
    assert "out" in told.objects[-1]["failure"]["details"]["refused"]
