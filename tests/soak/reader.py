"""A process that reads: python3 reader.py DATABASE DEVICE SEED END COUNTERS SLOT THREADS

So many threads ask views, each of a connection of its own, until END, a time. Each answer has to be
what the SELECT gives in the same transaction, to the type and the bit, and the sum is always the
same. The first difference ends the process: it says what differed, and exits with 1.
"""

import faulthandler
import os
import random
import signal
import sys
import threading
import time

import evidence

# Preloaded for this process; what a driver runs, a linker for instance, is not to have it.
os.environ.pop("LD_PRELOAD", None)
evidence.begin()

import sqlite3  # noqa: E402
import tap  # noqa: E402
import bank  # noqa: E402
import counters  # noqa: E402

class Difference(Exception):
    """What must not be."""


class Reader:
    """A thread's connection, with its views."""

    def __init__(self, path, device, seed, counted):
        self.rng, self.counted, self.path = random.Random(seed), counted, path
        self.device, self.waits = device, device != "host"
        self.open()
        self.limit()

    def open(self):
        """The connection, and its views."""
        self.db = tap.connect(self.path, timeout=5, check_same_thread=False)
        self.settings(device=self.device, view_threshold=0)
        if self.waits:
            self.settings(start_after=0, host_threshold=1, keep_answers="off")
        for name in bank.SELECTS:
            self.create(name)

    def limit(self):
        """Another limit of what is kept."""
        self.settings(column_memory=self.rng.choice((0, 0, 0, 20_000, 1)), keep_answers=self.rng.choice(("on", "off")))

    def settings(self, **values):
        """Changes settings."""
        for name, value in values.items():
            self.db.execute("SELECT clreduce_set(?, ?)", (name, value)).fetchall()

    def create(self, name):
        """A new view in the place of an older one."""
        self.again(f"DROP TABLE IF EXISTS temp.{name}")
        self.again(f"CREATE VIRTUAL TABLE temp.{name} USING clreduce(({bank.SELECTS[name][0]}))")

    def again(self, sql):
        """Runs a statement, again while others are in its way."""
        while True:
            try:
                return self.db.execute(sql).fetchall()
            except sqlite3.OperationalError as error:
                if not bank.is_busy(error):
                    raise
                self.counted.add("busy")

    def outcome(self, sql, parameters):
        """The rows, or SQLite's error."""
        try:
            return self.db.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            if bank.is_busy(error):
                raise
            return (error.sqlite_errorname, str(error))

    def ask(self):
        """A view and its SELECT in one transaction, now this one first and now that.

        A device gets the rows while the host answers: some transactions last until it has them.
        """
        name = self.rng.choice(list(bank.SELECTS))
        select, parameters = bank.SELECTS[name]
        direct = None
        end = time.time() + (0.5 if self.waits and self.rng.random() < 0.2 else 0)
        self.db.execute("BEGIN")
        if self.rng.random() < 0.3:
            direct = self.outcome(select, parameters)
        while True:
            plan, view = self.ask_view(name, parameters)
            direct = direct or self.outcome(select, parameters)
            if not tap.is_same(view, direct):
                text = "\n".join(plan + evidence.gather(self.db, self.path, select, parameters))
                raise Difference(f"{name}: {select}\n view: {view!r}\n SELECT: {direct!r}\n{text}")
            if name == "whole" and view[0][:2] != (bank.TOTAL, bank.ROWS):
                raise Difference(f"sum and count are {view!r}, and not {(bank.TOTAL, bank.ROWS)}")
            if time.time() >= end or not plan[0].startswith("accelerated: host"):
                break
            time.sleep(0.01)
        self.db.execute("COMMIT")

    def version(self):
        """A number that changes with each commit of others."""
        return self.db.execute("PRAGMA data_version").fetchone()[0]

    def ask_alone(self):
        """A view and its SELECT outside of a transaction, between two commits."""
        select, parameters = bank.SELECTS["whole"]
        before = self.version()
        direct = self.outcome(select, parameters)
        plan, view = self.ask_view("whole", parameters)
        if view[0][:2] != (bank.TOTAL, bank.ROWS) or (view != direct and before == self.version()):
            raise Difference(f"outside of a transaction: {view!r}, SELECT: {direct!r}\n{plan}")

    def ask_view(self, name, parameters):
        """A view's plan and what it gives."""
        marks = f"({', '.join('?' * len(parameters))})" if parameters else ""
        view = self.outcome(f"SELECT * FROM {name}{marks}", parameters)
        lines = self.db.execute("SELECT line FROM clreduce_plan(?)", (name,)).fetchall()
        plan = [line for (line,) in lines]
        self.counted.add("reads")
        self.counted.add("accelerated", plan[0].startswith("accelerated"))
        self.counted.add("on_device", plan[0].startswith("accelerated: device"))
        return plan, view

    def step(self):
        """A question mostly."""
        luck = self.rng.random()
        if luck < 0.02:
            self.again("SELECT clreduce_evict()")
            self.counted.add("evictions")
        elif luck < 0.03:
            self.create(self.rng.choice(list(bank.SELECTS)))
        elif luck < 0.035:
            self.limit()
        elif luck < 0.04:
            self.db.close()
            self.open()
        elif luck < 0.2:
            self.ask_alone()
        else:
            self.ask()


def main():
    path, device, seed, end, figures, slot, threads = sys.argv[1:]
    faulthandler.register(signal.SIGTERM, chain=True)
    failed = []

    def live(number):
        try:
            counted = counters.Counters(figures, int(slot) + number)
            reader = Reader(path, device, f"{seed}/{number}", counted)
            bank.run(reader, float(end), pause=0.01)
        except BaseException as problem:  # a thread's exception would be lost
            print(f"{type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
            failed.append(problem)

    threads = [threading.Thread(target=live, args=(number,)) for number in range(int(threads))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.exit(1 if failed else 0)


main()
