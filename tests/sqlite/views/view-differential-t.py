"""Random SELECTs of numbers over random tables: what each gives directly, it gives through a view.

Most SELECTs are of the kind that can be accelerated; the tables have all forms of storage, and change in between.
view-random-t.py has the other kinds of tables.
"""

import support
import tap
import view_support as views
from domains import Numbers
from matrix import Run, run_all, times

#: Memory for no column, for some of a small table's, for some of a large one's.
LITTLE = (1, 1, 2_000, 30_000)
STREAMS = "accelerated: host, streaming"


def main():
    rng = support.seed()
    on_table = times(48, 96)
    host = Run(Numbers, times(750, 13_500), on_table=on_table, fast=0.1, filled=times(0.002, 0.02))
    # With little memory tables stream, rather than that SQLite fills columns.
    little = Run(Numbers, times(200, 3_000), on_table=on_table, fast=0.02, memories=LITTLE,
                 told={STREAMS: (times(0.002, 0.01), 1)}, filled=0)
    # On a device there are so few, since each is compiled, that their share varies.
    devices = [Run(Numbers, times(12, 250), device=device, on_table=24, fast=0.05, on_device=times(0.3, 0.5))
               for device in views.devices()[1:]]
    run_all(rng, [host, *devices, little])
    tap.done()


main()
