"""What pictures are drawn of, as SVG without a library; and bars with their range."""

import math
from html import escape

INK, PALE = "#24292f", "#d0d7de"
COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#9a6700", "#8250df", "#bf3989", "#57606a", "#0a7b83")
STYLE = (f"text{{font:12px sans-serif;fill:{INK}}}.title{{font-size:15px;font-weight:bold}}"
         ".end{text-anchor:end}.middle{text-anchor:middle}.note{font-size:11px}")
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
    """1, 2 and 5 times the powers of 10 between two numbers; the powers alone, or every second one
    or so, if they span much."""
    steps = (1, 2, 5) if high / low < 300 else (1,)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    apart = max(1, (last - first) // 6)
    return [step * 10.0 ** power for power in range(first, last + 1) for step in steps
            if low * 0.999 <= step * 10.0 ** power <= high * 1.001 and power % apart == 0]


def even_steps(high):
    """Round numbers from 0 to a bit less than another."""
    step = 10.0 ** math.floor(math.log10(high))
    step *= next(factor for factor in (0.2, 0.5, 1, 2) if high / (step * factor) <= 6)
    return [step * number for number in range(int(high / step) + 1)]


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
