"""mtrlib: can I trust this retrieval number, and what would raise it?

Reproduces MTR-Suite, RVR and a practitioner's method of query rewriting as numbered
notebooks over this library. Import what you need from the sub-packages; nothing heavy
(torch, transformers, faiss) is imported before a cache miss asks for it.
"""

import warnings

# Imported inside a kernel without ipywidgets, tqdm.auto warns into the notebook's output.
warnings.filterwarnings("ignore", message="IProgress not found")

__version__ = "0.1.0"
