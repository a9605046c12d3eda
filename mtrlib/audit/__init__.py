"""MTR-Eval: judge a benchmark on four metrics, and judge the judges (MTR-Suite, section 3)."""
