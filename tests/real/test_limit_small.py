"""LIMIT-small at K = 2: verified passages make room for what one vector cannot reach.

Each query has two relevant documents of 46, in all combinations, which a single vector per
text cannot rank (LIMIT, arXiv 2508.21038). BM25 has both at K = 20, so that is no test.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from needed import fetched

from mtrlib.data.formats.limit import read_passages, read_questions
from mtrlib.evaluation.multi_answer import multi_answer
from mtrlib.evaluation.significance import paired_difference
from mtrlib.retrieval.search import searcher
from mtrlib.rvr.baselines import single_round
from mtrlib.rvr.loop import retrieve_verify_retrieve
from mtrlib.rvr.settings import RvrSettings
from mtrlib.rvr.verifiers import OracleVerifier

K = 2


@pytest.mark.models
def test_the_oracle_raises_mrecall_at_2_over_the_single_round(real_data: Path, capsys):
    folder = real_data / "limit_small"
    passages = list(read_passages(folder))
    by_id = {p.passage_id: p for p in passages}
    questions = list(read_questions(folder))[::5]  # 200 of 1,000, each query is of one kind
    assert {len(q.gold) for q in questions} == {2}
    with fetched("minilm"):
        minilm = searcher("minilm", passages)

    def mrecall(run):
        return multi_answer(questions, run, by_id, k=K, rule="passages").mrecall

    single = mrecall(single_round(questions, minilm, by_id, K))
    shown = [f"single round {single.mean():.3f}"]
    for budget in (2, 10):
        settings = RvrSettings(k=K, budget=budget, context=1)
        result = retrieve_verify_retrieve(
            questions, minilm, minilm, OracleVerifier(), by_id, settings
        )
        assert (result.trace.query("round == 1")["retrieved"] == max(K, budget)).all()
        after = mrecall(result.run)
        change = paired_difference(
            single, after, resamples=1000, confidence=0.95, rng=np.random.default_rng(13)
        )
        shown.append(
            f"oracle, B={budget}: {after.mean():.3f} ({change.low:+.3f} to {change.high:+.3f})"
        )
        assert change.low > 0
        assert change.n_lost == 0
    with capsys.disabled():
        print(f"\nLIMIT-small, MRecall@2 of {len(questions)}: " + "; ".join(shown))
