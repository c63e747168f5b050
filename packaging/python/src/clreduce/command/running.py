"""Running something that SQLite does, with a bar of what the process has read of the database file meanwhile."""

import threading
import time

from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

#: Seconds until the bar is shown, and between its changes.
QUIET, STEP = 0.3, 0.05


def bytes_read():
    """How many bytes the process has asked the system for, or None: only Linux tells.

    clreduce_stats cannot be asked while the connection is busy, and pages that are read come through the system's calls,
    whoever reads them.
    """
    try:
        with open("/proc/self/io", encoding="ascii") as file:
            return int(file.readline().split()[1])
    except (OSError, ValueError, IndexError):
        return None


def in_background(connection, work, console, size):
    """Returns what work() returns, which another thread does. size: the bytes of the database file.

    What work() raises is raised. An interrupt from the keyboard interrupts the connection.
    """
    result, errors = [], []

    def do():
        try:
            result.append(work())
        except Exception as error:
            errors.append(error)

    start = bytes_read()
    thread = threading.Thread(target=do)
    thread.start()
    try:
        thread.join(QUIET)
        if thread.is_alive():
            show_progress(thread, console, start, size)
    except KeyboardInterrupt:
        connection.interrupt()
        raise
    finally:
        thread.join()
    if errors:
        raise errors[0]
    return result[0]


def show_progress(thread, console, start, size):
    """Shows the bar, or a clock where the system does not tell what was read, until the thread ends."""
    columns = [SpinnerColumn(), TextColumn("reading the file" if start is not None else "running")]
    if start is not None:
        columns += [BarColumn(), DownloadColumn(binary_units=True)]
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=size if start is not None else None)
        while thread.is_alive():
            if start is not None:
                progress.update(task, completed=min(bytes_read() - start, size))
            time.sleep(STEP)
