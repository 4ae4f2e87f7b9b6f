"""Verification: the five consistently re-sealed lies of FORMATS, each caught by the check named for it, and by it alone.

`reseal` rewrites every digest a liar could rewrite and answers with the new manifest expected, as if `manifest_sha256` were
switched off. If then exactly one check fails, switching that one off too would let the lie pass: it is the catcher.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from actum import limits
from actum.errors import CheckFailed
from actum.results.check import check
from actum.results.compare import compare_batches, first_difference
from actum.results.manifest import Messages
from actum.results.report import Expected, Findings
from actum.results.tables import locate
from actum.results.verify import verify

from tests.helpers import packages
from tests.helpers.packages import Made, sample


def failed(made: Made) -> set[str]:
    return set(verify(made.path, made.expected).failed_checks)


def change_parquet(path: Path) -> None:
    table = pq.read_table(path)
    position = table.schema.names.index("price")
    kind = table.schema.field("price").type
    values = [Decimal("13.5"), *table.column("price").to_pylist()[1:]]
    pq.write_table(table.set_column(position, table.schema.field("price"), pa.array(values, kind)), packages.writable(path))


def change_authority(made: Made) -> None:
    path = packages.writable(made.path / "tables" / "returns.jsonl")
    path.write_text(path.read_text().replace("12.500000", "13.500000"))


def test_an_honest_package_passes_at_both_levels(tmp_path: Path) -> None:
    made = sample(tmp_path)
    report = verify(made.path, made.expected)
    assert report.ok
    assert (report.content.rows, report.content.files, report.bytes.files) == (5, 2, 6)
    assert report.manifest_sha256 == made.sealed.manifest_sha256


def test_a_resealed_package_is_consistent(tmp_path: Path) -> None:
    """The tool of the lies tells none by itself."""
    made = packages.reseal(sample(tmp_path))
    assert failed(made) == set()


def test_lie_1_parquet_value_changed_and_digests_recomputed_is_caught_by_content(tmp_path: Path) -> None:
    made = sample(tmp_path)
    change_parquet(made.path / "derived" / "returns.parquet")
    packages.redigest(made.path)
    report = verify(made.path, made.expected)
    assert report.failed_checks == {"content"}
    assert report.bytes.ok
    difference = report.content.first_difference
    assert difference is not None
    assert (difference.table, difference.row, difference.column) == ("returns", 1, "price")
    assert ("12.5" in difference.expected, "13.5" in difference.found) == (True, True)


def test_lie_2_authority_value_changed_likewise_is_caught_by_manifest_and_content(tmp_path: Path) -> None:
    made = sample(tmp_path)
    change_authority(made)
    lied = packages.reseal(made)
    assert failed(replace(lied, expected=made.expected)) == {"manifest_sha256", "content"}
    assert failed(lied) == {"content"}


def test_lie_3_required_file_left_out_of_disk_and_manifest_is_caught_by_contract(tmp_path: Path) -> None:
    made = sample(tmp_path)
    (made.path / "files" / "report.html").unlink()
    lied = packages.reseal(made, lambda m: m.update(files=[f for f in m["files"] if f["name"] != "files/report.html"]))
    assert failed(replace(lied, expected=made.expected)) == {"manifest_sha256", "contract"}
    assert failed(lied) == {"contract"}


def test_lie_3_also_of_a_required_table(tmp_path: Path) -> None:
    made = sample(tmp_path)
    (made.path / "tables" / "returns.jsonl").unlink()

    def leave_out(manifest: dict[str, Any]) -> None:
        manifest["files"] = [entry for entry in manifest["files"] if entry.get("table") != "returns"]
        del manifest["authority"]["returns"]

    lied = packages.reseal(made, leave_out)
    packages.rederive(lied.path)
    assert failed(lied) == {"contract"}


@pytest.mark.parametrize(
    ("member", "value"),
    [("run", 18), ("attempt", "0190-b"), ("session", "cd" * 16), ("workspace_id", "77"), ("request_digest", "x")],
)
def test_lie_4_another_runs_package_is_caught_by_identity(tmp_path: Path, member: str, value: object) -> None:
    wanted, other = sample(tmp_path / "wanted"), sample(tmp_path / "other", **{member: value})
    assert failed(replace(other, expected=wanted.expected)) == {"manifest_sha256", "identity"}
    pinned = replace(wanted.expected, manifest_sha256=other.sealed.manifest_sha256)
    assert failed(replace(other, expected=pinned)) == {"identity"}


def test_lie_5_everything_rederived_and_resealed_is_caught_by_the_sealed_digest_alone(tmp_path: Path) -> None:
    made = sample(tmp_path)
    change_authority(made)
    lied = packages.reseal(made)
    packages.rederive(lied.path)
    assert failed(replace(lied, expected=made.expected)) == {"manifest_sha256"}
    assert failed(lied) == set()


def test_another_contract_is_caught(tmp_path: Path) -> None:
    made = sample(tmp_path)
    lied = packages.reseal(made, lambda m: m["contract"].update(version="2"))
    assert failed(lied) == {"contract"}


@pytest.mark.parametrize(
    ("tamper", "check"),
    [
        (lambda p: (p / "files" / "report.html").unlink(), "listing"),
        (lambda p: packages.writable(p / "files" / "report.html").write_text("<p>no</p>"), "digests"),
        (lambda p: packages.writable(p / "files" / "report.html").write_text("shorter"), "digests"),
        (lambda p: (p / "files" / "extra").write_text(""), "listing"),
        (lambda p: (p / ".derive-1-9").mkdir() or (p / ".derive-1-9" / "x").write_text(""), "listing"),
        (lambda p: (p / "files" / "pipe").symlink_to("/etc/passwd"), "listing"),
        (lambda p: packages.writable(p / "derived" / "quotes.parquet").write_bytes(b""), "derived"),
        (lambda p: (p / "derived" / "derived.json").unlink(), "derived"),
        (lambda p: packages.writable(p / "derived" / "derived.json").write_text("{}"), "derived"),
        (lambda p: packages.redigest(p, "00" * 32), "derived"),
        (lambda p: (p / "manifest.json").unlink(), "manifest"),
        (lambda p: packages.writable(p / "manifest.json").write_bytes(b"\xff"), "manifest"),
    ],
)
def test_tampered_bytes_are_named(tmp_path: Path, tamper: Any, check: str) -> None:
    made = sample(tmp_path)
    tamper(made.path)
    report = verify(made.path, made.expected)
    assert not report.bytes.ok
    assert check in report.failed_checks


def test_a_file_replaced_by_a_link_or_a_pipe_is_no_regular_file(tmp_path: Path) -> None:
    made = sample(tmp_path)
    path = made.path / "files" / "report.html"
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert failed(made) == {"digests"}
    path.unlink()
    os.mkfifo(path)
    assert failed(made) == {"digests"}


PLACES = (
    "tables/quotes.csv",
    "tables/returns.jsonl",
    "derived/quotes.parquet",
    "derived/derived.json",
    "manifest.json",
    "result.json",
)


@pytest.mark.parametrize("place", PLACES)
def test_nothing_waits_at_a_pipe_or_follows_a_link_in_the_place_of_a_file(tmp_path: Path, place: str) -> None:
    """Both levels come to an end and say so; /dev/zero would have no end, and the pipe no writer."""
    made = packages.sample(tmp_path)
    path = made.path / place
    path.unlink()
    os.mkfifo(path)
    assert not verify(made.path, made.expected).ok
    path.unlink()
    path.symlink_to("/dev/zero")
    assert not verify(made.path, made.expected).ok
    path.unlink()
    path.mkdir()
    assert not verify(made.path, made.expected).ok


def test_a_parquet_whose_footer_is_damaged_is_damaged_and_can_be_made_again(tmp_path: Path) -> None:
    """R14: not “the disk does not answer”. The library raises an OSError for some of these, one without a number."""
    made = packages.sample(tmp_path)
    path = packages.writable(made.path / "derived" / "returns.parquet")
    good = path.read_bytes()
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    for place in range(footer, len(good), 41):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
        found = check(made.path, made.sealed.manifest_sha256, "content")
        assert (found.state, found.rebuildable) == ("damaged", True), place
        with contextlib.suppress(CheckFailed):
            locate(made.path, "returns").schema()
            locate(made.path, "returns").rows()


def test_a_csv_whose_header_is_no_text_any_more_is_a_finding(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    path = packages.writable(made.path / "tables" / "quotes.csv")
    path.write_bytes(b"\xee" + path.read_bytes()[1:])
    assert set(verify(made.path, made.expected).failed_checks) == {"digests", "content"}


def test_a_file_changed_between_its_bytes_and_its_content_is_not_passed(tmp_path: Path) -> None:
    """The digests are of what stood there first, the rows of what stands there later: together they would prove nothing."""
    made = packages.sample(tmp_path)
    path = made.path / "files" / "report.html"
    seen: list[int] = []

    def progress(done: int, size: int, unit: str) -> None:
        if not seen and done > size - 20:
            seen.append(done)
            packages.writable(path).write_bytes(b"<p>no</p>")

    report = verify(made.path, made.expected, progress)
    assert seen
    assert "“files/report.html” was changed while it was verified." in report.reason


@pytest.mark.parametrize(
    ("member", "value"), [("authority", "tables/returns.jsonl"), ("authority_sha256", "00" * 32), ("rule", "jsonl.v1")]
)
def test_derived_json_names_the_authority_that_its_table_means(tmp_path: Path, member: str, value: str) -> None:
    """R14: what a derived table is traced to is what it was held against."""
    made = packages.sample(tmp_path)
    document = packages.read_json(made.path / "derived" / "derived.json")
    entry = next(each for each in document["files"] if each["table"] == "quotes")
    entry[member] = value
    packages.write_json(made.path / "derived" / "derived.json", document)
    assert "another authority" in verify(made.path, made.expected).reason
    document["files"].append(entry)
    packages.write_json(made.path / "derived" / "derived.json", document)
    assert "exactly one Parquet" in " ".join(each.message for each in verify(made.path, made.expected).content.findings)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "files/../../x", "", "files//x"])
def test_r19_a_name_that_leads_out_of_the_package_is_not_opened(tmp_path: Path, name: str) -> None:
    made = sample(tmp_path)
    manifest = packages.read_json(made.path / "manifest.json")
    manifest["files"][0]["name"] = name
    packages.write_json(made.path / "manifest.json", manifest)
    assert "manifest" in failed(made)


def test_a_changed_link_target_is_caught(tmp_path: Path) -> None:
    place = packages.staging(tmp_path, {"report.html": "x"})
    (place / "files" / "link").symlink_to("report.html")
    made = packages.finish(place, Messages(), contract={**packages.CONTRACT, "tables": []})
    assert failed(made) == set()
    (place / "files" / "link").unlink()
    (place / "files" / "link").symlink_to("/etc/passwd")
    assert failed(made) == {"digests"}


def test_schema_metadata_and_nullability_are_compared(tmp_path: Path) -> None:
    made = sample(tmp_path)
    path = packages.writable(made.path / "derived" / "returns.parquet")
    table = pq.read_table(path)
    for schema in (
        table.schema.set(0, pa.field("day", pa.date32(), nullable=True)),
        table.schema.set(1, table.schema.field("price").with_metadata({"unit": "EUR"})),
        table.schema.with_metadata({**table.schema.metadata, b"actum.rule": b"csv.v1"}),
    ):
        pq.write_table(table.cast(schema), path)
        packages.redigest(made.path)
        assert failed(made) == {"content"}


def test_missing_and_surplus_rows_are_found(tmp_path: Path) -> None:
    made = sample(tmp_path)
    path = packages.writable(made.path / "derived" / "returns.parquet")
    table = pq.read_table(path)
    for changed in (table.slice(0, 2), pa.concat_tables([table, table.slice(2)])):
        pq.write_table(changed, path)
        packages.redigest(made.path)
        difference = verify(made.path, made.expected).content.first_difference
        assert difference is not None
        assert difference.column is None


def test_a_package_without_tables_is_verified_without_the_table_library(tmp_path: Path) -> None:
    place = packages.staging(tmp_path, {"report.html": "x"})
    made = packages.finish(place, Messages(), contract={**packages.CONTRACT, "tables": []})
    program = (
        "import sys, pathlib; from actum.results.verify import verify; from actum.results.report import Expected; "
        "from actum.results.derive import derive; p = pathlib.Path(sys.argv[1]); "
        "assert verify(p, Expected()).ok; derive(p, p / '.derive-1-1'); assert 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(made.path)], check=True)


def test_floats_are_compared_by_their_bits_and_nan_equals_nan() -> None:
    def at(left: list[float | None], right: list[float | None]) -> int | None:
        return first_difference(pa.array(left, pa.float64()), pa.array(right, pa.float64()))

    assert at([1.0, float("nan"), None], [1.0, float("nan"), None]) is None
    assert at([1.0, 0.0], [1.0, -0.0]) == 1
    assert at([None, 1.0], [float("nan"), 1.0]) == 0
    assert at([float("inf")], [float("-inf")]) == 0


def test_the_first_of_many_differences_is_found_however_the_streams_are_cut() -> None:
    left = pa.table({"a": pa.array(range(1000)), "b": pa.array(["x"] * 1000)})
    right = left.set_column(0, "a", pc.if_else(pc.greater_equal(left["a"], 777), -1, left["a"]))
    for cut_left, cut_right in ((1000, 1000), (7, 64), (333, 1)):
        outcome = compare_batches("t", iter(left.to_batches(cut_left)), iter(right.combine_chunks().to_batches(cut_right)))
        assert outcome.difference is not None
        assert (outcome.difference.row, outcome.difference.column) == (778, "a")
        assert (outcome.difference.expected, outcome.difference.found) == ("777", "-1")
        assert outcome.rows == 777


def test_a_cell_that_no_value_of_python_can_be_is_a_difference_and_no_crash() -> None:
    """R14, R16: what is damaged is found to be, whatever its bytes mean now."""
    odd = {
        pa.date32(): pa.array([2**31 - 1], pa.int32()).view(pa.date32()),
        pa.timestamp("us"): pa.array([2**62], pa.int64()).view(pa.timestamp("us")),
        pa.string(): pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")),
    }
    for kind, found in odd.items():
        sides = [iter([pa.record_batch([column], names=["a"])]) for column in (pa.nulls(1, kind), found)]
        difference = compare_batches("t", *sides).difference
        assert difference is not None
        assert (difference.row, difference.expected, difference.found) == (1, "null", f"a value that is no {kind}")


def test_a_parquet_whose_names_are_no_text_any_more_is_damaged(tmp_path: Path) -> None:
    made = packages.sample(tmp_path)
    path = packages.writable(made.path / "derived" / "returns.parquet")
    good = path.read_bytes()
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    name = pq.read_schema(path).names[0].encode()
    path.write_bytes(good[:footer] + good[footer:].replace(name, b"\xd4" * len(name)))
    assert check(made.path, made.sealed.manifest_sha256, "content").state == "damaged"
    with pytest.raises(CheckFailed):
        locate(made.path, "returns").schema()


def test_r11_findings_beyond_the_bound_are_counted() -> None:
    findings = Findings()
    for number in range(limits.FINDINGS_MAX + 1):
        findings.add("listing", str(number))
    assert (len(findings.kept), findings.count) == (limits.FINDINGS_MAX, limits.FINDINGS_MAX + 1)


def test_r11_a_manifest_above_the_bound_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sample(tmp_path)
    size = (made.path / "manifest.json").stat().st_size
    monkeypatch.setattr(limits, "MANIFEST_BYTES_MAX", size)
    assert failed(made) == set()
    monkeypatch.setattr(limits, "MANIFEST_BYTES_MAX", limits.MANIFEST_BYTES_MAX - 1)
    assert "manifest" in failed(made)


def test_expected_goes_through_json(tmp_path: Path) -> None:
    expected = sample(tmp_path).expected
    assert Expected.from_json(expected.to_json()) == expected
    with pytest.raises(TypeError):
        Expected.from_json({"unknown": 1})


def peak_bytes(package: Path) -> int:
    """The largest resident size of a fresh process that verifies `package`; `ru_maxrss` would count its parent's too."""
    program = (
        "import sys, pathlib, re; from actum.results.verify import verify; from actum.results.report import Expected; "
        "assert verify(pathlib.Path(sys.argv[1]), Expected()).ok; "
        "status = pathlib.Path('/proc/self/status').read_text(); "
        "sys.stdout.write(re.search(r'VmHWM:\\s+(\\d+)', status)[1])"
    )
    return 1024 * int(subprocess.run([sys.executable, "-c", program, str(package)], check=True, capture_output=True).stdout)


