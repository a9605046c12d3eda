"""The runs behind the tables of RVR: every system with every verifier, and the baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from mtrlib.data.list_sets import LIST_MINI
from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.llm.client import open_client
from mtrlib.llm.endpoint_registry import endpoint, endpoints
from mtrlib.profiles import Profile
from mtrlib.reporting.rvr_grid import NO_VERIFIER, SYSTEMS, Grid, rvr_settings, trained_systems
from mtrlib.reporting.rvr_retrievers import Retrievers
from mtrlib.reporting.rvr_verifiers import LOCAL, Verifiers, best_local
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.retrieval.search import searcher
from mtrlib.rvr.baselines import VectorSpace, mmr, single_round
from mtrlib.rvr.feedback import rm3, rocchio
from mtrlib.rvr.llm_verifier import LlmVerifier
from mtrlib.rvr.settings import Verifier

LEXICAL = "bm25"
RECORDED = "smollm2"  # whose replies on the first lists are committed
RECORDED_BUDGET = 10  # passages of each list that it was asked about: a reply takes a second
DEPTH_FACTOR = 5  # lists that MMR re-ranks are this many times as long as its output


def new_grid(retrievers: Retrievers, profile: Profile) -> Grid:
    """An empty grid over the questions of the reported split."""
    return Grid(retrievers, profile, retrievers.lists.questions[profile.LIST_SPLIT])


def new_verifiers(retrievers: Retrievers, profile: Profile) -> Verifiers:
    """Verifiers for a list set; the first available base encoder gives the calibration pairs."""
    encoder = next(iter(retrievers.trained), "")
    if not encoder:
        raise InputError(
            f"none of the encoders can be had: {retrievers.unavailable}. Mend: ENCODERS."
        )
    return Verifiers(retrievers.lists, retrievers.searcher(encoder), profile)


def chosen_verifier(quality: pd.DataFrame, profile: Profile) -> str:
    """The verifier that the findings are read with: an endpoint's, else the best local one."""
    named = [name for name in profile.VERIFIERS if name in endpoints()]
    if named:
        return named[0]
    if quality.empty:
        raise InputError("VERIFIERS names neither an endpoint nor a local judge. Mend: add one.")
    return best_local(quality)


def local_names(profile: Profile) -> list[str]:
    """The local judges among the profile's verifiers."""
    return [name for name in profile.VERIFIERS if name in LOCAL]


def _make(verifiers: Verifiers, name: str, profile: Profile, encoder: str) -> Verifier:
    """A fresh verifier; ``none`` accepts as many passages unread as join the question."""
    return verifiers.make(name, accept=max(1, rvr_settings(profile, encoder).context))


def run_systems(
    grid: Grid, verifiers: Verifiers, names: Sequence[str], systems: Sequence[str] = ()
) -> None:
    """Single rounds and loops of every encoder, each loop with every verifier.

    Parameters
    ----------
    systems : of :data:`mtrlib.reporting.rvr_grid.SYSTEMS`; all that were trained by default.
    """
    for encoder in grid.retrievers.trained:
        for system in systems or trained_systems(grid.profile):
            if not SYSTEMS[system][1]:
                grid.single(encoder, system)
                continue
            for name in names:
                grid.loop(encoder, system, _make(verifiers, name, grid.profile, encoder))


def run_baselines(grid: Grid) -> None:
    """What needs no verifier: BM25, its expansion (RM3), and MMR and Rocchio per encoder."""
    lists, k = grid.retrievers.lists, grid.profile.LIST_K
    bm25 = searcher(LEXICAL, lists.passages)
    grid.add(
        LEXICAL, "base_single", NO_VERIFIER, single_round(grid.questions, bm25, lists.by_id, k)
    )
    grid.add(LEXICAL, "rm3", NO_VERIFIER, rm3(grid.questions, bm25, lists.passages, k))
    for encoder in grid.retrievers.trained:
        space = VectorSpace(encoder, lists.passages)
        depth = DEPTH_FACTOR * k
        grid.add(encoder, "mmr", NO_VERIFIER, mmr(grid.questions, space, k, depth=depth))
        grid.add(encoder, "rocchio", NO_VERIFIER, rocchio(grid.questions, space, k))


def settings_table(profile: Profile, encoders: Sequence[str]) -> pd.DataFrame:
    """The loop's settings per encoder, as they are used."""
    rows = {encoder: vars(rvr_settings(profile, encoder)) for encoder in encoders}
    prompts = {encoder: retriever_spec(encoder).query_prompt for encoder in encoders}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("encoder")
    return table.assign(query_prompt=[repr(prompts[e]) for e in table.index])


def makers(
    verifiers: Verifiers, names: Sequence[str], profile: Profile, encoder: str
) -> dict[str, Callable[[], Verifier]]:
    """Name -> makes a fresh verifier, for sweeps."""
    return {name: partial(_make, verifiers, name, profile, encoder) for name in names}


def run_recorded(grid: Grid, verifiers: Verifiers, systems: Sequence[str]) -> None:
    """The local LLM as verifier, from the committed replies alone.

    They were recorded on the first lists of the untrained encoder over list-mini (``make
    record``), which are the same on every machine; on other sets nothing is run.
    """
    for system in systems if grid.retrievers.lists.name == LIST_MINI else ():
        verifier = LlmVerifier(
            f"{RECORDED}, B = {RECORDED_BUDGET}", open_client(RECORDED, replay_only=True)
        )
        encoder = next(iter(grid.retrievers.trained))
        grid.loop(encoder, system, verifier, budget=RECORDED_BUDGET)


def first_pairs(
    retrievers: Retrievers, profile: Profile, budget: int
) -> list[tuple[ListQuestion, Passage]]:
    """What a verifier is asked in the first round of the untrained encoder."""
    lists, encoder = retrievers.lists, next(iter(retrievers.trained))
    questions = lists.questions[profile.LIST_SPLIT]
    base = retrievers.searcher(encoder)
    run = single_round(questions, base, lists.by_id, budget)
    return [(q, lists.by_id[i]) for q in questions for i in run.ids(q.question_id)]


def provenance(names: Sequence[str]) -> str:
    """What a manifest says about the verifiers that are endpoints: model and wire format."""
    used = [endpoint(name) for name in names if name in endpoints()]
    told = [f"verifier {e.alias}: model {e.model_alias}, {e.dialect or 'probed'}" for e in used]
    return "; ".join(told)


def cost_lines(
    verifiers: Verifiers, name: str, retrievers: Retrievers, profile: Profile
) -> list[str]:
    """Dry run of an endpoint as verifier, over one first round; a local one costs no money."""
    verifier = verifiers.make(name, accept=1)
    if not isinstance(verifier, LlmVerifier):
        return [f"{name} runs here and costs no money"]
    plan = verifier.client.plan(verifier.requests(first_pairs(retrievers, profile, profile.BUDGET)))
    sent = "LIVE: missing replies are asked for" if profile.LIVE else "not LIVE: nothing is sent"
    return [f"{name}, one first round; {sent}", plan.table().to_string()]
