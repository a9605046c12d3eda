"""SmolLM2 from its packed GGUF file to a plain Llama folder that a server can load."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from mtrlib import paths
from mtrlib.data.fetch import fetch
from mtrlib.data.registry import entry
from mtrlib.errors import EndpointError

MODEL = "smollm2"  # entry of the registry, last folder of the path, and name that is served
GGUF = "model.gguf"
RECIPE = 1  # raise it when the folder's content changes for the same file and library


def converted_model() -> Path:
    """Folder of the plain model, named ``smollm2``; made on the first call.

    A child process converts, so that the caller does not keep the memory: 1.3 GB for
    about 20 s. The folder takes 0.5 GB of the user cache.

    Raises
    ------
    FetchError
        The GGUF file cannot be had.
    EndpointError
        The conversion failed; the message ends with what it last said.
    """
    folder = _target()
    if folder.is_dir():
        return folder
    fetch(entry(MODEL))  # here, where its progress is seen
    print(f"converting {MODEL} once: about 20 s and 1.3 GB of memory", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "mtrlib.llm", "convert"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )
    if done.returncode != 0 or not folder.is_dir():
        said = done.stderr.strip().splitlines()[-5:] or ["nothing was said"]
        raise EndpointError(
            f"{MODEL} could not be converted (exit code {done.returncode}): {' | '.join(said)}. "
            "Mend: free 1.5 GB of memory and 0.6 GB of disk, run `python -m mtrlib.llm convert`."
        )
    return folder


def convert() -> Path:
    """Convert in this process unless that was done before; the same folder.

    Written beside and renamed, so the folder is complete or absent. Two processes may convert
    at once: the first to finish wins, and neither touches a folder that is in use.
    """
    folder = _target()
    if folder.is_dir():
        return folder
    source = fetch(entry(MODEL))
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".converting-") as scratch:
        fresh = Path(scratch) / MODEL
        _save_plain(source, fresh)
        try:
            fresh.replace(folder)
        except OSError:
            if not folder.is_dir():
                raise
    return folder


def _target() -> Path:
    digest = entry(MODEL).members[0].sha256
    key = f"{str(digest)[:12]}-transformers-{version('transformers')}-{RECIPE}"
    return paths.cache("models", key) / MODEL


def _save_plain(source: Path, target: Path) -> None:
    """Unpack the weights to float32 and save them as an ordinary Llama model.

    The loaded model cannot be saved as it is: its configuration says GGUF, so a loader would
    look for packed weights again. Hence the copy into a model without that entry.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    packed = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF)
    unwanted = {"quantization_config", "_name_or_path", "_model_name_or_path"}
    settings = {k: v for k, v in packed.config.to_dict().items() if k not in unwanted}
    settings["architectures"] = [LlamaForCausalLM.__name__]
    with torch.device("meta"):  # no second set of weights in memory
        plain = LlamaForCausalLM(LlamaConfig.from_dict(settings))
    plain.load_state_dict(packed.state_dict(), assign=True)
    plain.tie_weights()
    # without this the server answers greedily whatever temperature is asked
    plain.generation_config.do_sample = True
    plain.save_pretrained(target)
    AutoTokenizer.from_pretrained(source, gguf_file=GGUF).save_pretrained(target)
