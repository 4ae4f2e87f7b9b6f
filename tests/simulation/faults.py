"""What goes wrong, one function a fault; which one strikes, and whom, is drawn from the seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actum.clock import US
from actum.supervise import events

if TYPE_CHECKING:
    from tests.simulation.world import World


def strike(world: World) -> None:
    """One fault happens."""
    name = world.rng.choice(list(FAULTS))
    world.trace(f"fault: {name}")
    FAULTS[name](world)


def _pick(world: World, things: list[Any]) -> Any:
    return world.rng.choice(things) if things else None


def _kill_app(world: World) -> None:
    app = _pick(world, [app for app in world.apps if app.alive])
    if app is not None:
        world.kill_app(app)


def _kill_one(world: World, role: str) -> None:
    process = _pick(world, [each for each in world.machine.processes if each.alive and each.role == role])
    if process is not None:
        world.kill(process)


def _kill_host(world: World) -> None:
    _kill_one(world, "host")


def _kill_work(world: World) -> None:
    _kill_one(world, "work")


def _kill_daemon(world: World) -> None:
    _kill_one(world, "daemon")


def _freeze_host(world: World) -> None:
    process = _pick(world, [each for each in world.machine.processes if each.alive and each.role == "host"])
    if process is not None:
        process.frozen = True


def _break_channel(world: World) -> None:
    channel = _pick(world, [host.channel for host in world.hosts if host.process.alive and host.channel is not None])
    if channel is not None:
        channel.open = False


def _unmount(world: World) -> None:
    folder = _pick(world, list(world.folders.values()))
    if folder is not None:
        folder.readable = not folder.readable


def _power_cut(world: World) -> None:
    for app in world.apps:
        if app.alive:
            world.kill_app(app)
    for host in world.hosts:
        if host.process.alive:
            host.died()
    world.machine.reboot()
    for folder in world.folders.values():
        folder.power_cut()


def _second_app(world: World) -> None:
    if world.apps[-1].alive:
        world.open_app()


def _restart_foreign(world: World) -> None:
    _kill_app(world)
    if not any(app.alive for app in world.apps):
        world.open_app(foreign=True)


def _clock_jump(world: World) -> None:
    world.utc_us += world.rng.choice((-1, 1)) * 86_400 * US
    for app in world.apps:
        if app.alive:
            app.handle(events.Woke(3_600 * US))


def _touch_package(world: World) -> None:
    folder = _pick(world, [each for each in world.folders.values() if each.package or each.published])
    if folder is not None:
        folder.touched = True
        folder.package, folder.published = folder.package and "altered", folder.published and "altered"


def _take_package(world: World) -> None:
    folder = _pick(world, [each for each in world.folders.values() if each.package or each.published])
    if folder is not None:
        folder.touched, folder.package, folder.published = True, None, None


def _full_disk(world: World) -> None:
    world.disk_full = not world.disk_full


FAULTS = {
    "kill app": _kill_app,
    "kill host": _kill_host,
    "kill work": _kill_work,
    "kill daemon": _kill_daemon,
    "freeze host": _freeze_host,
    "break channel": _break_channel,
    "unmount": _unmount,
    "power cut": _power_cut,
    "second app": _second_app,
    "restart foreign": _restart_foreign,
    "clock jump": _clock_jump,
    "touch package": _touch_package,
    "take package": _take_package,
    "full disk": _full_disk,
}
