"""A soak: soak-t.py SECONDS POOL, or make soak SECONDS=600 POOL=16; some seconds of it are a test.

Processes and threads move money between the rows of one database, in every journal mode, while
others read it through views (reader.py says what they compare). One of these has POOL connections in
as many threads. Writers are killed in the middle of commits and checkpoints, OpenCL fails in some of
the readers, and readers are killed too. The seed is CLREDUCE_SEED or chance, and printed; processes
do not repeat to the step, though.

CLREDUCE_TEST_DEVICE chooses the device of the readers that use one; the best that OpenCL offers, if it is not set.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap
import bank
import counters

HERE = os.path.dirname(os.path.abspath(__file__))
FAILING = os.path.join(tap.BUILDDIR, "tests", "opencl", "failing-opencl.so")

#: The journal modes; whether a writer may be killed, after which one has to roll back by a journal.
MODES = {"WAL": True, "DELETE": True, "TRUNCATE": True, "PERSIST": True, "MEMORY": False, "OFF": False}
PAGE_SIZES = (512, 1024, 4096)
WRITERS, READERS, THREADS = 2, 3, 2

#: In less time, in seconds, devices hardly begin; and in less than that nobody waits for their programs.
LEAST_FOR_DEVICES, LEAST_TO_WARM = 60, 20

#: How long a process that should end may take for it, in seconds.
ANSWER_SECONDS = 90

#: What OpenCL does from some call on, and the greatest number of that call.
FAULTS = (
    ("clEnqueueNDRangeKernel:-5", 60),
    ("clEnqueueReadBuffer:-5", 30),
    ("clEnqueueWriteBuffer:-5", 30),
    ("clEnqueueMapBuffer:-12", 20),
    ("clCreateBuffer:-4", 40),
    ("clFlush:-36", 40),
    ("clFinish:-5", 20),
    ("clWaitForEvents:-14", 30),
    ("clSetKernelArg:-51", 60),
    ("clBuildProgram:-11", 6),
    ("clCreateContext:-6", 1),
)


class Process:
    """A child, restarted when it is over."""

    def __init__(self, soak, number, is_writer):
        self.soak, self.number, self.is_writer = soak, number, is_writer
        self.rule = None
        self.log = open(os.path.join(soak.folder, f"log{number}"), "w+", encoding="utf-8")
        self.start()

    def start(self):
        """A new life: a reader's is so long that a device gets its programs, or some of them."""
        soak, environment = self.soak, dict(os.environ)
        end = soak.end
        common = [repr(end), soak.figures, str(self.number * soak.slots)]
        seed = str(soak.rng.randrange(2**32))
        if self.is_writer:
            mortal = str(int(MODES[soak.mode]))
            arguments = ["writer.py", soak.path, soak.mode, seed, common[0], mortal, *common[1:]]
        else:
            common[0] = repr(min(end, time.time() + soak.rng.choice((3, 10, 40))))
            device = soak.device if self.number % READERS else "host"
            self.rule = self.choose_fault() if device != "host" else None
            if self.rule:
                before = environment.get("LD_PRELOAD", "")
                environment["LD_PRELOAD"] = f"{before}:{FAILING}" if before else FAILING
                environment["CLR_FAIL"] = self.rule
            threads = THREADS if self.number else soak.pool
            arguments = ["reader.py", soak.path, device, seed, *common, str(threads)]
        self.arguments = arguments
        self.child = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", os.path.join(HERE, arguments[0]), *arguments[1:]],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )

    def choose_fault(self):
        """A rule for failing-opencl.c, for every second reader."""
        if not os.path.exists(FAILING) or self.soak.rng.random() < 0.5:
            return None
        fault, most = self.soak.rng.choice(FAULTS)
        return f"{fault}:{self.soak.rng.randint(1, most)}"

    def poll(self):
        """Takes note of the end of a life; whether there is one going on."""
        status = self.child.poll()
        if status is None:
            return True
        self.log.seek(0)
        told = self.log.read()
        self.log.seek(0)
        self.log.truncate()
        self.soak.faults += "failing-opencl:" in told
        self.soak.lives += 1
        if status == -signal.SIGKILL:
            self.soak.kills += 1
        elif status != 0:
            what = f"{' '.join(self.arguments)} {self.rule or ''}: status {status}"
            self.soak.failures.append(f"{self.soak.mode}: {what}\n{told[-20000:]}")
        return False


