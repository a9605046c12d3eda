"""The proof finds what was planted, and refresh makes what the proof accepts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from mtrlib.errors import ComparisonError, NotebookError
from mtrlib.reporting import readme_block, verify
from mtrlib.reporting.__main__ import main

Make = Callable[..., Path]
EXTRA_KEYS = "metadata.papermill cell.metadata.papermill metadata.language_info.version"

LIGHT = {
    "parameters": 'PROFILE = "default"  # text, settings\nSEED = 13  # whole number, a seed',
    "results": "import pandas as pd\nfrom mtrlib import profiles\n"
    "from mtrlib.reporting import results\nprofile = profiles.load(PROFILE, SEED=SEED)\n"
    'results.save("tiny", pd.DataFrame({"n": [SEED]}), profile)',
}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_refresh_then_verify_then_planted_changes(
    make_notebook: Make, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = make_notebook("01_tiny")
    with pytest.raises(NotebookError, match="01_tiny, cell 2: was not executed"):
        main(["check"])

    main(["refresh"])
    assert "replaced figures/fig_tiny.png" in capsys.readouterr().out.replace("\\", "/")
    main(["check"])
    stripped = [sys.executable, "-m", "nbstripout", "--keep-output", "--keep-count", "--verify"]
    assert subprocess.run([*stripped, "--extra-keys", EXTRA_KEYS, str(source)]).returncode == 0

    made = {p: p.read_bytes() for p in repository.glob("[dfn]*/**/*") if p.is_file()}
    main(["verify"])
    assert made == {p: p.read_bytes() for p in made}

    edit(source, "print(sys.version)", "print( sys.version)")  # source: both sides have it
    edit(source, "results/tiny.csv\\n", "results/tinny.csv\\n")
    edit(repository / "data/results/tiny.csv", "a,0.5", "a,0.6")
    edit(repository / "figures/fig_tiny.csv", "b,1.857143", "b,1.8572")
    with pytest.raises(ComparisonError) as raised:
        main(["verify"])
    message = str(raised.value)
    assert message.startswith("2 differences")
    assert "01_tiny, cell 5: committed 'build/default/results/tinny.csv', fresh" in message
    assert "tiny.csv, system=a, value: DIFFERENT committed 0.6, fresh 0.5" in message


def test_differences_name_cell_and_line_and_spare_env(tmp_path: Path) -> None:
    def notebook(name: str, text: str, version: str = "3", picture: str = "AA") -> Path:
        cells = []
        for count, (tag, output) in enumerate(
            [("env", version), ("x", f"same\n{text}\n")], start=1
        ):
            cell = nbformat.v4.new_code_cell("print()", execution_count=count)
            cell.metadata["tags"] = [tag]
            # the kernel decides in how many pieces a stream comes
            cell.outputs = [nbformat.v4.new_output("stream", text=part) for part in output]
            cells.append(cell)
        image = nbformat.v4.new_output("display_data", data={"image/png": picture})
        cells[1].outputs.append(image)
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / name)
        return tmp_path / name

    committed = notebook("01_x.ipynb", "0.50")
    assert verify.differences(committed, notebook("b.ipynb", "0.50", version="4")) == []
    assert verify.differences(committed, notebook("b.ipynb", "0.51")) == [
        "01_x, cell 2: committed '0.50', fresh '0.51'"
    ]
    redrawn = notebook("b.ipynb", "0.50", picture="BB")
    assert verify.differences(committed, redrawn)[0].startswith(
        "01_x, cell 2: committed 'image/png"
    )
    assert verify.differences(committed, redrawn, images=False) == []


def test_refresh_is_all_or_nothing(make_notebook: Make, repository: Path) -> None:
    make_notebook("01_light", LIGHT)
    source = make_notebook("02_fails", {"parameters": 'PROFILE = "default"', "x": "1 / 0"})
    before = source.read_bytes()
    with pytest.raises(NotebookError, match="02_fails, cell 3: ZeroDivisionError"):
        main(["refresh"])
    assert source.read_bytes() == before
    assert not list((repository / "figures").iterdir())
    assert not list((repository / "data" / "results").iterdir())


def test_run_compares_only_a_full_default_run(
    make_notebook: Make, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_notebook("01_light", LIGHT)
    main(["run", "--param", "SEED=14"])
    out = capsys.readouterr().out
    assert "belong to `default` without overrides: nothing compared" in out
    assert (repository / "build/default+SEED=14/results/tiny.csv").is_file()
    with pytest.raises(ComparisonError, match=r"tiny\.csv: EXTRA FILE"):
        main(["run", "--profile", "default"])


ASKS = {
    **LIGHT,
    "setup": "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 9), timeout=1)\n"
    "except OSError:\n    print('no network')",
    "env": "1",
}


def test_proof_fails_a_notebook_that_asks_for_the_network(
    make_notebook: Make, repository: Path
) -> None:
    make_notebook("01_asks", ASKS)
    main(["refresh"])
    with pytest.raises(NotebookError, match=r"01_asks, asked for the network .*192\.0\.2\.1"):
        main(["verify"])


def test_one_notebook_is_proved_by_the_artefacts_that_bear_its_number(
    make_notebook: Make, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    light = {**LIGHT, "setup": "0", "env": "1"}
    for number in ("01", "02"):
        cells = {k: v.replace('"tiny"', f'"t{number}_tiny"') for k, v in light.items()}
        make_notebook(f"{number}_light", cells)
    main(["refresh"])
    edit(repository / "data/results/t02_tiny.csv", "13", "14")
    main(["verify", "--nb", "01"])
    assert "verified: 1 notebooks" in capsys.readouterr().out
    with pytest.raises(ComparisonError, match=r"t02_tiny\.csv, n=14: MISSING ROW"):
        main(["verify", "--nb", "02"])


def test_refresh_writes_the_block_of_the_readme_and_verify_checks_it(
    make_notebook: Make, repository: Path
) -> None:
    table = (
        "import pandas as pd\nfrom mtrlib import profiles\n"
        "from mtrlib.reporting import matrix, results\n"
        "profile = profiles.load(PROFILE, SEED=SEED)\n"
        "row = dict.fromkeys(matrix.COLUMNS, 'x') | {'paper': 1.5, 'ours': 1.25, 'n': 4.0}\n"
        "row |= {'unit': 'points', 'headline': 'it', 'status': 'FAIL'}\n"
        "results.save('t90_matrix', pd.DataFrame([row]), profile)"
    )
    make_notebook("90_paper_vs_ours", {**LIGHT, "setup": "0", "env": "1", "results": table})
    readme = repository / "README.md"
    readme.write_text(f"{readme_block.BEGIN}\n{readme_block.END}\n", "utf-8")
    main(["refresh"])
    assert "| x | it | 1.5 | 1.2 (n = 4) | x | FAIL | `x` |" in readme.read_text("utf-8")
    main(["verify"])
    edit(readme, "| 1.5 |", "| 1.6 |")
    with pytest.raises(ComparisonError, match=r"README\.md:4: .*make refresh NB=90"):
        main(["verify"])
