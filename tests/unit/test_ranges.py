"""Settings out of range stop before any work; choices are those of the modules that use them."""

from __future__ import annotations

from typing import get_args

import pytest

from mtrlib import profiles, ranges
from mtrlib.data.authored.list_mini import SPLITS
from mtrlib.errors import InputError
from mtrlib.evaluation.multi_answer import RULES
from mtrlib.profiles import Profile
from mtrlib.retrieval.query_text import VIEWS
from mtrlib.rvr.examples import RECIPES
from mtrlib.rvr.settings import Seen


@pytest.mark.parametrize(("name", "least"), ranges.LEAST.items())
def test_whole_numbers_have_a_least_value(name: str, least: int):
    assert getattr(profiles.load("default", **{name: least}), name) == least
    with pytest.raises(InputError, match=f"^{name}={least - 1} must be at least {least}.$"):
        profiles.load("default", **{name: least - 1})


def test_seeds_fit_every_generator():
    assert profiles.load("default", SEED=2**32 - 1).SEED == 2**32 - 1
    with pytest.raises(InputError, match=r"^SEED=4294967296 must be at most 4294967295\.$"):
        profiles.load("default", SEED=2**32)


@pytest.mark.parametrize("name", ranges.WITHIN_DEPTH)
@pytest.mark.parametrize("value", [0, 11])
def test_cutoffs_lie_within_the_lists(name: str, value: int):
    small = {"DEPTH": 10, **dict.fromkeys(ranges.WITHIN_DEPTH, 10)}
    assert profiles.load("default", **small).DEPTH == 10
    with pytest.raises(InputError, match=f"^{name}={value} must lie between 1 and DEPTH=10"):
        profiles.load("default", **small | {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LIST_SPLIT", "tset"),
        ("LIST_RULE", "answer"),
        ("SEEN", "masked"),
        ("RECIPES", ["initial", "latter"]),
        ("VIEWS", ["last_turn", "all_turns"]),
    ],
)
def test_unknown_choices_name_the_known_ones(name: str, value: str | list[str]):
    wrong = value if isinstance(value, str) else value[-1]
    with pytest.raises(InputError, match=f"^{name}: '{wrong}' is unknown. Known: .*, "):
        profiles.load("default", **{name: value})


@pytest.mark.parametrize("name", ranges.NOT_EMPTY)
def test_lists_of_names_are_not_empty(name: str):
    with pytest.raises(InputError, match=f"^{name} is empty. Mend: name at least one.$"):
        profiles.load("default", **{name: []})


def test_nothing_need_be_trained():
    assert profiles.load("default", RECIPES=[]).RECIPES == ()


def test_choices_are_those_of_the_modules_that_use_them():
    assert {
        "VIEWS": VIEWS,
        "LIST_SPLIT": SPLITS,
        "LIST_RULE": RULES,
        "RECIPES": tuple(RECIPES),
        "SEEN": ("allow", "mask"),
    } == ranges.CHOICES
    assert set(get_args(Seen)) == set(ranges.CHOICES["SEEN"])


def test_every_profile_is_in_range_and_every_limit_is_a_setting():
    for profile in profiles.PROFILES.values():
        ranges.check(vars(profile))
    limited = {*ranges.LEAST, *ranges.MOST, *ranges.CHOICES, *ranges.NOT_EMPTY}
    assert limited.union(ranges.WITHIN_DEPTH) <= set(Profile.__dataclass_fields__)
    whole = {n for n, f in Profile.__dataclass_fields__.items() if f.type == "int"}
    assert whole == {*ranges.LEAST, *ranges.WITHIN_DEPTH, "DEPTH"}, "a whole number has no limit"
