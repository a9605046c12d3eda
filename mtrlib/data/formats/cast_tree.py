"""Paths of TREC CAsT 2022 topics.

A topic is a tree of nodes with ``number``, ``parent`` (absent at the root), ``participant`` and
``utterance`` or ``response``; or it is one flattened path already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import fields
from mtrlib.errors import InputError


def ways(
    nodes: Sequence[dict[str, Any]], source: str, path: Path
) -> Iterator[list[dict[str, Any]]]:
    """All paths from root to leaf, user nodes only, each with the response that follows it.

    Raises
    ------
    InputError
        A number twice, a parent that is not there, nodes that hang on no root, or sides that
        do not take turns.
    """
    if "participant" not in nodes[0]:
        yield list(nodes)
        return
    children: dict[str, list[dict[str, Any]]] = {"": []}
    for node in nodes:
        (number,) = fields(node, source, path, "number", kinds=(str,))
        if number in children:
            raise InputError(f"{path}: {source}: node {number} twice. Mend: keep one of them.")
        children[number] = []
    for node in nodes:
        parent = node.get("parent", node.get("parent_turn")) or ""
        if parent not in children:
            raise InputError(
                f"{path}: {source}: node {node['number']} has parent {parent!r}, which is not "
                "there. Mend: use the tree as published."
            )
        children[parent].append(node)
    reached = 0
    open_paths = [[root] for root in reversed(children[""])]
    while open_paths:
        way = open_paths.pop()
        reached += 1
        below = children[way[-1]["number"]]
        if not below:
            yield _merged(way, source, path)
        open_paths += [[*way, node] for node in reversed(below)]
    if reached != len(nodes):
        raise InputError(
            f"{path}: {source}: {len(nodes) - reached} nodes hang on no root. "
            "Mend: use the tree as published."
        )


def _merged(way: Sequence[dict[str, Any]], source: str, path: Path) -> list[dict[str, Any]]:
    """User nodes with the response of the system node after them."""
    found: list[dict[str, Any]] = []
    for node in way:
        side = str(node.get("participant")).lower()
        if side == "user":
            found.append(dict(node))
        elif side == "system" and found and "response" not in found[-1]:
            response, provenance = fields(node, source, path, "response", "provenance")
            found[-1] |= {"response": response, "provenance": provenance}
        else:
            raise InputError(
                f"{path}: {source}: node {node['number']} ({side}) does not follow a user's. "
                "Mend: users open a path, and the system answers once."
            )
    return found
