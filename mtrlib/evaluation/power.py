"""How much a benchmark can tell: significance levels, smallest visible difference, stability.

The unit is the conversation throughout, as in :mod:`mtrlib.evaluation.significance`. A pair
of systems that the data do not tell apart is "inconclusive", which is not "equal".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from mtrlib.errors import InputError

PAIR = ["benchmark", "view", "worse", "better"]
INCONCLUSIVE = "inconclusive"
FEWEST = 10  # conversations; resampling fewer says little about others


def asl_curve(pairs: pd.DataFrame) -> pd.DataFrame:
    """Achieved significance levels of all pairs of systems, smallest first.

    Where the curve crosses a level, ``share`` is the discriminative power at that level:
    the share of pairs whose (uncorrected) p-value is no larger.

    Parameters
    ----------
    pairs : of :func:`mtrlib.evaluation.discrimination.compare_systems`.

    Returns
    -------
    DataFrame
        ``benchmark, view, rank`` (1 = smallest), ``share`` = rank / pairs (fraction),
        ``worse, better, asl``.

    References
    ----------
    Sakai, "Evaluating evaluation metrics based on the bootstrap", 2006. Its levels come from
    a bootstrap test; ours from the paired randomisation test.
    """
    by = pairs.groupby(["benchmark", "view"], sort=False)["p_value"]
    curve = pairs[PAIR].assign(
        rank=by.rank(method="first").astype(int), pairs=by.transform("size"), asl=pairs["p_value"]
    )
    curve["share"] = curve["rank"] / curve["pairs"]
    curve = curve.assign(group=by.ngroup()).sort_values(["group", "rank"], ignore_index=True)
    return curve[["benchmark", "view", "rank", "share", "worse", "better", "asl"]]


def discriminative_power(pairs: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Share of pairs below alpha = 1 - confidence, per benchmark and view.

    Returns
    -------
    DataFrame
        ``benchmark, view, pairs, alpha, power`` (share with p < alpha, Sakai's figure) and
        ``power_holm`` (after Holm's correction over the pairs; fractions).
    """
    alpha = 1 - confidence
    below = pairs.assign(
        alpha=alpha, power=pairs["p_value"] < alpha, power_holm=pairs["p_holm"] < alpha
    )
    by = below.groupby(["benchmark", "view"], sort=False)
    columns = {"power": "mean", "power_holm": "mean"}
    table = by.agg(pairs=("worse", "size"), alpha=("alpha", "first")).join(by.agg(columns))
    return table.reset_index()


def minimum_detectable_difference(
    per_query: pd.DataFrame, pairs: pd.DataFrame, *, confidence: float, power: float = 0.8
) -> pd.DataFrame:
    """Smallest true difference of two means that the paired test would find, for every pair.

    ``mdd = (t(1 - alpha / 2) + t(power)) * se`` with G - 1 degrees of freedom, G
    conversations, and ``se`` the standard error of the mean paired difference over queries:
    ``se^2 = G / (G - 1) * sum over conversations of (s_c - mean * n_c)^2 / n^2``, where s_c
    sums the differences of conversation c and n_c counts its queries.

    Parameters
    ----------
    per_query : the table of :mod:`mtrlib.evaluation.discrimination`.
    pairs : of ``compare_systems`` on the same rows.
    confidence, power : fractions in (0, 1).

    Returns
    -------
    DataFrame
        One row per pair: ``benchmark, view, worse, better, difference``, ``mdd`` (for this
        pair alone), ``mdd_all`` (alpha divided by the number of pairs, the first and hardest
        step of Holm), ``n_conversations`` and the ``verdict`` of ``pairs``. Differences are
        fractions, NaN for a single conversation.

    Notes
    -----
    A property of the data, not of the difference seen: an inconclusive pair may truly differ
    by up to about this much.

    References
    ----------
    Bloom, "Minimum detectable effects", Evaluation Review, 1995; Sakai, "Topic set size
    design", 2016.
    """
    rows = []
    for key in _groups(pairs):
        own = pairs[(pairs["benchmark"] == key[0]) & (pairs["view"] == key[1])]
        sums, sizes = _by_conversation(per_query, *key)
        change = sums[own["better"]].to_numpy() - sums[own["worse"]].to_numpy()  # (G, n_pairs)
        g, n = len(sizes), sizes.sum()
        residual = change - change.sum(axis=0) / n * sizes[:, None]  # (G, n_pairs)
        with np.errstate(invalid="ignore", divide="ignore"):
            se = np.sqrt(np.float64(g) / (g - 1) * (residual**2).sum(axis=0)) / n  # (n_pairs,)
        tails = np.array([1 - confidence, (1 - confidence) / len(own)]) / 2
        reach = stats.t.ppf(1 - tails, g - 1) + stats.t.ppf(power, g - 1)  # alone, all pairs
        found = own[[*PAIR, "difference"]].assign(mdd=reach[0] * se, mdd_all=reach[1] * se)
        rows.append(found.assign(n_conversations=g, verdict=own["verdict"]))
    return pd.concat(rows, ignore_index=True)


