"""MTR-Pipeline: from documents to a conversational benchmark (MTR-Suite)."""
