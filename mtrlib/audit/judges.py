"""Judges by name.

A judge of another kind is one more line in :data:`MAKERS`: a function that gets the
:class:`Workshop` and returns the judge. Any other name is the alias of an LLM endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from mtrlib.audit.cross_encoder import CrossEncoderJudge
from mtrlib.audit.feature_judge import FeatureJudge
from mtrlib.audit.items import ItemSet
from mtrlib.audit.judged_pairs import JudgedPair, answer_pairs, evidence_pairs
from mtrlib.audit.judging import Judge
from mtrlib.audit.llm_judge import LlmJudge
from mtrlib.audit.pair_features import PairFeatures, shared_features
from mtrlib.audit.reference import ReferenceJudge
from mtrlib.audit.simple_judges import LexicalJudge, MiniLmJudge
from mtrlib.data.authored.records import load_authored
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.schema import Benchmark
from mtrlib.errors import InputError
from mtrlib.llm.client import open_client
from mtrlib.llm.endpoint_registry import endpoints
from mtrlib.profiles import Profile

LEARNT_FROM = "mtr-mini"


class Workshop:
    """What judges are made of; each part is made on first use and shared between judges.

    Attributes
    ----------
    sets : all item sets that will be judged.
    """

    def __init__(self, sets: Sequence[ItemSet], profile: Profile) -> None:
        self.sets = tuple(sets)
        self.profile = profile

    @cached_property
    def features(self) -> dict[str, PairFeatures]:
        """Of each set's corpus by name of the set; of the training corpus under ``""``."""
        corpora = {s.name: s.passages for s in self.sets}
        found = shared_features({"": self._benchmark.passages, **corpora})
        found[""].begin_with(list({id(p.item): p.item for p in self.training["question"]}.values()))
        return found

    @cached_property
    def training(self) -> dict[str, list[JudgedPair]]:
        """Labelled pairs of mtr-mini, as far as the profile keeps it, by query."""
        judged = load_authored().judged[LEARNT_FROM]
        return {
            "question": evidence_pairs(self._benchmark, judged),
            "answer": answer_pairs(self._benchmark, judged),
        }

    @cached_property
    def _benchmark(self) -> Benchmark:
        return load_benchmark(LEARNT_FROM, self.profile)


MAKERS: dict[str, Callable[[Workshop], Judge]] = {
    "reference": lambda shop: ReferenceJudge(),
    "lexical": lambda shop: LexicalJudge(shop.sets),
    "minilm": lambda shop: MiniLmJudge(shop.sets, shop.features),
    "feature": lambda shop: FeatureJudge(
        shop.sets, shop.features, shop.training, shop.features[""], seed=shop.profile.SEED
    ),
    "cross-encoder": lambda shop: CrossEncoderJudge(
        shop.sets, shop.training, seed=shop.profile.SEED
    ),
}


def build_judges(names: Iterable[str], sets: Sequence[ItemSet], profile: Profile) -> list[Judge]:
    """The judges of these names, in order, for the items of these sets.

    Nothing is encoded, trained or sent before a judge is asked. An LLM judge replays what is
    stored, and asks its endpoint only under the profile's ``LIVE``.

    Raises
    ------
    InputError
        An unknown judge, or two sets of one name.
    """
    shop, names = Workshop(sets, profile), list(names)
    known = endpoints()
    for name in names:
        if name not in MAKERS and name not in known:
            raise InputError(
                f"judge {name!r} is unknown. Known judges: {', '.join(MAKERS)}; endpoints: "
                f"{', '.join(known)}. Mend: add an endpoint in the file named by MTR_ENDPOINTS."
            )
    if len({s.name for s in sets}) < len(sets):
        raise InputError("two item sets have one name. Mend: rename one; judges go by name.")
    return [MAKERS[name](shop) if name in MAKERS else _llm(name, profile) for name in names]


def _llm(name: str, profile: Profile) -> Judge:
    return LlmJudge(name, open_client(name, replay_only=not profile.LIVE))
