"""A view's next query after some of its table's pages were changed, in a database in WAL mode."""

from measuring import method
from measuring import views

SQL = "SELECT gpu_sum(x) FROM v"
ROUNDS = 5


def measure(tools, machine):
    """The results, by device and number of changed pages, and what failed or None."""
    rows = tools.rows // 10
    results = []
    for device in views.devices(machine["device"]):
        method.say(f"changes: {device}")
        for found in tools.change(tools.changes_database(), device, ROUNDS,
                                  views.device_wait(tools, rows), SQL):
            results.append({**found, "time_ns": method.summary(found["ns"]),
                            "sum_time_ns": method.summary(found["sum_ns"]),
                            "speed": method.ratios(found["sum_ns"], found["ns"])})
    wrong = [f"{row['pages']} pages changed, {row['device']}: another result than the SELECT's"
             for row in results if not row["same"]]
    return {"rows": rows, "sql": SQL, "results": results}, "; ".join(wrong) or None
