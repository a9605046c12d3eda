"""Load the libraries the way notebooks and tests do, each group in a process of its own.

This is the last step of ``make env``, for two reasons. A pair of libraries that cannot live in one
process (two OpenMP runtimes, say) kills that process instead of raising, so it is found here and
named. And the first import of a library writes its bytecode, which the installer leaves out
because compiling all of it would take longer than the rest of the set-up.
"""

from __future__ import annotations

import os
import subprocess
import sys

GROUPS = {
    "torch and faiss in one process": """
import faiss, torch, sentence_transformers, sentence_transformers.sparse_encoder
import transformers.models.bert.modeling_bert, transformers.models.distilbert.modeling_distilbert
import numpy as np
index = faiss.IndexFlatIP(4)
index.add(np.eye(4, dtype=np.float32))
found = index.search(np.eye(4, dtype=np.float32), 1)[1].ravel().tolist()
assert found == [0, 1, 2, 3], f"faiss found {found}"
assert torch.eye(4).matmul(torch.ones(4)).sum().item() == 4
""",
    "notebooks, tables and figures": """
import ipykernel.ipkernel, ipykernel.zmqshell, matplotlib_inline.backend_inline
import nbclient, nbconvert, nbformat, nbstripout, papermill
import matplotlib.pyplot, numpy, pandas, scipy.stats, seaborn
import bm25s, mwparserfromhell, openai, pip._internal.cli.main, pooch, tokenizers, tqdm
import hypothesis, ir_measures, pytest, _pytest.pytester
import openai.resources.chat, ipykernel.kernelapp, jupyter_client.manager
""",
}
MEND = "run `make distclean env`; if it stays, use environment.yml, where both come from one source"


def main() -> int:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"HF_HUB_OFFLINE": "1", "MPLBACKEND": "agg"}
    started = {
        name: subprocess.Popen(
            [sys.executable, "-c", code], env=env, stderr=subprocess.PIPE, text=True
        )
        for name, code in GROUPS.items()
    }
    failed = 0
    for name, process in started.items():
        _, errors = process.communicate()
        if process.returncode:
            failed = 1
            reason = (errors.strip().splitlines() or ["no message"])[-1]
            print(f"error: {name}: exit {process.returncode}, {reason}. Mend: {MEND}.")
    return failed


if __name__ == "__main__":
    sys.exit(main())
