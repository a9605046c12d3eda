"""BREAK: steps in a cell, operators as a Python list."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.data.formats.break_qdmr import FORMAT, read_decompositions
from mtrlib.errors import InputError

HEADER = "question_id,question_text,decomposition,operators,split\r\n"


def write(folder: Path, *rows: str) -> Path:
    path = folder / "b.csv"
    path.write_bytes((HEADER + "".join(f"{r}\r\n" for r in rows)).encode())
    return path


def test_steps(tmp_path: Path):
    path = write(
        tmp_path,
        "A_1,\"Which, if any? \",return foxes ;return #1 that run,\"['select', 'filter']\",dev",
        "A_2,Foxes?,return foxes,['select'],dev",
        "A_3,Dens?,return dens; return number of  #1,\"['select', 'aggregate']\",dev",
        "A_4,Hidden?,,[],test",
    )
    found = list(read_decompositions(path))
    assert found[0].question == "Which, if any? "
    assert found[0].steps == ("return foxes", "return #1 that run")
    assert [len(d.steps) for d in found] == [2, 1, 2, 0]
    assert found[2].source == "b.csv:4"
    assert FORMAT.recognises(path)


@pytest.mark.parametrize(
    "operators", ["['select']", "nothing", "__import__('os').getcwd()", "{'a': 1}"]
)
def test_operators_that_do_not_fit(tmp_path: Path, operators: str):
    path = write(tmp_path, f"A_1,Q,return a ;return b,{operators},dev")
    with pytest.raises(InputError, match=r"b\.csv:2: 2 steps, but operators are"):
        list(read_decompositions(path))


def test_other_columns(tmp_path: Path):
    path = tmp_path / "b.csv"
    path.write_text("question_id,question_text\nA,B\n")
    assert not FORMAT.recognises(path)
    with pytest.raises(InputError, match="no field 'decomposition'"):
        list(read_decompositions(path))
