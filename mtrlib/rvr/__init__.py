"""RVR: retrieve, verify, retrieve again, for questions with many answers (arXiv 2602.18425)."""
