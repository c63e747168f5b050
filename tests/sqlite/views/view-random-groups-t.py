"""Random SELECTs with groups, rows that are found, and subqueries in FROM, and their views: also of keys of every affinity, and JSON.

view-random-t.py says what a line means.
"""

import support
import tap
from domains import Affinities, Ctes, Groups, Inner, Json
from matrix import Run, run_all, times

#: Two columns do not fit, and the dictionaries of a few do: the table streams.
LITTLE = (100_000,)
STREAMS = {"accelerated: host, streaming": (0.2, 1)}


def matrix():
    """All lines."""
    for encoding in ("UTF-8", "UTF-16le"):
        yield Run(Groups, times(120, 1_200), encoding=encoding, between=40, fast=0.4)
        yield Run(Groups, times(120, 1_200) // 2, encoding=encoding, between=40, fast=0.4, memories=LITTLE, told=STREAMS)
    for domain in (Inner, Ctes):
        yield Run(domain, times(120, 2_400), between=40, fast=0.4)
    yield Run(Affinities, times(480, 4_800), between=100, fast=0.3)
    yield Run(Json, times(240, 2_400), between=100, fast=0.2)


run_all(support.seed(), list(matrix()))
tap.done()
