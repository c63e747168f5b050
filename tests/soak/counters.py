"""Figures that processes count in a file, so that a process which is killed loses none."""

import mmap
import os
import struct

NAMES = ("commits", "rollbacks", "upkeep", "reads", "accelerated", "on_device", "evictions", "busy")
_FIGURE = struct.Struct("<q")
_SIZE = _FIGURE.size * len(NAMES)


def create(path, slots):
    """Makes the file, with room for so many counting threads."""
    with open(path, "wb") as file:
        file.write(bytes(_SIZE * slots))


class Counters:
    """One thread's figures; no other writes there."""

    def __init__(self, path, slot):
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.start = slot * _SIZE

    def add(self, name, count=1):
        """Counts."""
        place = self.start + NAMES.index(name) * _FIGURE.size
        (value,) = _FIGURE.unpack_from(self.memory, place)
        _FIGURE.pack_into(self.memory, place, value + count)


def totals(path):
    """All slots' figures added up, by name."""
    sums = dict.fromkeys(NAMES, 0)
    with open(path, "rb") as file:
        data = file.read()
    assert len(data) == os.path.getsize(path) and len(data) % _SIZE == 0
    for number, (value,) in enumerate(_FIGURE.iter_unpack(data)):
        sums[NAMES[number % len(NAMES)]] += value
    return sums