def queries_to_separate(
    per_query: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
    power: float = 0.8,
    sizes: Sequence[int] = (),
    draws: int = 400,
) -> pd.DataFrame:
    """How many conversations tell two systems apart, in the order that all the data show.

    Conversations are drawn with replacement in growing numbers; each draw takes the paired
    randomisation test of this pair alone. The answer is the smallest number from which on
    at least ``power`` of the draws come out below alpha = 1 - confidence.

    Parameters
    ----------
    per_query, pairs : as for :func:`minimum_detectable_difference`.
    resamples : random sign patterns of each test, the same for all draws of one size.
    sizes : numbers of conversations to try, rising; by default 12 steps up to those at hand,
        so the answer is right to about one step (a third). More than those at hand is a guess
        that new conversations resemble the old ones.
    draws : draws per number of conversations.

    Returns
    -------
    DataFrame
        One row per pair: ``benchmark, view, worse, better, conversations, queries`` (missing
        where no number tried suffices; queries = conversations times their mean length),
        ``tried`` (the largest number), ``share`` (of draws told apart there), ``needs`` ("26
        conversations" or "more than 100 conversations") and the ``verdict`` of ``pairs``.

    Notes
    -----
    A pair may "differ" and yet need more than the data at hand: a second sample of the same
    size would then miss the difference too often.

    References
    ----------
    Sakai, "Topic set size design", 2016, asks the same of a model; here the data are drawn.
    """
    rows = []
    for row in pairs[[*PAIR, "verdict"]].to_dict("records"):
        sums, n_queries = _by_conversation(per_query, row["benchmark"], row["view"])
        change = (sums[row["better"]] - sums[row["worse"]]).to_numpy()  # (G,)
        g = len(change)
        steps = list(sizes) or sorted({int(x) for x in np.geomspace(min(5, g), g, 12).round()})
        found = [_share_apart(change, n, draws, resamples, 1 - confidence, rng) for n in steps]
        enough = np.minimum.accumulate(np.array(found[::-1]) >= power)[::-1]  # here and beyond
        least = steps[int(enough.argmax())] if enough.any() else None
        answer = {
            "conversations": least,
            "queries": None if least is None else round(least * n_queries.mean()),
            "tried": steps[-1],
            "share": found[-1],
            "needs": f"{least or f'more than {steps[-1]}'} conversations",
            "verdict": row.pop("verdict"),
        }
        rows.append(row | answer)
    return pd.DataFrame(rows).astype({"conversations": "Int64", "queries": "Int64"})


