"""`actum verify RUN|--all|PATH`: check published results again, bytes and content (§8).

A run's result is checked by the supervisor, which records what holds now; a path (a folder or a pack) is checked right here,
without a workspace and without writing anything. A package read that way proves what it contains, not whose it is, unless the
digest it was sealed with is given. `--level` says how far to look, and the answer never says more than was looked at.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actum import limits
from actum.errors import ActumError, NotFound

from actum_desktop import measures
from actum_desktop.commands.context import Context, run_number, wrong_use
from actum_desktop.commands.interrupts import Interrupts
from actum_desktop.commands.output import Output, plain
from actum_desktop.commands.supervision import Session

if TYPE_CHECKING:
    from actum.store.queries import Reader

EXIT_CHECK_FAILED = 5
_READABLE = "readable"
RUN_WORDS = re.compile(r"#?[0-9]+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LEVEL = re.compile(r"presence|bytes|content|chunks:[0-9]+-[0-9]+|sample:[0-9]+")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="RUN|PATH", nargs="?", help="a run's number or id, or the folder or pack of a result")
    parser.add_argument("--all", action="store_true", help="every published result of the workspace")
    parser.add_argument(
        "--level",
        default="content",
        metavar="LEVEL",
        help="presence, bytes, content (all; else this), chunks:FIRST-LAST, or sample:N (chunks chosen at random)",
    )
    parser.add_argument("--digest", metavar="SHA256", help="of a PATH: the digest its manifest was sealed with")
    parser.add_argument("--rebuild", action="store_true", help="make damaged derived tables again from their authority")


def run(args: argparse.Namespace, context: Context) -> int:
    _check(args)
    if args.what is not None and not RUN_WORDS.fullmatch(args.what):
        return verify_path(context.out, args.what, args.level, args.digest)
    with context.reader() as reader:
        runs = list(_published(reader)) if args.all else [run_number(reader, args.what)]
    return _verify_runs(context, runs, args.level, args.rebuild)


def _check(args: argparse.Namespace) -> None:
    """Raises WrongUse for what does not go together."""
    if args.all == (args.what is not None):
        raise wrong_use("Either one result or all are verified.", "Give RUN, PATH or --all.")
    if not _LEVEL.fullmatch(args.level):
        raise wrong_use(f"“{args.level}” is not a level.", "There are presence, bytes, content, chunks:1-3 and sample:5.")
    of_path = args.what is not None and not RUN_WORDS.fullmatch(args.what)
    if args.digest is not None and not (of_path and _DIGEST.fullmatch(args.digest)):
        raise wrong_use("--digest is the sha256 of a PATH's manifest.json.", "It has 64 hex digits; a run's is known.")
    if args.rebuild and (of_path or args.level != "content"):
        raise wrong_use("--rebuild is for a run's result, whole.", "For example: actum verify 17 --rebuild")


def _verify_runs(context: Context, runs: list[int], level: str, rebuild: bool) -> int:
    out, failed = context.out, 0
    if not runs:
        out.note("No result is published yet.")
        return 0
    counted: Counter[str] = Counter()
    with Interrupts() as interrupts, Session(context.workspace, interrupts) as session:
        for position, number in enumerate(runs, start=1):
            out.progress(f"Verifying run {number}, {position} of {len(runs)}")
            body: dict[str, Any] = {"verb": "verify", "run": number, "level": level}
            try:
                answer = session.submit({"verb": "rebuild", "run": number} if rebuild else body)
            except ActumError as error:
                if len(runs) == 1:
                    raise
                counted[error.code] += 1
                failed += 1
                out.note(f"Run {number}: {error}")
                continue
            counted[str(answer["state"])] += 1
            failed += answer["state"] != _READABLE
            _print(out, f"Run {number}", answer)
    if len(runs) > 1:
        out.note(f"{len(runs)} results verified ({level}), {failed} not as published. {_summary(counted)}")
    return EXIT_CHECK_FAILED if failed else 0


def _summary(counted: Mapping[str, int]) -> str:
    """`Readable: 12. Damaged: 1.`, the most frequent first."""
    return " ".join(f"{state.capitalize()}: {count}." for state, count in Counter(counted).most_common())


def verify_path(out: Output, text: str, level: str = "content", digest: str | None = None) -> int:
    """Verify the package at a path, a folder or a pack. Raises NotFound when there is none, CheckFailed for a bad pack."""
    from actum.results import pack

    path = Path(os.path.abspath(os.path.expanduser(text)))
    with contextlib.ExitStack() as kept:
        package = path
        if pack.is_pack(path):
            out.progress("Unpacking")
            package = kept.enter_context(pack.unpacked(path))
        if not (package / "manifest.json").is_file():
            why = "The folder has no manifest.json." if path.is_dir() else "There is no such folder or pack."
            remedy = "Name a run, or a folder below results/."
            raise NotFound("no_package", f"There is no result package at {path}.", why, remedy)
        answer = _looked(out, package, level, digest)
    answer["path"] = str(path)
    _print(out, str(path), answer)
    if not out.json:
        _print_proof(out, answer)
    return 0 if answer["state"] == _READABLE else EXIT_CHECK_FAILED


def _looked(out: Output, package: Path, level: str, digest: str | None) -> dict[str, Any]:
    from actum.results import manifest
    from actum.results.chunks import WHOLE, extent_of
    from actum.results.package import NOT_PROVED, NOT_PROVED_SEALED
    from actum.results.report import Expected
    from actum.results.verify import verify, verify_bytes

    def tell(done: int, total: int, unit: str) -> None:
        out.progress(f"Verifying, {measures.size(done)} of {measures.size(total)}", news=False)

    expected, extent = Expected(manifest_sha256=digest), extent_of(level)
    if level in ("bytes", "presence"):
        only = verify_bytes(package, expected, tell)
        ok, reason = only.ok, only.findings[0].message if only.findings else ""
        details: dict[str, Any] = {"bytes": only.to_json()}
    else:
        report = verify(package, expected, tell, extent=extent or WHOLE)
        ok, reason, details = report.ok, report.reason, report.to_json()
    try:
        found: str | None = manifest.read_manifest(package)[1]
    except (OSError, manifest.NotAPackage):
        found = None
    return {
        "state": _READABLE if ok else "damaged",
        "reason": reason,
        "level": level,
        "digest": found,
        "digest_given": digest is not None,
        "proved": _proved(level, sealed=digest is not None) if ok else [],
        "not_proved": list(NOT_PROVED_SEALED if digest is not None else NOT_PROVED),
        "details": details,
    }


def _proved(level: str, *, sealed: bool) -> list[str]:
    """What a look that found nothing shows: of files whose bytes were not read, nothing but that they are there."""
    from actum.results.package import PROVED, PROVED_MANIFEST, PROVED_SEALED

    if level == "content":
        return [PROVED, PROVED_SEALED] if sealed else [PROVED]
    return [PROVED_MANIFEST] if sealed else []


def _print_proof(out: Output, answer: Mapping[str, Any]) -> None:
    """What was shown and what was not: the digest to compare, when nobody told it."""
    out.say(f"  digest: {plain(answer['digest'] or 'none')}")
    if answer["state"] == _READABLE:
        for sentence in answer["proved"]:
            out.say("  " + out.toned("shown: ", "ok") + plain(sentence))
        if not answer["proved"]:
            out.say("  " + out.toned("shown: ", "ok") + plain("What the level above names, and no more."))
    for sentence in answer["not_proved"]:
        out.say("  " + out.toned("not shown: ", "faint") + plain(sentence))


def _print(out: Output, name: str, answer: Mapping[str, Any]) -> None:
    if out.json:
        out.document("verify", answer)
        return
    from actum_desktop import wording

    badge = wording.result_badge({"state": answer["state"]})
    word = badge.word if badge else str(answer["state"])
    fine = answer["state"] == _READABLE
    out.say(f"{out.toned(plain(name), 'strong')}  {out.toned(word, 'ok' if fine else 'bad')}")
    report = answer.get("details") or {}
    for level in (report if "level" in report else report.get("bytes"), report.get("content")):
        if isinstance(level, Mapping):
            out.say("  " + level_line(level))
            for finding in level["findings"]:
                out.say("    " + plain(finding["message"]))
    if not report.get("bytes") and answer.get("reason"):
        out.say("  " + plain(answer["reason"]))
    if answer.get("rebuilt"):
        out.say("  The derived tables were made again from their authority, and verified.")
    if not fine and answer.get("remedy"):
        out.say("  " + plain(answer["remedy"]))
    if fine and "proved" not in answer:
        whole = answer.get("level") == "content"
        said = "It is what was published. That proves neither its source nor its formula."
        out.say(out.toned(f"  {said if whole else 'As far as was looked; nothing is said of the rest.'}", "faint"))


def level_line(level: Mapping[str, Any]) -> str:
    """`content: 2 tables, 749 rows, as their authority says`: what one level looked at, and what came of it and no more."""
    files = f"{measures.count(level['files'])} files"
    if level["level"] in ("bytes", "authority"):
        looked_at, fine = f"{files}, {measures.size(level['size_bytes'])}", "with the digests listed"
    elif level["level"] == "presence":
        looked_at, fine = f"{files}, their bytes not read", "with the sizes listed"
    else:
        looked_at = f"{measures.count(level['files'])} tables, {measures.count(level['rows'])} rows"
        fine = "as their authority says"
    found = int(level["findings_total"])
    outcome = fine if level["ok"] else f"{measures.count(found)} finding{'' if found == 1 else 's'}"
    resumed = f", {measures.count(level['resumed'])} found before" if level.get("resumed") else ""
    extent = level.get("extent", "whole")
    name = str(level["level"]) if extent == "whole" else f"{level['level']}, {extent}"
    return f"{name}: {looked_at}, {outcome}{resumed}"


def _published(reader: Reader) -> Iterator[int]:
    """The numbers of the runs that have a result, the newest first."""
    before: int | None = None
    while page := reader.runs_page(before=before, limit=limits.PAGE_ROWS_MAX, statuses=["SUCCEEDED"]):
        yield from (row.number for row in page if row.result_digest is not None)
        before = page[-1].number
