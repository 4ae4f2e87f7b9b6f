"""The checks, by the moment at which they look; importing this registers them all."""

from tests.simulation.rules import asked, commits, done, judged, seen, settled, shown

__all__ = ["asked", "commits", "done", "judged", "seen", "settled", "shown"]
