"""The one byte form of an executed notebook, equal for equal runs.

It is the form that ``nbstripout --keep-output --keep-count --extra-keys "metadata.papermill
cell.metadata.papermill metadata.language_info.version"`` accepts unchanged.
"""

from __future__ import annotations

import base64
import copy
import io
import json
from itertools import groupby

import nbformat
from nbformat import NotebookNode
from nbstripout import strip_output
from PIL import Image

COLOURS = 64

# nbstripout's own list is private to its command line
EXTRA_KEYS = [
    "metadata.signature",
    "metadata.widgets",
    "cell.metadata.collapsed",
    "cell.metadata.ExecuteTime",
    "cell.metadata.execution",
    "cell.metadata.heading_collapsed",
    "cell.metadata.hidden",
    "cell.metadata.scrolled",
    "metadata.papermill",
    "cell.metadata.papermill",
    "metadata.language_info.version",
]


def canonical(nb: NotebookNode) -> NotebookNode:
    """Copy without timings, run paths and random ids; streams in one piece each.

    How often a kernel flushes decides into how many pieces the printed text falls, so
    neighbouring pieces of one stream are joined.
    """
    nb = strip_output(
        copy.deepcopy(nb), keep_output=True, keep_count=True, keep_id=False, extra_keys=EXTRA_KEYS
    )
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
            for output in cell.outputs:
                data = output.get("data", {})
                if "image/png" in data:
                    data["image/png"] = _palette_png(data["image/png"])
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]  # papermill adds an empty list
    return nb


def canonical_bytes(nb: NotebookNode) -> bytes:
    """Canonical notebook as it is written to a file."""
    text: str = nbformat.writes(canonical(nb))
    return (text.rstrip("\n") + "\n").encode()


def strip_env(nb: NotebookNode, *, images: bool = True) -> NotebookNode:
    """Copy for comparisons: no outputs of cells tagged ``env`` or ``timing``, images on request.

    Without ``images`` a picture is reduced to the note that there was one.
    """
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        if {"env", "timing"}.intersection(cell.metadata.get("tags", [])):
            cell.outputs = []
        for output in [] if images else cell.outputs:
            for kind in [k for k in output.get("data", {}) if k.startswith("image/")]:
                output.data[kind] = "not compared"
    return nb


def is_trained(nb: NotebookNode) -> bool:
    """Whether outputs rest on weights trained in the run (a cell tagged ``trained`` says so)."""
    return any("trained" in cell.metadata.get("tags", []) for cell in nb.cells)


def without_outputs(nb: NotebookNode) -> NotebookNode:
    """Copy without any output."""
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    return nb


def cell_lines(cell: NotebookNode) -> list[str]:
    """Source and outputs of a cell as lines, to find the first that differs."""
    lines: list[str] = cell.source.splitlines()
    for output in cell.get("outputs", []):
        if "text" in output:
            lines += output.text.splitlines()
        data = dict(sorted(output.get("data", {}).items()))
        for kind, value in data.items():
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            lines += [f"{kind}: {line}" for line in text.splitlines()]
        if output.output_type == "error":
            lines.append(f"{output.ename}: {output.evalue}")
    return lines


def _palette_png(encoded: str) -> str:
    """The picture with at most 64 colours: a quarter of the size, no visible change in a plot.

    A picture that already has a palette stays as it is, so the form is stable.
    """
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(encoded)))
    except (ValueError, OSError):  # not ours to judge: what is no picture stays as it is
        return encoded
    if picture.mode == "P":
        return encoded
    small = io.BytesIO()
    picture.convert("RGB").quantize(COLOURS).save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode() + "\n"


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    joined: list[NotebookNode] = []
    for stream, group in groupby(outputs, key=lambda output: output.get("name")):
        pieces = list(group)
        if stream is not None:
            pieces[0].text = "".join(piece.text for piece in pieces)
        joined += pieces if stream is None else pieces[:1]
    return joined