class Soak:
    """All modes, one after the other."""

    def __init__(self, seconds, pool, rng, device):
        self.rng, self.device, self.seconds, self.pool = rng, device, seconds, pool
        self.slots = max(THREADS, pool)
        self.folder = tempfile.mkdtemp(prefix="clreduce-soak-")
        self.figures = os.path.join(self.folder, "figures")
        counters.create(self.figures, (WRITERS + READERS) * self.slots)
        self.faults = self.kills = self.lives = 0
        self.failures = []

    def run_mode(self, mode):
        """A database in that mode, for its share of the time."""
        self.mode, self.path = mode, os.path.join(self.folder, f"{mode}.db")
        self.end = time.time() + self.seconds / len(MODES)
        bank.create(self.path, mode, self.rng.choice(PAGE_SIZES))
        before = counters.totals(self.figures)
        processes = [Process(self, i, i >= READERS) for i in range(READERS + WRITERS)]
        while time.time() < self.end and not self.failures:
            for process in processes:
                if not process.poll():
                    process.start()
                elif self.rng.random() < self.risk(process):
                    process.child.kill()
            time.sleep(0.02)
        self.finish(processes)
        self.failures += [f"{mode}: {text}" for text in bank.problems(self.path)]
        after = counters.totals(self.figures)
        told = ", ".join(f"{after[name] - before[name]} {name}" for name in counters.NAMES)
        tap.diag(f"{mode}: {told}")

    def risk(self, process):
        """The chance that it is killed now: nothing takes back what a writer without a journal left."""
        if process.is_writer:
            return 0.01 if MODES[self.mode] else 0
        return 0.001

    def finish(self, processes):
        """Waits for all, and ends those that do not end."""
        limit = time.time() + ANSWER_SECONDS
        for process in processes:
            while process.poll():
                if time.time() > limit:
                    self.failures.append(f"{self.mode}: {process.arguments} does not end")
                    process.child.send_signal(signal.SIGTERM)
                    time.sleep(1)
                    process.child.kill()
                    process.child.wait()
                time.sleep(0.01)
            process.log.close()

    def warm(self):
        """Has the device compile what the views need, which drivers keep: readers live for seconds."""
        path, missing = os.path.join(self.folder, "warm.db"), dict(bank.SELECTS)
        bank.create(path, "WAL", 4096)
        db = tap.connect(path)
        for setting in (f"'device', '{self.device}'", "'view_threshold', 0", "'start_after', 0",
                        "'host_threshold', 1", "'keep_answers', 'off'", f"'device_timeout', {ANSWER_SECONDS * 1000}"):
            db.execute(f"SELECT clreduce_set({setting})").fetchall()
        for name, (select, _) in bank.SELECTS.items():
            db.execute(f"CREATE VIRTUAL TABLE temp.{name} USING clreduce(({select}))")
        limit = time.time() + ANSWER_SECONDS
        while missing and time.time() < limit:
            for name, (_, parameters) in list(missing.items()):
                marks = f"({', '.join('?' * len(parameters))})" if parameters else ""
                db.execute(f"SELECT * FROM {name}{marks}", parameters).fetchall()
                (plan,) = db.execute("SELECT line FROM clreduce_plan(?)", (name,)).fetchone()
                # What is never the device's is not waited for.
                if plan.startswith("accelerated: device") or name in bank.HOSTS:
                    del missing[name]
            time.sleep(0.02)
        db.close()
        tap.ok(not missing, f"the device answers within {ANSWER_SECONDS} s: all but {list(missing)}")

    def run(self):
        """The checks."""
        if self.device != "host" and self.seconds >= LEAST_TO_WARM:
            self.warm()
        for mode in MODES:
            if not self.failures:
                self.run_mode(mode)
        sums = counters.totals(self.figures)
        tap.diag(f"{sums} {self.lives} lives, {self.kills} kills, {self.faults} faults")
        tap.ok(not self.failures, f"{sums['reads']} reads beside {sums['commits']} commits")
        for failure in self.failures:
            tap.diag(failure)
        tap.ok(min(sums["reads"], sums["commits"]) > self.seconds / 2, "readers and writers had turns")
        share = sums["accelerated"] / max(sums["reads"], 1)
        tap.ok(share > 0.3, f"{share:.0%} of the reads were accelerated")
        tap.ok(self.kills > self.seconds / 10, f"{self.kills} processes were killed")
        if self.device == "host" or self.seconds < LEAST_FOR_DEVICES:
            tap.skip(2, "there is no OpenCL device, or no time for one")
        else:
            tap.ok(sums["on_device"] > 0, f"{sums['on_device']} answers came from {self.device}")
            if os.path.exists(FAILING):
                tap.ok(self.faults > 0, f"OpenCL failed in {self.faults} processes")
            else:
                tap.skip(1, f"there is no {FAILING}")
        if self.failures:
            tap.diag(f"the databases are in {self.folder}")
        else:
            shutil.rmtree(self.folder)


def choose_device():
    """The environment's, or the best that OpenCL offers with doubles."""
    found = tap.device_kinds("fp64")
    if not found:
        tap.no_device("OpenCL offers no device with doubles")
        return "host"
    return os.environ.get("CLREDUCE_TEST_DEVICE") or found[0]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30 if tap.SANITIZED else 9 if tap.QUICK else 60
    pool = int(sys.argv[2]) if len(sys.argv) > 2 else THREADS
    seed = int(os.environ.get("CLREDUCE_SEED") or random.SystemRandom().randrange(2**32))
    device = choose_device()
    tap.diag(f"CLREDUCE_SEED={seed}, {seconds:.0f} s, device {device}, a pool of {pool}")
    Soak(seconds, pool, random.Random(seed), device).run()
    tap.done()


main()
