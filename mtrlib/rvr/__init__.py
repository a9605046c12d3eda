"""RVR (arXiv 2602.18425): retrieve, verify, retrieve, for questions with many answers.

What the paper leaves open, and what is done here:

=============================== ==========================================================
open                            here
=============================== ==========================================================
merge order                     accepted passages first, round by round and by rank, then the
                                last list; nothing is sorted by score (:mod:`~mtrlib.rvr.merge`)
filler                          none; ``fill`` takes rejected ones of round 1, flagged
context for T > 2               ``context_policy``: oldest, newest or best
masking of passages seen        none; ``seen="mask"`` passes over all that have a verdict
verifying the last list         no, so T rounds cost at most (T - 1) B verdicts
budget                          B per round
D_r with m = 0                  included, as the interval for m says (:mod:`~mtrlib.rvr.examples`)
unit of the 50,000 steps        optimiser steps here
learning rate per encoder       Contriever's from the paper, Qwen3's from its launch script, INF's
                                assumed to be Qwen3's (:mod:`~mtrlib.rvr.backbones`)
prompt of the verifier          ours, ``prompts/verify.*.txt``; it does not ask for novelty
number that "no verifier" takes M, the context size (:class:`~mtrlib.rvr.verifiers.NoVerifier`)
level at which answers count    all four public rules, ``LIST_RULE`` chooses
                                (:mod:`mtrlib.evaluation.multi_answer`)
corpus of QUEST                 not known; its own documents
=============================== ==========================================================
"""
