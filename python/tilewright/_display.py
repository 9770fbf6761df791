"""What notebooks show."""

from __future__ import annotations

import base64
import os
from html import escape
from pathlib import Path
from typing import Any, Mapping, Sequence

MOST_ROWS = 12
MOST_LETTERS = 120


class Drawing:
    """A drawing in SVG, which notebooks show."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # As an image, so that names inside several drawings of one page do not meet, and none is wider than the page.
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img style="max-width: 100%; height: auto" alt="drawing" src="data:image/svg+xml;base64,{data}">'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it into a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<drawing, {len(self.svg)} bytes of SVG>"


def is_table(value: Any) -> bool:
    """Whether it is a list of records."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Records as a table in HTML: the first ones of many."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(str(name))}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{text(row.get(name))}</td>" for name in names) + "</tr>" for row in rows[:MOST_ROWS]
    )
    more = f"<p>and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
    return f'<div style="overflow-x: auto"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}'


def pairs(values: Mapping[str, Any]) -> str:
    """Names and values as a table in HTML; tables and what has parts are folded away."""
    plain, folded = "", ""
    for name, value in values.items():
        if is_table(value):
            folded += f"<details><summary>{escape(name)} ({len(value)})</summary>{table(value)}</details>"
        elif isinstance(value, dict) and any(isinstance(one, (dict, list)) for one in value.values()):
            folded += f"<details><summary>{escape(name)}</summary>{pairs(value)}</details>"
        elif isinstance(value, str) and "\n" in value:
            folded += f"<details><summary>{escape(name)}</summary><pre>{escape(value)}</pre></details>"
        elif value is not None and value != [] and value != {}:
            plain += f'<tr><th style="text-align: left">{escape(name)}</th><td style="text-align: left">{text(value)}</td></tr>'
    return f"<table>{plain}</table>{folded}"


def text(value: Any) -> str:
    """A value in a line."""
    if value is None:
        return ""
    if isinstance(value, float):
        shown = f"{value:.6g}"
    elif isinstance(value, dict):
        shown = ", ".join(f"{name}: {one:.6g}" if isinstance(one, float) else f"{name}: {one}" for name, one in value.items())
    elif isinstance(value, list):
        shown = ", ".join(str(one) for one in value)
    else:
        shown = str(value)
    return escape(shown if len(shown) <= MOST_LETTERS else shown[: MOST_LETTERS - 3] + "...")
