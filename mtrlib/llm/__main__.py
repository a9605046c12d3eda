"""``python -m mtrlib.llm serve|stop|convert``: a small language model on this machine."""

from __future__ import annotations

import argparse
import signal

from mtrlib.errors import EndpointError, InputError, run_main
from mtrlib.llm.convert import convert
from mtrlib.llm.local_server import address, base_url, end, smollm2_server
from mtrlib.llm.server_state import noted, running


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and run the command."""
    parser = argparse.ArgumentParser(prog="python -m mtrlib.llm", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="serve SmolLM2 until Ctrl-C; later processes find it")
    commands.add_parser("stop", help="end the server that `serve` keeps running")
    commands.add_parser("convert", help="make the model that is served, once")
    command = parser.parse_args(arguments).command
    if command == "serve":
        _serve()
    elif command == "stop":
        _stop()
    else:
        print(convert())
    return 0


def _serve() -> None:
    if url := address():
        raise InputError(
            f"a local server runs already at {url}. Mend: use it, or end it with "
            "`python -m mtrlib.llm stop`."
        )
    # a closed terminal or a plain kill must not leave the server behind; SIGINT is named too,
    # because in the background of a script it is ignored from the start
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    try:
        with smollm2_server() as server, noted(server.process, server.port):
            print(f"{server.base_url}  (Ctrl-C ends it)", flush=True)
            code = server.process.wait()
    except KeyboardInterrupt:
        code = 0
    if code < 0 and -code not in (signal.SIGINT, signal.SIGTERM):
        raise EndpointError(
            f"the local server was ended by signal {-code}; 9 may be want of memory."
        )
    print("the local server has ended")


def _stop() -> None:
    found = running()
    process = found.process() if found else None
    if found is None or process is None:
        print("no local server is running")
        return
    end(process)
    print(f"ended the server at {base_url(found.port)}")


if __name__ == "__main__":
    run_main(main)
