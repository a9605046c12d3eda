"""Which values a setting may take: one table of limits, checked before any work.

Names of benchmarks, retrievers, judges and verifiers are not here: files of the reader's own
and registries add to them, so each is checked where it is looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtrlib.errors import InputError

# lowest value of whole numbers; a PASSAGE_LIMIT, CONVERSATION_LIMIT or QUESTION_LIMIT of 0 is
# "all", a CONTEXT of 0 "as published"
LEAST = {
    "SEED": 0,
    "PASSAGE_LIMIT": 0,
    "CONVERSATION_LIMIT": 0,
    "QUESTION_LIMIT": 0,
    "TURN_LIMIT": 1,
    "RESAMPLES": 1,
    "OPTIONS": 2,
    "LIST_K": 1,
    "STEPS": 1,
    "ROUNDS": 1,
    "BUDGET": 1,
    "CONTEXT": 0,
}
MOST = {"SEED": 2**32 - 1}  # what the generators of all libraries take
WITHIN_DEPTH = ("K", "OWN_K")  # cutoffs of lists that are DEPTH long
CHOICES = {
    "VIEWS": ("last_turn", "user_turns", "full_history", "rewrite", "author_voice"),
    "LIST_SPLIT": ("train", "dev", "test"),
    "LIST_RULE": ("answers", "clusters", "passages", "all_gold"),
    "RECIPES": ("initial", "later", "joint"),
    "SEEN": ("allow", "mask"),
}
NOT_EMPTY = ("BENCHMARKS", "RETRIEVERS", "VIEWS", "JUDGES", "ENCODERS", "VERIFIERS")


def check(settings: Mapping[str, Any]) -> None:
    """Refuse settings that are out of range.

    Parameters
    ----------
    settings : name -> value of the right type, as in :class:`mtrlib.profiles.Profile`.

    Raises
    ------
    InputError
        Names the setting, its value and what is allowed.
    """
    for name in WITHIN_DEPTH:
        if not 1 <= settings[name] <= settings["DEPTH"]:
            raise InputError(
                f"{name}={settings[name]} must lie between 1 and DEPTH={settings['DEPTH']}."
            )
    if not 0 < settings["CONFIDENCE"] < 1:
        raise InputError(f"CONFIDENCE={settings['CONFIDENCE']} must lie between 0 and 1.")
    for name, least in LEAST.items():
        if settings[name] < least:
            raise InputError(f"{name}={settings[name]} must be at least {least}.")
    for name, most in MOST.items():
        if settings[name] > most:
            raise InputError(f"{name}={settings[name]} must be at most {most}.")
    for name, known in CHOICES.items():
        given = settings[name] if isinstance(settings[name], tuple) else (settings[name],)
        wrong = next((value for value in given if value not in known), None)
        if wrong is not None:
            raise InputError(f"{name}: {wrong!r} is unknown. Known: {', '.join(known)}.")
    for name in NOT_EMPTY:
        if not settings[name]:
            raise InputError(f"{name} is empty. Mend: name at least one.")
