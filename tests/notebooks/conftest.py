"""Small notebooks in a repository of their own, so that nothing committed is touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

SETUP = """\
from mtrlib import profiles
profile = profiles.load(PROFILE, SEED=SEED)
print(profile.tag)"""
RESULTS = """\
import matplotlib.pyplot as plt
import pandas as pd
from mtrlib.reporting import results
table = pd.DataFrame({"system": ["a", "b"], "value": [0.5, SEED / 7]})
fig, ax = plt.subplots(figsize=(2, 1))
ax.plot(table["value"])
print(results.save("tiny", table, profile, digests={"x": "0f"}))
print(results.save_figure("fig_tiny", fig, table, profile))"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository that the library takes for its own."""
    root = tmp_path / "repo {with} braces"  # a name that papermill would take for a template
    for folder in ("notebooks", "data/results", "figures"):
        (root / folder).mkdir(parents=True)
    (root / "data" / "registry.json").write_text("{}")
    monkeypatch.setenv("MTR_ROOT", str(root))
    monkeypatch.delenv("MTR_BUILD", raising=False)
    return root


@pytest.fixture
def make_notebook(repository: Path) -> Callable[..., Path]:
    """A factory: ``make("01_name", {"tag": source, ...})`` writes a notebook to run."""

    def make(name: str, cells: dict[str, str] | None = None) -> Path:
        cells = cells or {
            "parameters": 'PROFILE = "default"  # text: settings\nSEED = 13  # whole number, any',
            "setup": SETUP,
            "env": "import sys\nprint(sys.version)",
            "results": RESULTS,
        }
        notebook = nbformat.v4.new_notebook(
            cells=[
                nbformat.v4.new_markdown_cell(f"# Notebook {name}"),
                *(
                    nbformat.v4.new_code_cell(source, metadata={"tags": [tag]})
                    for tag, source in cells.items()
                ),
            ],
            metadata={
                "kernelspec": {
                    "display_name": "Python 3 (ipykernel)",
                    "language": "python",
                    "name": "python3",
                }
            },
        )
        path = repository / "notebooks" / f"{name}.ipynb"
        nbformat.write(notebook, path)
        return path

    return make
