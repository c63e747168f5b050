"""Random SELECTs over a table of text, dates and numbers, or of timestamps, with subqueries and collating sequences, and their views.

A line says what is asked of which tables, how often, on which device, in how much memory, and how much of it has to be
accelerated. view-differential-t.py has tables of numbers in all forms of storage, view-random-groups-t.py and
view-random-orders-t.py the other kinds.
"""

import support
import tap
import view_support as views
from domains import Collations, FilledTimes, Subqueries, Texts, Times
from matrix import Run, run_all, times

#: Two columns do not fit, and the dictionaries of a few do: the table streams.
LITTLE = (100_000,)
STREAMS = {"accelerated: host, streaming": (0.2, 1)}


def matrix():
    """All lines."""
    for encoding, share in (("UTF-8", 1), ("UTF-16le", 2), ("UTF-16be", 2)):
        yield Run(Texts, times(100, 1_600) // share, encoding=encoding, between=40, fast=0.6)
        yield Run(Texts, times(100, 1_600) // 3, encoding=encoding, between=40, fast=0.3, memories=LITTLE, told=STREAMS)
    yield Run(Subqueries, times(150, 800), between=15, fast=0.3)
    yield Run(Collations, times(60, 160), between=60, fast=0.7)
    yield Run(Times, times(160, 3_200), on_table=16, between=8, fast=0.3)
    yield Run(Times, times(32, 640), encoding="UTF-16le", on_table=16, between=8, fast=0.02)
    yield Run(FilledTimes, times(40, 800), on_table=20, between=20, fast=0.02)
    yield Run(Times, times(40, 800), on_table=20, between=10, fast=0.1, memories=(12_000,), told={"accelerated: host, streaming": (0.05, 1)})
    # A device compiles nearly each of them.
    for device in views.devices()[1:]:
        yield Run(Texts, times(40, 80), device=device, between=10, fast=0.6, on_device=0.8)
        yield Run(Times, times(12, 80), device=device, on_table=12, between=12, fast=0.2, on_device=0.1)


run_all(support.seed(), list(matrix()))
tap.done()
