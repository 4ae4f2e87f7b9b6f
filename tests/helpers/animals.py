"""The animals of tests/helpers/zoo with their stated outcomes, and the judge of what became of one (R06, R07, R11, R13)."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actum.model.facts import FACTS

from tests.helpers.zookeeper import Den

APP_MIB_MAX = 200  # resident in the supervising process, whatever the animals say; it starts at about 85
HOST_MIB_MAX = 64  # in a host; it starts at about 13
TOLD_MIB_MAX = 160  # in the host of work that says 32 MiB of notes, or so: what was said is kept until it is sealed


@dataclass(frozen=True)
class Animal:
    """One animal and its stated outcome. `says` stands in the sentence a person reads; `exit` = (code, signal) of the root;
    resident memory of its host, and of the supervising process, stay below their bounds."""

    name: str
    words: tuple[object, ...] = ()
    status: str = "SUCCEEDED"
    code: str | None = None
    says: str = "Done, checked"
    exit: tuple[int | None, int | None] = (0, None)
    contract: Mapping[str, Any] = field(default_factory=dict)
    stopped: bool = False
    host_mib_max: float = HOST_MIB_MAX
    app_mib_max: float = APP_MIB_MAX


def policy(**policies: Any) -> dict[str, Any]:
    return {"policies": policies}


FAILS = {"status": "FAILED"}
REJECTED = {"status": "FAILED", "code": "result_rejected"}
INVALID = {"status": "FAILED", "code": "contract_invalid"}
STOPPED: dict[str, Any] = {"status": "STOPPED", "stopped": True, "says": "Stopped by you"}
TERABYTE = 10**12

ANIMALS: dict[str, Animal] = {
    "ignores SIGTERM": Animal("deaf", **STOPPED, exit=(None, signal.SIGKILL)),
    "halted with SIGSTOP": Animal("halted", **STOPPED),
    "comet": Animal("comet", **STOPPED),
    "daemon, waited for": Animal("daemon", ("own", 0.5)),
    "daemon without environment, waited for": Animal("daemon", ("cleared", 0.5)),
    "daemon, ended": Animal("daemon", ("own", 600), contract=policy(after_exit="end")),
    "daemon without environment, ended": Animal("daemon", ("cleared", 600), contract=policy(after_exit="end")),
    "daemon of a garbage cookie, stopped": Animal("daemon", ("garbage", 600), **STOPPED),
    "daemon of a foreign cookie, waited for": Animal("daemon", ("foreign", 0.5)),
    "daemon of a foreign cookie, ended": Animal("daemon", ("foreign", 600), contract=policy(after_exit="end")),
    "daemon at a deadline": Animal(
        "daemon",
        ("cleared", 600),
        status="TIMEOUT",
        code="overall_deadline",
        says="overall deadline",
        contract=policy(deadline="3s"),
    ),
    "orphan that holds the output": Animal("orphan"),
    "short-lived children": Animal("sparks", (300, 1.5)),
    "nothing sealed": Animal(
        "idler",
        **FAILS,
        code="result_incomplete",
        says="Required outputs are missing: “*.csv”.",
        contract={"required": ["*.csv"]},
    ),
    "segmentation fault": Animal("crash", **FAILS, code="work_crashed", says="SIGSEGV", exit=(None, signal.SIGSEGV)),
    "beyond its memory limit": Animal(
        "glutton",
        (32,),
        **FAILS,
        code="limit_exceeded",
        says="beyond its memory limit",
        exit=(None, signal.SIGTERM),
        contract=policy(limits={"memory_bytes": 100 << 20}),
    ),
    "ten thousand lines and gone": Animal("chatter", (10_000,)),
    "one line without an end": Animal("longline", (32,)),
    "gibberish": Animal("gibberish"),
    "stammered messages": Animal("stammer"),
    "flood of progress": Animal("flood", (66, "progress"), host_mib_max=TOLD_MIB_MAX),
    "flood of records": Animal("flood", (3, "record"), host_mib_max=TOLD_MIB_MAX),
    "flood of notes": Animal(
        "flood", (40, "big"), **INVALID, says="longer than 33,554,432 bytes in all", host_mib_max=TOLD_MIB_MAX
    ),
    "flood of one metric": Animal("flood", (12, "metric"), host_mib_max=TOLD_MIB_MAX),
    "link that leads out": Animal("litter", ("link",), **REJECTED, says="“out” is a link that leads out of the output folder"),
    "links that lead out together": Animal("litter", ("chain",), **REJECTED, says="“down” is a link that leads out"),
    "FIFO": Animal("litter", ("fifo",), **REJECTED, says="“pipe” is a FIFO"),
    "socket": Animal("litter", ("socket",), **REJECTED, says="“door” is a socket"),
    "names with line ends": Animal("names"),
    "climbing file": Animal("climber", ("file",), **FAILS, code="result_incomplete", says="“../../secret”"),
    "climbing table": Animal("climber", ("table",), **INVALID, says="without “..”"),
    "climbing table name": Animal("climber", ("absolute",), **INVALID, says="cannot be a table's name"),
    "deletes its output folder": Animal(
        "eater", ("output",), **FAILS, code="result_incomplete", says="The output folder is gone."
    ),
    "deletes its messages": Animal("eater", ("messages",)),
    "deletes its spool": Animal("eater", ("spool",)),
    "deletes its attempt folder": Animal("eater", ("attempt",), **FAILS, code="result_incomplete", says="folder is gone."),
    "FIFOs in its spool": Animal("plumber", ("fifo",)),
    "folders in its spool": Animal("plumber", ("folder",)),
    "links to a device in its spool": Animal("plumber", ("link",)),
    "FIFOs in its spool, stopped": Animal("plumber", ("fifo", "wait"), **STOPPED, exit=(None, signal.SIGTERM)),
    "garbage for an outcome": Animal("forger", ("garbage",)),
    "forged success": Animal("forger", ("sealed",), **FAILS, code="work_failed", says="ended with exit code 1", exit=(1, None)),
    "sparse terabyte": Animal(
        "hollow", (TERABYTE,), **REJECTED, says="a sparse file of 1,000,000,000,000 bytes, of which 0 are"
    ),
    "sparse terabyte with a limit": Animal(
        "hollow",
        (TERABYTE, "linger"),
        **FAILS,
        code="limit_exceeded",
        says="beyond its output limit",
        exit=(None, signal.SIGTERM),
        contract=policy(limits={"output_bytes": 1 << 30}),
    ),
    "folders without a bottom": Animal("shaft", (50,), **REJECTED, says="so deep that their path is too long"),
    "ten thousand files": Animal("ants", (10_000,)),
}


def findings(den: Den, animal: Animal, shown: Mapping[str, Any]) -> list[str]:
    """What is not as stated of an animal that has ended: status, code, words, facts, memory, what is left of it."""
    found = shown["attempts"][0]["exit"]
    told = (shown["status"], (shown["failure"] or {}).get("code"), (found["code"], found["signal"]))
    stated = (animal.status, animal.code, animal.exit)
    facts = [fact["fact"] for fact in shown["facts"]]
    succeeded = animal.status == "SUCCEEDED"
    checks = {
        f"it ended {told}, stated is {stated}": told == stated,
        f"it does not say “{animal.says}”": animal.says in den.words(),
        f"processes are left: {den.strays()}": den.strays() == [],
        f"alerts are open: {shown['alerts']}": shown["alerts"] == [],
        f"its facts are {facts}": "released" in facts and (facts == [name.value for name in FACTS]) is succeeded,
        "a result where none is stated, or none": (shown["result"] is not None) is succeeded,
        f"the supervisor took {den.keeper.memory_mib():.0f} MiB": den.keeper.memory_mib() < animal.app_mib_max,
        f"the host took {den.host_mib:.0f} MiB": den.host_mib < animal.host_mib_max,
    }
    return [what for what, holds in checks.items() if not holds]
