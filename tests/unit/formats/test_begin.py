"""BEGIN: a table in which quotes are characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.data.formats.begin import COLUMNS, FORMAT, read_answers, read_ratings
from mtrlib.errors import InputError


def write(folder: Path, label: str = "Generic") -> Path:
    path = folder / "begin_x.tsv"
    rows = [COLUMNS, ("t5", "wow", 'foxes "run', "do they?", '"yes" they do', label)]
    path.write_bytes("".join("\t".join(r) + "\r\n" for r in rows).encode())
    return path


def test_ratings_and_answers_share_their_ids(tmp_path: Path):
    path = write(tmp_path)
    (rating,) = read_ratings(path)
    assert (rating.item_id, rating.system, rating.metric) == ("begin_x_1", "t5", "attribution")
    assert (rating.value, rating.rater, rating.source) == ("Generic", "", "begin_x.tsv:2")
    (answer,) = read_answers(path)
    assert (answer.item_id, answer.system) == (rating.item_id, rating.system)
    assert (answer.question, answer.answer) == ("do they?", '"yes" they do')
    assert answer.evidence == 'foxes "run'
    assert FORMAT.recognises(path)


def test_unknown_labels_and_columns(tmp_path: Path):
    with pytest.raises(InputError, match=r"begin_x\.tsv:2: label 'generic' is unknown"):
        list(read_ratings(write(tmp_path, "generic")))
    path = tmp_path / "a.tsv"
    path.write_text("model_name\tknowledge\nt5\tx\n")
    assert not FORMAT.recognises(path)
    with pytest.raises(InputError, match="no field 'data_source'"):
        list(read_ratings(path))