def tau_ap(estimated: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """AP correlation of rankings given as scores; mistakes at the top weigh more than below.

    ``tau_ap = 2 / (N - 1) * sum over i = 2..N of C(i) / (i - 1) - 1``, where C(i) counts the
    systems above rank i of ``estimated`` that ``reference`` too puts above that system.
    Not symmetric; in [-1, 1]. A pair tied in either is half right; systems tied in
    ``estimated`` are ranked as they come.

    Parameters
    ----------
    estimated : scores, higher is better, shape (..., n_systems).
    reference : scores of the same systems, shape (n_systems,).

    Returns
    -------
    np.ndarray
        One value per leading index of ``estimated``.

    References
    ----------
    Yilmaz, Aslam and Robertson, "A new rank correlation coefficient for information
    retrieval", 2008.

    Examples
    --------
    >>> float(tau_ap(np.array([1, 3, 2]), np.array([3, 2, 1])))  # order b c a, truth a b c
    0.0
    """
    order = np.argsort(-estimated, axis=-1, kind="stable")  # (..., N), best first
    mine, truth = np.take_along_axis(estimated, order, axis=-1), reference[order]
    agree = np.sign(mine[..., None, :] - mine[..., :, None])  # [i, j]: 1 where j is above i
    agree = agree * np.sign(truth[..., None, :] - truth[..., :, None])  # 1 right, -1 wrong
    n = estimated.shape[-1]
    above = np.tril(agree, -1).sum(axis=-1)[..., 1:] / np.arange(1, n)  # 2 C(i) / (i - 1) - 1
    return above.mean(axis=-1)


def rank_stability(
    per_query: pd.DataFrame, *, resamples: int, confidence: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Does the order of the systems survive other conversations of the same kind?

    Whole conversations are drawn with replacement, the systems ranked by their mean over the
    queries drawn, and that ranking compared with the one of all the data.

    Parameters
    ----------
    per_query : the table of :mod:`mtrlib.evaluation.discrimination`.

    Returns
    -------
    DataFrame
        Per benchmark and view: ``systems``, Kendall's ``tau`` (tau-b; 0 where all systems
        tie) and ``tau_ap``, each as the mean over resamples with its percentile interval
        (``_low, _high``), ``best``, ``same_best`` (share of resamples that it leads alone)
        and ``verdict``: "stable" where ``same_best`` reaches ``confidence`` over at least
        ``FEWEST`` conversations, else "inconclusive". It concerns the best system only.

    Raises
    ------
    InputError
        Fewer than two systems.
    """
    rows = []
    edges = [(1 - confidence) / 2, (1 + confidence) / 2]
    for key in _groups(per_query):
        sums, sizes = _by_conversation(per_query, *key)
        g, systems = sums.shape
        if systems < 2:
            raise InputError(f"{', '.join(key)}: one system has no rank. Mend: measure two.")
        own = (sums.to_numpy().sum(axis=0) / sizes.sum()).round(12)  # (n_systems,)
        counts = rng.multinomial(g, np.full(g, 1 / g), size=resamples)  # (resamples, G)
        again = (counts @ sums.to_numpy() / (counts @ sizes)[:, None]).round(12)
        kinds, which = np.unique(stats.rankdata(again, axis=1), axis=0, return_inverse=True)
        per_kind = np.array([stats.kendalltau(kind, own).statistic for kind in kinds])
        tau = np.nan_to_num(per_kind)[which.ravel()]  # (resamples,)
        spans = []
        for values in (tau, tau_ap(again, own)):
            spans += [values.mean(), *np.quantile(values, edges)]
        best = int(own.argmax())
        led = float((np.delete(again, best, axis=1).max(axis=1) < again[:, best]).mean())
        verdict = "stable" if led >= confidence and g >= FEWEST else INCONCLUSIVE
        rows.append((*key, systems, *spans, sums.columns[best], led, verdict))
    spans_of = ["tau", "tau_low", "tau_high", "tau_ap", "tau_ap_low", "tau_ap_high"]
    columns = ["benchmark", "view", "systems", *spans_of, "best", "same_best", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def _groups(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Benchmark and view of the rows, in order of appearance."""
    rows = table[["benchmark", "view"]].drop_duplicates()
    return list(rows.itertuples(index=False, name=None))


def _by_conversation(
    per_query: pd.DataFrame, benchmark: str, view: str
) -> tuple[pd.DataFrame, np.ndarray]:
    """Sum of values per conversation and system (G, n_systems), and queries of each (G,)."""
    part = per_query[(per_query["benchmark"] == benchmark) & (per_query["view"] == view)]
    full = part["query_id"].nunique() * part["system"].nunique()
    if len(part) != full or part.duplicated(["query_id", "system"]).any():
        raise InputError(
            f"{benchmark}, {view}: {len(part)} rows where every query under every system makes "
            f"{full}. Mend: score all systems against the same qrels, once."
        )
    by = part.groupby(["conversation_id", "system"])["value"].sum()
    sizes = part.groupby("conversation_id")["query_id"].nunique()
    return by.unstack(), sizes.to_numpy()


def _share_apart(
    change: np.ndarray, n: int, draws: int, resamples: int, alpha: float, rng: np.random.Generator
) -> float:
    """Share of draws of n conversations in which the pair differs in its own direction."""
    drawn = change[rng.integers(len(change), size=(draws, n))]  # (draws, n)
    signs = 1.0 - 2 * rng.integers(2, size=(resamples, n))  # (resamples, n)
    bar = np.abs(drawn.sum(axis=1)) - 1e-9 * np.abs(drawn).sum(axis=1)  # (draws,)
    extreme = (np.abs(signs @ drawn.T) >= bar).sum(axis=0)  # (draws,)
    p_values = (extreme + 1) / (resamples + 1)
    return float(((p_values < alpha) & (drawn.sum(axis=1) * change.sum() > 0)).mean())
