"""Random joins of a fact table with dimensions, and their views (clause 1 of view.h)."""

import support
import tap
import view_support as views
from domains import LookedUp, Merged, Scattered, ScatteredLookedUp, Stars
from matrix import Run, run_all, times


def matrix():
    """All lines."""
    yield Run(Stars, times(300, 4_000), on_table=15, between=5, fast=0.3)
    yield Run(Stars, times(30, 400), encoding="UTF-16le", on_table=15, between=5, fast=0.1)
    yield Run(Stars, times(80, 800), on_table=8, between=4, fast=0.1, memories=(48_000, 80_000))
    yield Run(Merged, times(200, 3_000), on_table=20, between=5, fast=0.25)
    yield Run(LookedUp, times(200, 3_000), on_table=20, between=5, fast=0.2)
    yield Run(LookedUp, times(60, 400), encoding="UTF-16be", on_table=15, between=5, fast=0.1)
    yield Run(Scattered, times(150, 3_000), on_table=15, between=4, fast=0.15)
    yield Run(ScatteredLookedUp, times(150, 3_000), on_table=15, between=4, fast=0.1)
    for device in views.devices()[1:]:
        for domain in (Stars, Merged, LookedUp):
            yield Run(domain, times(12, 80), device=device, on_table=12, between=12, fast=0.1, on_device=0.1)


run_all(support.seed(), list(matrix()))
tap.done()
