"""The retrievers that RVR runs with: a base encoder and what training made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from mtrlib.data.authored.check_lists import main_articles
from mtrlib.data.authored.records import load_authored
from mtrlib.data.list_sets import LIST_MINI, ListSet
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import FetchError, InputError
from mtrlib.profiles import Profile
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.retrieval.search import Searcher, VectorSearcher
from mtrlib.rvr.backbones import backbone
from mtrlib.rvr.examples import RECIPES, Recipe
from mtrlib.rvr.training import TrainedRetriever, train_retriever
from mtrlib.rvr.training_questions import split_by_question, without
from mtrlib.rvr.weak_questions import weak_questions

BASE = "base"
WEAK_DEV = 0.04  # of the weak questions; a look at dev encodes all of their gold
DEV_SHARE = 0.02  # of the training questions, where the set's dev split is what is reported


@dataclass(frozen=True, eq=False)
class Material:
    """What retrievers are trained and stopped on.

    Attributes
    ----------
    train : questions with gold; none of dev, nor of what is reported.
    dev : sets by name; the first decides on stopping.
    weak : how the weak questions came about; empty where there are none.
    """

    train: tuple[ListQuestion, ...]
    dev: Mapping[str, tuple[ListQuestion, ...]]
    weak: pd.DataFrame = field(default_factory=pd.DataFrame)

    def counts(self) -> pd.DataFrame:
        """Questions and gold passages per part."""
        parts = {"train": self.train, **{f"dev, {name}": found for name, found in self.dev.items()}}
        rows = [(name, len(qs), sum(len(q.gold) for q in qs)) for name, qs in parts.items()]
        return pd.DataFrame(rows, columns=["part", "questions", "gold"]).set_index("part")


def training_material(lists: ListSet, profile: Profile) -> Material:
    """Questions to train on: the set's own, for list-mini with weak ones made from the corpus.

    No weak question is made from, or has gold in, an article that is a main source of a test
    question. Where the reported split is dev, dev questions are split off from train by their
    normal form.
    """
    reported = lists.questions[profile.LIST_SPLIT]
    train = list(lists.questions["train"])
    if lists.name == LIST_MINI:
        dev = lists.questions["dev"]
        made = weak_questions(
            lists.passages,
            main_articles(load_authored(), "test"),
            seed=profile.SEED,
            dev_share=WEAK_DEV,
        )
        kept = without([*train, *made.train], [*dev, *made.dev, *reported])
        return Material(tuple(kept), {"authored": dev, "weak": made.dev}, made.counts)
    dev = lists.questions["dev"] if profile.LIST_SPLIT != "dev" else ()
    if not dev:
        train, held_out = split_by_question(train, dev_share=DEV_SHARE, seed=profile.SEED)
        dev = tuple(held_out)
    kept = without(train, [*dev, *reported])
    return Material(tuple(kept), {"dev": tuple(without(dev, reported))} if dev else {})


@dataclass(eq=False)
class Retrievers:
    """Searchers over one list set, by encoder and recipe; nothing loads before it is asked for.

    Attributes
    ----------
    trained : encoder -> recipe -> what training gave.
    unavailable : encoder -> why it is left out.
    """

    lists: ListSet
    trained: Mapping[str, Mapping[str, TrainedRetriever]]
    unavailable: Mapping[str, str]
    _open: dict[str, Searcher] = field(default_factory=dict)

    def searcher(self, encoder: str, recipe: str = BASE) -> Searcher:
        """The base encoder, or that of a recipe; one object where training changed nothing."""
        spec = retriever_spec(encoder)
        if recipe != BASE:
            spec = self.trained[encoder][recipe].spec
        if spec.name not in self._open:
            self._open[spec.name] = VectorSearcher(spec, self.lists.passages)
        return self._open[spec.name]

    def model_hashes(self) -> dict[str, str]:
        """Weights behind every row, for manifests."""
        found = {}
        for encoder, recipes in self.trained.items():
            for recipe, made in recipes.items():
                found[encoder] = str(made.manifest["base_sha256"])
                found[f"{encoder}-{recipe}"] = str(made.manifest["model_sha256"])
        return found


def train_all(lists: ListSet, material: Material, profile: Profile) -> Retrievers:
    """Train every recipe on every encoder, or take the results from the cache.

    An encoder that cannot be had is left out with its reason; the others run.
    """
    trained: dict[str, dict[str, TrainedRetriever]] = {}
    unavailable = {}
    for encoder in profile.ENCODERS:
        own = backbone(encoder)
        try:
            trained[encoder] = {
                recipe: train_retriever(
                    retriever_spec(encoder),
                    material.train,
                    material.dev,
                    lists.passages,
                    own.training(
                        recipe, steps=profile.STEPS, context=profile.CONTEXT, seed=profile.SEED
                    ),
                )
                for recipe in recipes(profile.RECIPES)
            }
        except FetchError as error:
            unavailable[encoder] = str(error)
    return Retrievers(lists, trained, unavailable)


def recipes(names: Iterable[str]) -> list[Recipe]:
    """The recipes of these names.

    Raises
    ------
    InputError
        An unknown name.
    """
    found: list[Recipe] = []
    for name in names:
        known = next((r for r in RECIPES if r == name), None)
        if known is None:
            raise InputError(f"RECIPES: {name!r} is unknown. Known: {', '.join(RECIPES)}.")
        found.append(known)
    return found
