"""Links that work on the hosting page of a repository, made to work on the site.

README.md is the home page, a folder with cards is the page that lists them, and any other
folder has no page: its link becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

FOLDERS = {
    "data/cards": "cards",
    "data/authored": "cards",
    "notebooks": "notebooks/index",
    "docs": "index",
}
README = re.compile(r"\]\(((?:\.\./)*)README\.md(?=[#)])")


def link_home(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn links to the README at the root into links to the home page."""
    depth = docname.count("/")
    source[0] = README.sub(
        lambda found: f"]({found[1]}index.md" if found[1] == "../" * depth else found[0], source[0]
    )


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """A link to a folder that exists in the repository; None leaves the warning to others."""
    if node.get("reftype") != "myst":
        return None
    base = posixpath.dirname(env.doc2path(node["refdoc"], base=False).replace("\\", "/"))
    target = posixpath.normpath(posixpath.join(base, node["reftarget"]))
    page = FOLDERS.get(target)
    if page:
        return make_refnode(app.builder, node["refdoc"], page, "", content)
    return content if (Path(app.confdir).parent / target).is_dir() else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect both events."""
    app.connect("source-read", link_home)
    app.connect("missing-reference", resolve)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
