"""How everything here is measured: rounds in which the candidates take turns, and medians of them.

A machine is never quiet, and what disturbs it lasts longer than one run. Candidates that take turns
meet the same disturbances, and the ratio of two times of one round says more than that of two
medians.
"""

import json
import os
import statistics
import subprocess
import sys
import time


class BenchError(Exception):
    """Something that was to be measured cannot be; the rest can."""


def say(text):
    """Shows what is being measured, on a terminal alone."""
    if sys.stderr.isatty():
        print(f"bench: {text}", file=sys.stderr, flush=True)


def summary(values):
    """The median of some numbers, with the least and the greatest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values),
            "runs": len(values)}


def ratios(times, others):
    """The summary of the quotients of two candidates' times, round by round."""
    return summary([time / other for time, other in zip(times, others)])


def timed(function):
    """A candidate for take_turns() that calls a function and returns how long that took."""
    def run():
        start = time.perf_counter_ns()
        function()
        return time.perf_counter_ns() - start
    return run


def take_turns(candidates, rounds, seconds):
    """Runs candidates, which return a time in ns, by turns, and returns the times of each.

    Each runs once before, to warm up, and every other round goes backwards. After three rounds no
    new one begins if the seconds have passed.
    """
    for candidate in candidates:
        candidate()
    times = [[] for _ in candidates]
    start = time.monotonic()
    for number in range(rounds):
        if number >= 3 and time.monotonic() - start > seconds:
            break
        order = range(len(candidates))
        for index in order if number % 2 == 0 else reversed(order):
            times[index].append(candidates[index]())
    return times


def run_lines(command, text="", environment=None):
    """Runs a program that is given a text; yields each line that it prints, read as JSON.

    Raises BenchError if the program fails; what it printed before that was yielded.
    """
    try:
        process = subprocess.Popen(command,
                                   stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE,
                                   text=True,
                                   env=dict(os.environ,
                                            **(environment or {})))
    except OSError as error:
        raise BenchError(f"{command[0]}: {error.strerror}") from error
    with process:
        process.stdin.write(text)
        process.stdin.close()
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode != 0:
        raise BenchError(f"{' '.join(command[:2])} exited with {process.returncode}")
