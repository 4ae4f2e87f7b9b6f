"""Prepared documents of `show` in every state a run can be in, for tests of wording and for drawing the screens."""

from __future__ import annotations

from typing import Any

from actum.clock import rfc3339
from actum.model.facts import FACTS

NOW = 1_774_963_656_000_000  # 31 March 2026, 13:27:36 UTC
MINUTE = 60_000_000
START = NOW - 225 * MINUTE
SESSION = "5be0c4d17aa24b0f9a53e1f60c2e8f9d"

_EVIDENCE: dict[str, dict[str, Any]] = {
    "admitted": {"method": "committed"},
    "inputs_frozen": {"method": "copy", "files": 2, "bytes": 84_200_000},
    "launched": {"method": "spawn"},
    "contact_made": {"method": "hello", "session": SESSION},
    "computation_ended": {"method": "frame", "ended": {"exit_code": 0}, "tables": 3, "metrics": 6},
    "sealed": {"method": "outcome", "manifest_sha256": "b07d" + "3" * 56 + "92e1", "files": 14},
    "host_exited": {"method": "pidfd", "exit_code": 0},
    "tree_gone": {"method": "subreaper", "seen": 7, "scans": 1},
    "released": {"method": "tree_gone"},
    "bytes_verified": {"method": "sha256", "files": 14},
    "content_verified": {"method": "read back", "rows": 1_204_331},
    "published": {"method": "rename", "path": "results/17/1"},
    "reference_committed": {"method": "transaction"},
    "succeeded": {"method": "transaction"},
}
_AFTER_US = [118_000, 164_000, 170_000, 171_000, 0, 4_308_000, 4_400_000, 4_949_000, 4_949_500]
_AFTER_US += [26_116_000, 26_116_500, 26_202_000, 26_217_000, 26_217_000]


def facts(names: tuple[str, ...] | list[str], attempt: str = "a-1", end: int = NOW - MINUTE) -> list[dict[str, Any]]:
    """Rows of the fact table for `names`; the first four at the start, the others around `end`."""
    rows = []
    for name in names:
        position = [fact.value for fact in FACTS].index(name)
        at = (START if position < 4 else end) + _AFTER_US[position]
        rows.append({"fact": name, "at": rfc3339(at), "attempt": attempt, "evidence": dict(_EVIDENCE[name])})
    return rows


def first(count: int) -> list[str]:
    return [fact.value for fact in FACTS[:count]]


def show(status: str = "RUNNING", phase: str = "COMPUTING", count: int = 4, **changes: Any) -> dict[str, Any]:
    """A document of `show` with the first `count` facts; keyword arguments replace members."""
    released = bool(changes.pop("released", count >= 9 or phase == "CLOSED"))
    names = changes.pop("names", first(count))
    contact = changes.pop("contact", {"state": "ok", "since": rfc3339(START), "why": None})
    document: dict[str, Any] = {
        "schema": "actum.show/1",
        "run": 17,
        "id": "019d4404-0000-7000-8000-000000000017",
        "task": "train-churn",
        "task_title": "Train churn model",
        "task_version": "4",
        "trigger": "manual",
        "key": "7c1e4a" + "0" * 26,
        "labels": [],
        "parameters": {"folds": "30", "learning_rate": "1e-6", "features": "features.parquet"},
        "status": status,
        "phase": phase,
        "released": released,
        "contact": contact,
        "created_at": rfc3339(START),
        "started_at": rfc3339(START + 171_000) if count > 3 else None,
        "finished_at": rfc3339(NOW - MINUTE) if phase == "CLOSED" else None,
        "duration_s": 13_500.0,
        "progress": {"done": 18, "total": 30, "unit": "", "stage": "fit folds", "message": "", "at": rfc3339(NOW)},
        "heartbeat_at": rfc3339(NOW - 2_000_000),
        "activity": {"cpu_s": 11_880.0, "rss_bytes": 3_900_000_000, "read_bytes": 0, "written_bytes": 0},
        "deadlines": {"overall_s": 21_600},
        "stop": None,
        "failure": None,
        "attempts": [
            {
                "attempt": "a-1",
                "n": 1,
                "session": SESSION,
                "service_instance": "f00d",
                "engine": "local",
                "engine_job": None,
                "pid": 48213,
                "status": status,
                "phase": phase,
                "released": released,
                "contact": contact,
                "exit": {"code": None, "signal": None},
                "folder": "attempts/17/1",
            }
        ],
        "facts": facts(names),
        "result": None,
        "inputs": [
            {"name": "features", "path": "/data/features.parquet", "policy": "copy", "sha256": "9f2c" + "7" * 56 + "41ab"},
            {"name": "labels", "path": "/data/labels.csv", "policy": "pin", "sha256": "11c4" + "7" * 56 + "e0aa"},
        ],
        "environment": {"interpreter": "/usr/bin/python3", "version": "3.11.7"},
        "code": {"path": "/data/train.py", "sha256": "ab" * 32, "git_commit": None, "git_dirty": None},
        "alerts": [],
        "allowed_actions": ["stop"] if phase != "CLOSED" else ["rerun"],
    }
    for item, size in zip(document["inputs"], (84_000_000, 200_000), strict=True):
        item["size"] = size
    document.update(changes)
    return document


