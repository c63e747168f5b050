"""One SELECT over many SQLite files, by Dask: the very rows that one file of all their rows gives.

    from distributed import Client
    with Client("scheduler:8786"):
        columns, rows = clreduce.dask.aggregate(glob("/data/2001-*.db"), "SELECT origin, gpu_avg(delay) FROM flights GROUP BY 1")
"""

import os
from contextlib import nullcontext

import dask
import distributed
from dask.diagnostics import ProgressBar

from . import states
from .states import NotDistributable

__all__ = ["NotDistributable", "aggregate"]


def aggregate(files, sql, parameters=None, *, split_every=8, progress=False, **options):
    """The names of the columns, and the rows, of a SELECT over one table, which is in all files.

    parameters are by name. split_every states are merged at a time, in a tree. progress shows Dask's bar. The options are
    those of dask.compute(): scheduler, and retries where a distributed client is. Without ORDER BY rows are in the
    order of the keys. NotDistributable says what cannot be merged.
    """
    files = [os.fspath(file) for file in files]
    if not files:
        raise ValueError("clreduce.dask.aggregate: there are no files")
    if split_every < 2:
        raise ValueError(f"clreduce.dask.aggregate: split_every must be 2 at least, not {split_every}")
    _, table = states.parse(sql)
    (schema,) = dask.compute(dask.delayed(states.read_schema, pure=False)(files[0], table), **options)
    plan = states.make_plan(sql, schema, parameters)
    parts = [dask.delayed(states.read_states, pure=False)(file, plan) for file in files]
    merge = dask.delayed(states.merge_states, pure=False)
    while len(parts) > 1:
        parts = [merge(plan, parts[i:i + split_every]) for i in range(0, len(parts), split_every)]
    return states.finish(plan, compute(parts[0], progress, options))


def compute(node, progress, options):
    """What the node computes, with a bar if one is wanted."""
    client = find_client() if progress and "scheduler" not in options else None
    if client is not None:
        future = client.compute(node, **options)
        distributed.progress(future, notebook=False)
        print()
        return future.result()
    with ProgressBar() if progress else nullcontext():
        return dask.compute(node, **options)[0]


def find_client():
    """The distributed client that there is, or None."""
    try:
        return distributed.get_client()
    except ValueError:
        return None
