"""Programs on disk: a GPU's, for the next process; and nothing where they are not to be kept."""

import os
import shutil
import tempfile

import support
import tap

CODE = """
db = support.connect(support.device(), **support.SMALL)
db.execute("SELECT clreduce_set('program_cache', {setting!r})")
if not support.wait_for_device(db):
    sys.exit(1)
print(support.value(db, "SELECT gpu_sum(value) FROM json_each('[1e100, 1, -1e100]')"))
print(support.stats(db)["programs_from_cache"])
"""


def use(name, setting="on", **environment):
    """Uses the device in another process; how many programs it took from disk. The programs are
    those of the work: a GPU would measure its arithmetic first, and find one that it has kept."""
    process = support.child(CODE.format(setting=setting), CLREDUCE_DEVICE_ARITHMETIC="fp64", **environment)
    if not support.child_ok(process, name):
        return None
    answer, taken = process.stdout.split()[-2:]
    tap.is_equal(answer, "1.0", "with the right answer")
    return int(taken)


def test(caches, keeps):
    folder = os.path.join(caches, "clreduce")
    tap.is_equal(use("off", "off", XDG_CACHE_HOME=caches), 0, "nothing is taken")
    tap.ok(not os.path.exists(folder), "and nothing kept")
    tap.is_equal(use("a first process", XDG_CACHE_HOME=caches), 0, "nothing is there")
    tap.is_equal(os.path.isdir(folder), keeps, "what is compiled for a GPU is kept")
    taken = use("a second process", XDG_CACHE_HOME=caches)
    tap.is_equal(taken is not None and taken > 0, keeps, f"and taken: {taken} programs")
    taken = use("a home in the way", XDG_CACHE_HOME=None, HOME="/dev/null")
    tap.is_equal(taken, 0, "nothing is taken")
    taken = use("no home", XDG_CACHE_HOME=None, HOME=None)
    tap.is_equal(taken, 0, "nothing is taken")


def main():
    if support.skip_device(1, "programs on disk"):
        return
    db = support.connect(support.device())
    kind = support.value(db, "SELECT type FROM clreduce_devices WHERE in_use")
    db.close()
    caches = tempfile.mkdtemp(prefix="clreduce-programs-")
    try:
        test(caches, kind != "cpu")
    finally:
        shutil.rmtree(caches, ignore_errors=True)


main()
tap.done()
