"""Query rewriting: the upper bound first, then why queries fail, then one method at a time.

The source is a practitioner's text (seed 004). Where it leaves a choice open, "[D]" marks the
decision of this project, here and in ``data/gates.yaml``.
"""
