"""What goes wrong, one function a fault; which one strikes, and whom, is drawn from the step's salt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from actum.clock import US
from actum.supervise import events

if TYPE_CHECKING:
    from tests.simulation.driver import App
    from tests.simulation.files import Process
    from tests.simulation.world import World

T = TypeVar("T")
DAY_US, HOUR_US = 86_400 * US, 3_600 * US


def _pick(world: World, things: Sequence[T]) -> T | None:
    return world.rng.choice(things) if things else None


def _living_apps(world: World) -> list[App]:
    return [app for app in world.apps if app.alive]


# Processes


def _kill_app(world: World) -> None:
    app = _pick(world, _living_apps(world))
    if app is not None:
        world.kill_app(app)


def _stall_app(world: World) -> None:
    """Stopped, swapped out, in a debugger: it lives, and does nothing until it goes on where it was."""
    app = _pick(world, _living_apps(world))
    if app is not None:
        app.stalled = not app.stalled


def _processes(world: World, role: str) -> list[Process]:
    return [each for each in world.machine.alive() if each.role == role]


def _kill_one(world: World, role: str) -> None:
    process = _pick(world, _processes(world, role))
    if process is not None:
        world.kill(process)


def _kill_host(world: World) -> None:
    _kill_one(world, "host")


def _kill_work(world: World) -> None:
    _kill_one(world, "work")


def _kill_daemon(world: World) -> None:
    _kill_one(world, "daemon")


def _kill_family(world: World) -> None:
    """Host and work in one instant, as a session's end or the kernel's memory killer does; a daemon may stay."""
    host = _pick(world, _processes(world, "host"))
    if host is None:
        return
    for each in [*world.machine.living(host.attempt, "work"), host]:
        world.kill(each)


def _freeze_host(world: World) -> None:
    process = _pick(world, _processes(world, "host"))
    if process is not None:
        process.frozen = not process.frozen


def _take_pids(world: World) -> None:
    """Somebody else's processes take the pids that are free (R07)."""
    for _ in range(world.rng.randint(1, 3)):
        world.machine.spawn("stranger", "", shows_cookie=False)


# Channels


def _break_channel(world: World) -> None:
    open_ = [host.channel for host in world.hosts if host.process.alive and host.channel is not None and host.channel.open]
    channel = _pick(world, open_)
    if channel is not None:
        channel.open = False


def _garble(world: World) -> None:
    """Frames that break the protocol: an old session, another run, a number again, a field too many."""
    host = _pick(world, [host for host in world.hosts if host.process.alive and host.channel is not None])
    if host is None or host.channel is None:
        return
    for _ in range(world.rng.choice((1, 1, 2, 4))):
        host.send("stage", name="forged", total=None)
        frame = host.channel.to_app[-1] if host.channel.to_app else None
        if frame is not None and frame["type"] == "stage":
            name, value = world.rng.choice((("session", "0" * 32), ("run", 99), ("seq", 0), ("extra", 1), ("attempt", "other")))
            frame[name] = value


def _forge_hello(world: World) -> None:
    """Somebody says hello for an attempt, with a wrong secret or with that of an attempt that is over."""
    app = world.endpoint()
    rows = [row for row in world.store.rows() if row.session is not None and row.attempt in world.folders]
    row = _pick(world, rows)
    if app is None or row is None:
        return
    secret = world.rng.choice(("wrong", world.folders[row.attempt].secret if row.released else "guessed"))
    channel = world.connect(app, row.attempt)
    identity = {"machine": "here", "boot": "boot-1", "pid_namespace": "ns", "pid": 7, "start_ticks": 7}
    about = {"run": row.run, "attempt": row.attempt, "session": row.session, "channel": channel.name}
    hello = {"secret": secret, "protocol": 1, "identity": identity, "claimed": True}
    channel.to_app.append({"v": 1, "type": "hello", "seq": 1, "at": world.clocks.utc_us, **about, **hello})
    channel.to_app.append({"v": 1, "type": "stage", "seq": 2, "at": 1, **about, "name": "forged", "total": None})


# Disks


def _unmount(world: World) -> None:
    folder = _pick(world, list(world.folders.values()))
    if folder is not None:
        folder.readable = not folder.readable