def test_r11_memory_does_not_grow_with_the_table(tmp_path: Path) -> None:
    """Three times the rows, eighty more megabytes of text: the same streams of batches."""
    peaks = []
    for rows in (1_000_000, 3_000_000):
        place = packages.staging(
            tmp_path / str(rows), {"t.csv": "a,b\n" + "some text of a row,another one and longer\n" * rows}
        )
        contract = {**packages.CONTRACT, "tables": [], "required": []}
        made = packages.finish(place, Messages(tables=[{"table": "t", "path": "t.csv"}]), contract=contract, required=[])
        peaks.append(peak_bytes(made.path))
    assert peaks[1] - peaks[0] < 60_000_000, peaks
    assert peaks[1] < 300_000_000, peaks


def test_r11_two_large_files_are_digested_at_a_time_with_the_same_findings(tmp_path: Path) -> None:
    """DIGESTED_TOGETHER_BYTES: from two files above it on, DIGESTING_THREADS share them; what is found is the same."""
    for extra in (0, 1):
        size = limits.DIGESTED_TOGETHER_BYTES + extra
        place = packages.staging(tmp_path / str(extra), dict.fromkeys(("a", "b", "c"), b"x" * size))
        made = packages.finish(place, Messages(), contract={**packages.CONTRACT, "tables": []}, required=[])
        packages.writable(made.path / "files" / "b").write_bytes(b"y" * size)
        packages.writable(made.path / "files" / "c").unlink()
        report = verify(made.path, made.expected)
        found = [finding.message for finding in report.bytes.findings if finding.check != "contract"]
        assert found == ["“files/b” has other bytes than were sealed.", "“files/c” is missing."]
    assert limits.DIGESTING_THREADS > 1
