"""Random SELECTs, and their views, whose rows come in an order, or are few, or whose values are hard to compare: TEXT that
conversions change, groups that ORDER BY leaves equal, rows that an index or a part of WHERE finds, and large INTEGERs.

view-random-t.py says what a line means.
"""

import support
import tap
from domains import Edges, Encodings, Few, FilledEncodings, IndexedEdges, Partial, Ties
from matrix import Run, run_all, times


def matrix():
    """All lines."""
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        for domain in (Encodings, FilledEncodings):
            yield Run(domain, times(60, 600), encoding=encoding, between=60, fast=0.25, together=20, asks_again=3)
        yield Run(Encodings, times(60, 600), encoding=encoding, between=60, fast=0.01, memories=(5_000,), together=20, asks_again=3)
    yield Run(Ties, times(240, 960), on_table=12, fast=0.4)
    yield Run(Few, times(100, 400), memories=(1 << 30,), between=100, fast=0, told={"row by row: SQLite finds the rows itself": (0.1, 1)},
              asks_again=3)
    yield Run(Partial, times(150, 600), between=50, fast=0.8, asks_again=2)
    for domain in (Edges, IndexedEdges):
        yield Run(domain, times(250, 1_000), between=100, fast=0.5)


run_all(support.seed(), list(matrix()))
tap.done()
