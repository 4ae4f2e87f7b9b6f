"""The outbox: bounded, newest first where only the newest counts (§7, R11, R12)."""

from __future__ import annotations

from actum import limits
from actum.ipc.outbox import Outbox


def taken(outbox: Outbox) -> list[tuple[str, object]]:
    found = []
    while (message := outbox.take()) is not None:
        found.append((message[0], message[1].get("n", message[1].get("digest"))))
    return found


def test_only_the_newest_progress_and_heartbeat_wait() -> None:
    outbox = Outbox()
    for n in range(3):
        outbox.put("progress", {"n": n})
        outbox.put("heartbeat", {"n": n})
    assert taken(outbox) == [("progress", 2), ("heartbeat", 2)]


def test_stages_and_notices_keep_their_order_before_news() -> None:
    outbox = Outbox()
    outbox.put("progress", {"n": 0})
    outbox.put("stage", {"n": 1})
    outbox.put("notice", {"n": 2})
    outbox.put("ended", {"n": 3})
    assert taken(outbox) == [("stage", 1), ("notice", 2), ("progress", 0), ("ended", 3)]


def test_at_the_bound_the_oldest_notice_gives_way_and_is_counted() -> None:
    outbox = Outbox()
    outbox.put("stage", {"n": -1})
    for n in range(limits.OUTBOX_MESSAGES_MAX - 1):
        outbox.put("notice", {"n": n})
    assert (len(outbox), outbox.dropped) == (limits.OUTBOX_MESSAGES_MAX, 0)
    outbox.put("stage", {"n": 1000})
    assert (len(outbox), outbox.dropped) == (limits.OUTBOX_MESSAGES_MAX, 1)
    found = taken(outbox)
    assert found[:2] == [("stage", -1), ("notice", 1)]
    assert found[-1] == ("stage", 1000)


def test_where_only_stages_wait_the_oldest_gives_way() -> None:
    outbox = Outbox()
    for n in range(limits.OUTBOX_MESSAGES_MAX + 1):
        outbox.put("stage", {"n": n})
    assert outbox.dropped == 1
    assert taken(outbox)[0] == ("stage", 1)


def test_the_terminal_message_goes_first_closes_the_rest_and_comes_again_until_acknowledged() -> None:
    outbox = Outbox()
    outbox.put("stage", {"n": 1})
    outbox.put("progress", {"n": 1})
    outbox.put("sealed", {"digest": "d"})
    outbox.put("heartbeat", {"n": 1})
    assert taken(outbox) == [("sealed", "d")]
    outbox.again()
    assert taken(outbox) == [("sealed", "d")]
    assert not outbox.acknowledge("other")
    outbox.again()
    assert outbox.acknowledge("d")
    assert taken(outbox) == []
    outbox.again()
    assert taken(outbox) == []
    assert outbox.acknowledged


def test_nothing_is_acknowledged_before_there_is_something() -> None:
    assert not Outbox().acknowledge("d")
