"""clreduce.dask.aggregate(): workers of any number, that fail or die, shards in any order: the bits of one file."""

import functools
import os
import random
import signal
import threading
import time

import clreduce
import pytest
from test_states import REFUSED, SELECTS, bits, one_file

distributed = pytest.importorskip("distributed")

import clreduce.dask  # noqa: E402  (it needs dask)

SELECT = SELECTS[0][0]


class Hindered(distributed.WorkerPlugin):
    """Has the workers wait before each file, leave a mark for it, and fail at the first try of some."""

    name = "hindered"

    def __init__(self, folder, wait=0.0, failing=()):
        self.folder, self.wait, self.failing = folder, wait, tuple(failing)

    def setup(self, worker):
        """Puts a function before the one that tasks call."""
        from clreduce import states
        read = states.read_states

        @functools.wraps(read)
        def hindered(file, plan):
            mark = os.path.join(self.folder, os.path.basename(file))
            is_first = not os.path.exists(mark)
            with open(mark, "a", encoding="utf-8") as stream:
                stream.write("x")
            time.sleep(self.wait)
            if is_first and file in self.failing:
                raise OSError(f"the first try of {file}")
            return read(file, plan)

        states.read_states = hindered

    def teardown(self, worker):
        """Takes it out again."""
        from clreduce import states
        states.read_states = states.read_states.__wrapped__


@pytest.fixture(scope="module", params=[2, 4])
def client(request):
    """A client of that many worker processes."""
    with distributed.LocalCluster(n_workers=request.param, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as connected:
            yield connected


@pytest.mark.parametrize("sql, parameters", SELECTS[:2])
def test_shards(client, flights, shards, sql, parameters):
    every = len(client.scheduler_info()["workers"])
    files = random.Random(every).sample(shards, len(shards))
    assert bits(clreduce.dask.aggregate(files, sql, parameters, split_every=every)) == bits(one_file(flights, sql, parameters))


def test_worker_dies(client, flights, shards, tmp_path):
    """A worker is killed when a fourth of the files have been read: Dask starts another one, and asks again for what was lost."""
    client.register_plugin(Hindered(str(tmp_path), wait=0.05))
    pids, result = client.run(os.getpid), []
    thread = threading.Thread(target=lambda: result.append(clreduce.dask.aggregate(shards, SELECT)))
    thread.start()
    while len(os.listdir(tmp_path)) < len(shards) // 4:
        time.sleep(0.01)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    thread.join()
    client.unregister_worker_plugin("hindered")
    tries = sum(os.path.getsize(tmp_path / name) for name in os.listdir(tmp_path))
    assert tries > len(shards)
    assert bits(result[0]) == bits(one_file(flights, SELECT, {}))


def test_tasks_fail(client, flights, shards, tmp_path):
    client.register_plugin(Hindered(str(tmp_path), failing=shards[::5]))
    with pytest.raises(OSError, match="the first try"):
        clreduce.dask.aggregate(shards, SELECT)
    for name in os.listdir(tmp_path):
        os.remove(tmp_path / name)
    assert bits(clreduce.dask.aggregate(shards, SELECT, retries=2, progress=True)) == bits(one_file(flights, SELECT, {}))
    client.unregister_worker_plugin("hindered")


def test_without_a_cluster(flights, shards, capsys):
    """Dask's schedulers of one machine do as well."""
    want = bits(one_file(flights, SELECT, {}))
    assert bits(clreduce.dask.aggregate(shards, SELECT, scheduler="threads", progress=True)) == want
    assert "Completed" in capsys.readouterr().out
    assert bits(clreduce.dask.aggregate(shards[:1], SELECT, scheduler="sync")) == bits(one_file(shards[0], SELECT, {}))


@pytest.mark.parametrize("sql, message", REFUSED[:5])
def test_refused(shards, sql, message):
    with pytest.raises(clreduce.dask.NotDistributable) as caught:
        clreduce.dask.aggregate(shards, sql, scheduler="sync")
    assert message in str(caught.value)


def test_arguments(shards, tmp_path):
    with pytest.raises(ValueError, match="there are no files"):
        clreduce.dask.aggregate([], SELECT)
    with pytest.raises(ValueError, match="split_every must be 2 at least, not 1"):
        clreduce.dask.aggregate(shards, SELECT, split_every=1)
    with pytest.raises(Exception, match="unable to open"):
        clreduce.dask.aggregate([*shards, tmp_path / "nosuch.db"], SELECT, scheduler="sync")
