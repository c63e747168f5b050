"""Plots, drawn as SVG without a library: lines over logarithmic axes, and bars with their range."""

import math
from html import escape

INK, PALE = "#24292f", "#d0d7de"
COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#57606a", "#0a7b83")
STYLE = (f"text{{font:12px sans-serif;fill:{INK}}}.title{{font-size:15px;font-weight:bold}}"
         ".end{text-anchor:end}.middle{text-anchor:middle}")
WIDTH = 800


def text(x, y, content, kind=""):
    """A text at a place; the kind is a class of STYLE."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(content)}</text>'


def line(x1, y1, x2, y2, colour=PALE, width=1):
    """A straight line."""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>')


def document(height, title, shapes):
    """The whole file."""
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
                      f'viewBox="0 0 {WIDTH} {height}">', f"<style>{STYLE}</style>",
                      f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
                      text(20, 26, title, "title"), *shapes, "</svg>", ""])


def byte_label(count):
    """Bytes in the unit that suits them."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count:g} B"


def decades(low, high):
    """1, 2 and 5 times the powers of 10 between two numbers; the powers alone if they span much."""
    steps = (1, 2, 5) if high / low < 300 else (1,)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [step * 10.0 ** power for power in range(first, last + 1) for step in steps
            if low * 0.999 <= step * 10.0 ** power <= high * 1.001]


def even_steps(high):
    """Round numbers from 0 to a bit less than another."""
    step = 10.0 ** math.floor(math.log10(high))
    step *= next(factor for factor in (0.2, 0.5, 1, 2) if high / (step * factor) <= 6)
    return [step * number for number in range(int(high / step) + 1)]


def lines_over_bytes(title, unit, series):
    """Lines over a number of bytes; a series is a name and its points (bytes, value)."""
    left, top, right, bottom = 60, 45, 540, 380
    points = [point for _, values in series for point in values]
    x_low, x_high = (bound(x for x, _ in points) for bound in (min, max))
    y_low, y_high = min(y for _, y in points) * 0.8, max(y for _, y in points) * 1.25

    def x_of(x):
        return left + (right - left) * math.log(x / x_low) / math.log(max(x_high / x_low, 2))

    def y_of(y):
        return bottom - (bottom - top) * math.log(y / y_low) / math.log(y_high / y_low)

    shapes = [text(left, bottom + 40, f"bytes reduced; {unit}, both axes logarithmic")]
    for y in decades(y_low, y_high):
        shapes += [line(left, y_of(y), right, y_of(y)),
                   text(left - 6, y_of(y) + 4, f"{y:,g}", "end")]
    for x in sorted({x for x, _ in points}):
        shapes += [line(x_of(x), top, x_of(x), bottom),
                   text(x_of(x), bottom + 18, byte_label(x), "middle")]
    for number, (name, values) in enumerate(series):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in sorted(values))
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        shapes += [f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}"/>'
                   for x, y in values]
        y = top + 10 + 22 * number
        shapes += [line(right + 15, y, right + 37, y, colour, 3), text(right + 44, y + 4, name)]
    return document(bottom + 55, title, shapes)


def as_summary(value):
    """A number as a summary without a range."""
    if isinstance(value, dict):
        return value
    return {"median": value, "min": value, "max": value}


def bars(title, note, rows, mark=None, digits=2, logarithmic=False):
    """Horizontal bars.

    A row is a label, a summary (median, min, max) or a number, and a colour's place in COLOURS. The
    mark is a value to compare all with.
    """
    left, right, top, height = 270, WIDTH - 80, 50, 24
    rows = [(label, as_summary(value), colour) for label, value, colour in rows]
    high = 1.05 * max([mark or 0] + [value["median"] for _, value, _ in rows])
    low = 0.8 * min([mark or high] + [value["min"] for _, value, _ in rows])
    bottom = top + height * len(rows)
    shapes = [text(20, bottom + 40, note)]

    def x_of(value):
        share = min(value, high) / high
        if logarithmic:
            share = math.log(min(value, high) / low) / math.log(high / low)
        return left + (right - left) * share

    for step in decades(low, high) if logarithmic else even_steps(high):
        shapes += [line(x_of(step), top, x_of(step), bottom),
                   text(x_of(step), bottom + 16, f"{step:,g}", "middle")]
    for number, (label, value, colour) in enumerate(rows):
        y = top + height * number
        shapes += [text(left - 8, y + 16, label, "end"),
                   f'<rect x="{left}" y="{y + 4}" width="{x_of(value["median"]) - left:.1f}" '
                   f'height="{height - 8}" fill="{COLOURS[colour]}" fill-opacity="0.75"/>',
                   line(x_of(value["min"]), y + 12, x_of(value["max"]), y + 12, INK, 1.5),
                   text(right + 8, y + 16, f"{value['median']:,.{digits}f}")]
    if mark is not None:
        shapes.append(line(x_of(mark), top - 4, x_of(mark), bottom + 4, INK, 1.5))
    return document(bottom + 55, title, shapes)
