"""The recorded replies that the default run replays, made: ``python -m mtrlib.reporting record``.

Asked on frozen inputs only: items whose question, passages and order of options are
committed or follow from the seed, so that every machine asks with the same keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime

from mtrlib import paths, profiles
from mtrlib.audit.judging import METRICS
from mtrlib.audit.llm_judge import LlmJudge
from mtrlib.audit.metrics import tasks
from mtrlib.audit.reference import judged_items
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.data.list_sets import load_list_set
from mtrlib.data.schema import Passage
from mtrlib.llm import local_server
from mtrlib.llm.client import Client
from mtrlib.llm.endpoint_registry import endpoint
from mtrlib.llm.recorded import Committed, commit_replies
from mtrlib.llm.store import ReplyStore, store_path
from mtrlib.reporting.pipeline_run import frozen, run_pipeline
from mtrlib.reporting.rvr_retrievers import Retrievers
from mtrlib.reporting.rvr_runs import RECORDED_BUDGET, first_pairs
from mtrlib.rvr.llm_verifier import LlmVerifier

ALIAS = "smollm2"


def record_audit() -> Committed:
    """Judge the rated items of judgements-mini with the local LLM; commit what it says.

    Replies that the user's store holds already are not asked again.

    Raises
    ------
    EndpointError
        The server does not start, or fails in a way that a retry cannot cure.
    """
    profile = profiles.load("default")
    benchmark = load_benchmark("mtr-mini", profile)
    items, _ = judged_items(benchmark)
    how = {"seed": profile.SEED, "most_options": profile.OPTIONS}
    todo = [task for metric in METRICS for task in tasks(items, metric, ALIAS, **how)]
    with _local_client() as client:
        judge = LlmJudge(ALIAS, client)
        judge.judge(todo)
    keys = [request.key for request in judge.requests(todo)]
    return _commit(client, keys, benchmark.passages, "smollm2_audit")


def record_pipeline() -> Committed:
    """Run MTR-Pipeline on the committed clusters with the local LLM; commit what it says."""
    profile = profiles.load("default")
    corpus = wikipedia_passages()
    with _local_client() as client:
        run = run_pipeline(frozen(corpus), corpus, client, profile)
    return _commit(client, run.log.requests, corpus, "smollm2_pipeline")


def record_rvr() -> Committed:
    """Verify the first lists of the untrained encoder with the local LLM; commit what it says."""
    profile = profiles.load("default", RECIPES=[])
    lists = load_list_set(profile)
    untrained = Retrievers(lists, {profile.ENCODERS[0]: {}}, {})
    pairs = first_pairs(untrained, profile, RECORDED_BUDGET)
    with _local_client() as client:
        verifier = LlmVerifier(ALIAS, client)
        verifier.verify(pairs)
    keys = [request.key for request in verifier.requests(pairs)]
    return _commit(client, keys, lists.passages, "smollm2_rvr")


@contextmanager
def _local_client() -> Iterator[Client]:
    """Client of the local LLM, at the server of ``make llm`` or one started for the time."""
    with local_server.serve() if not local_server.address() else nullcontext() as url:
        chosen = endpoint(ALIAS)
        if url:
            chosen = dataclasses.replace(chosen, base_url=url, base_url_env="")
        yield Client(chosen, ReplyStore(store_path(ALIAS)))


def _commit(
    client: Client, keys: Iterable[str], passages: Iterable[Passage], name: str
) -> Committed:
    """Write the replies to these keys to ``data/recorded/<name>.jsonl``, with their header."""
    header = {**client.describe(), "date": datetime.now(UTC).date().isoformat()}
    where = paths.root() / "data" / "recorded" / f"{name}.jsonl"
    where.parent.mkdir(exist_ok=True)
    return commit_replies(client.store, keys, passages, where, header)


RECORDS = {"audit": record_audit, "pipeline": record_pipeline, "rvr": record_rvr}