def _unmount_all(world: World) -> None:
    readable = world.rng.random() < 0.5
    for folder in world.folders.values():
        folder.readable = readable


def _restart_without_disk(world: World) -> None:
    """The next instance comes up before the disk is mounted."""
    for app in _living_apps(world):
        world.kill_app(app)
    for folder in world.folders.values():
        folder.readable = False


def _read_only(world: World) -> None:
    """Nobody may write there, and all that is there can be read."""
    folder = _pick(world, list(world.folders.values()))
    if folder is not None:
        folder.writable = not folder.writable


def _spoil_records(world: World) -> None:
    """The work writes lines into the file of its records that are none."""
    working = {each.attempt for each in world.machine.alive() if each.role in ("work", "daemon")}
    folder = _pick(world, [each for each in world.folders.values() if each.attempt in working])
    for _ in range(world.rng.choice((1, 1, 4)) if folder is not None else 0):
        folder.spoiled.add(folder.records)
        folder.records += 1


def _full_disk(world: World) -> None:
    world.disk_full = not world.disk_full


def _touch_package(world: World) -> None:
    folder = _pick(world, [each for each in world.folders.values() if each.package or each.published])
    if folder is not None:
        folder.touched = True
        folder.package, folder.published = folder.package and "altered", folder.published and "altered"


def _take_package(world: World) -> None:
    folder = _pick(world, [each for each in world.folders.values() if each.package or each.published])
    if folder is not None:
        folder.touched, folder.package, folder.published = True, None, None


# The machine and its clocks


def _power_cut(world: World) -> None:
    for app in _living_apps(world):
        world.kill_app(app)
    for host in world.hosts:
        if host.process.alive:
            host.died()
    world.machine.reboot()
    world.clocks.boot()
    for folder in world.folders.values():
        folder.power_cut(world.rng)


def _suspend(world: World) -> None:
    world.clocks.sleep(world.rng.choice((10 * US, HOUR_US, DAY_US)))


def _wall_jump(world: World) -> None:
    world.clocks.set_wall(world.rng.choice((-1, 1)) * world.rng.choice((30 * US, HOUR_US, DAY_US, 3_650 * DAY_US)))


def _wall_stop(world: World) -> None:
    world.clocks.wall_stands = not world.clocks.wall_stands


def _leap(world: World) -> None:
    """Nobody was scheduled for a while; every clock went on."""
    world.clocks.run(world.rng.choice((5, 20, 45)) * US)


# Supervisors


def _second_app(world: World) -> None:
    """A successor opens its epoch while this instance still believes to be the one (a stolen lock, a stall)."""
    if world.apps[-1].alive:
        world.open_app()


def _take_over(world: World) -> None:
    """A successor asks, the leaver commits what is queued and leaves, the successor opens its epoch."""
    if world.apps[-1].acts:
        world.apps[-1].leave()
        world.open_app()


def _restart_elsewhere(world: World) -> None:
    """The next instance runs in another pid namespace, or on another machine over the same disk: it can tell less."""
    _kill_app(world)
    if not _living_apps(world):
        world.open_app(place=world.rng.choice(("namespace", "machine")))


def _violate(world: World) -> None:
    app = _pick(world, [app for app in world.apps if app.acts])
    if app is not None:
        app.handle(events.Violation(None, "channel-0", "what came was no frame", closed=True))


FAULTS = {
    "kill app": _kill_app,
    "stall app": _stall_app,
    "kill host": _kill_host,
    "kill work": _kill_work,
    "kill daemon": _kill_daemon,
    "kill family": _kill_family,
    "freeze host": _freeze_host,
    "take pids": _take_pids,
    "break channel": _break_channel,
    "garble": _garble,
    "forge hello": _forge_hello,
    "unmount": _unmount,
    "unmount all": _unmount_all,
    "restart without disk": _restart_without_disk,
    "read only": _read_only,
    "spoil records": _spoil_records,
    "full disk": _full_disk,
    "touch package": _touch_package,
    "take package": _take_package,
    "power cut": _power_cut,
    "suspend": _suspend,
    "wall jump": _wall_jump,
    "wall stop": _wall_stop,
    "leap": _leap,
    "second app": _second_app,
    "take over": _take_over,
    "restart elsewhere": _restart_elsewhere,
    "violate": _violate,
}