RESULT = {"id": "r-17", "state": "readable", "reason": "", "path": "results/17/1", "digest": "b07d" + "3" * 60, "files": []}
_NEVER_COMPLETED = ["admitted", "inputs_frozen", "launched", "contact_made", "host_exited", "tree_gone", "released"]


def states() -> dict[str, dict[str, Any]]:
    """One document per state of the ledger, by a short name."""
    stop = {"stage": "asked", "at": rfc3339(NOW - 4_000_000), "next_in_s": 6}
    insisting = {"stage": "insisting", "at": rfc3339(NOW - 10_000_000), "next_in_s": None}
    insisting["asked_at"] = rfc3339(NOW - 20_000_000)
    stopped = {"stage": "released", "at": rfc3339(NOW - MINUTE - 16_000_000), "next_in_s": None}
    refused = {
        "code": "result_rejected",
        "message": "content: row 88,214 of table invoices differs from its authority",
        "details": {"quarantine": "quarantine/17-1"},
    }
    failed = {"code": "work_failed", "message": "The work ended with exit code 1.", "details": {}}
    limit = {"code": "overall_deadline", "message": "The overall limit of 2 h passed.", "details": {}}
    held = {"state": "cannot_tell", "since": rfc3339(NOW), "why": "Permission denied reading process 51877."}
    step = {"verb": "verify", "done": 9, "total": 14, "unit": "files"}
    retrying = show("RETRYING", "CLOSED", names=_NEVER_COMPLETED, failure=failed)
    retrying["attempts"][0]["status"] = "FAILED"  # the run retries; its attempt stays what it became
    return {
        "queued": show("CREATED", "QUEUED", 1, progress=None, heartbeat_at=None, activity={}),
        "freezing": show("CREATED", "FREEZING", 1, progress=None, heartbeat_at=None, activity={}),
        "starting": show("STARTING", "LAUNCHING", 3, progress=None, heartbeat_at=None, activity={}),
        "running": show(),
        "sealing": show("RUNNING", "SEALING", 5),
        "verifying": show("RUNNING", "VERIFYING", 9, step=step),
        "publish_pending": show("RUNNING", "PUBLISH_PENDING", 11),
        "succeeded": show("SUCCEEDED", "CLOSED", 14, result=RESULT),
        "damaged": show("SUCCEEDED", "CLOSED", 14, result={**RESULT, "state": "damaged", "reason": "tables/a.jsonl differs"}),
        "refused": show("FAILED", "CLOSED", 9, failure=refused),
        "failed": show("FAILED", "CLOSED", names=_NEVER_COMPLETED, failure=failed),
        "cleaning": show("FAILED", "CLEANING_UP", 4, failure={"code": "host_lost", "message": "", "details": {}}),
        "timeout": show("TIMEOUT", "CLOSED", names=_NEVER_COMPLETED, failure=limit),
        "stopping": show("STOPPING", "CLEANING_UP", 4, stop=stop),
        "insisting": show("STOPPING", "CLEANING_UP", 4, stop=insisting),
        "stopped": show("STOPPED", "CLOSED", names=_NEVER_COMPLETED, stop=stopped),
        "cannot_tell": show("RUNNING", "CLEANING_UP", 7, contact=held),
        "retrying": retrying,
        "start_failed": show(
            "START_FAILED", "CLOSED", 1, failure={"code": "input_unreadable", "message": "", "details": {}}, progress=None
        ),
    }
