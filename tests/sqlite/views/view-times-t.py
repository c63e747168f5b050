"""Random SELECTs over tables of timestamps, and their views: TEXT in all formats, and what nearly is one, by themselves, by
prefixes, and through SQLite's functions of times; and seconds and Julian days as numbers.

A line says what is asked of which tables, how often, in how much memory, and how much of it has to be accelerated.
"""

import support
import tap
from domains import Timestamps
from matrix import Run, run_all, times

#: Two columns do not fit: the table streams.
LITTLE = (20_000,)


def matrix():
    """All lines."""
    for encoding in ("UTF-8", "UTF-16le"):
        yield Run(Timestamps, times(400, 6_000), encoding=encoding, on_table=40, between=10, fast=0.1)
    yield Run(Timestamps, times(100, 2_000), on_table=40, between=10, fast=0.03, memories=LITTLE)


run_all(support.seed(), list(matrix()))
tap.done()
