"""``python -m mtrlib.reporting``: run, check, compare, verify, refresh, record."""

from __future__ import annotations

import argparse
from pathlib import Path

from mtrlib import paths
from mtrlib.errors import ComparisonError, run_main
from mtrlib.reporting import (
    compare,
    jobs,
    matrix,
    notebook_index,
    notebook_runner,
    parameters,
    readme_block,
    recording,
    refresh,
    results,
    verify,
)


def _planned(args: argparse.Namespace) -> list[jobs.Job]:
    given = parameters.read_file(args.parameters) if args.parameters else {}
    given |= parameters.parse_text(args.param)
    return jobs.plan(jobs.select(args.nb), args.profile, given)


def _run(args: argparse.Namespace) -> None:
    planned = _planned(args)
    outcomes = notebook_runner.execute_all(planned)
    width = max(len(outcome.name) for outcome in outcomes)
    print(f"\n{'notebook':<{width}}  seconds  run")
    for outcome in outcomes:
        print(f"{outcome.name:<{width}}  {outcome.seconds:7.1f}  {outcome.tag}")
    _refuse_failures(planned)
    if any(job.profile.tag != "default" for job in planned):
        print("committed results belong to `default` without overrides: nothing compared")
    elif [job.path for job in planned] != jobs.select():
        print("not every notebook ran: nothing compared")
    else:
        _compare(args)


def _refuse_failures(planned: list[jobs.Job]) -> None:
    """A number of ours that misses the paper's in the paper's own setup ends the run."""
    for job in planned:
        folder = paths.build(job.profile.tag) / "results"
        if job.path.stem.startswith("90_") and (folder / f"{readme_block.TABLE}.json").is_file():
            failed = matrix.failures(results.load(readme_block.TABLE, folder)[0])
            if failed:
                raise ComparisonError(
                    "\n  ".join([f"{len(failed)} numbers miss the paper's", *failed])
                )


def _compare(args: argparse.Namespace) -> None:
    found = compare.compare_build(paths.build("default"))
    if len(found):
        raise ComparisonError(
            "\n  ".join(
                [f"{len(found)} differences from the committed numbers", *verify.lines(found)]
            )
        )
    print(f"fresh and committed numbers agree (within {compare.TOLERANCE} or as declared)")


def _check(args: argparse.Namespace) -> None:
    notebooks = jobs.select(args.nb)
    verify.check_form(notebooks)
    print(f"{len(notebooks)} notebooks in good form")


def _verify(args: argparse.Namespace) -> None:
    verify.verify(
        args.nb, profile=args.profile or "default", images=False if args.no_images else None
    )


def _refresh(args: argparse.Namespace) -> None:
    replaced = refresh.refresh(args.nb)
    if (paths.notebooks() / notebook_index.INDEX).is_file():
        replaced.append(notebook_index.refresh())
    for path in replaced:
        print(f"replaced {path.relative_to(paths.root())}")


def _record(args: argparse.Namespace) -> None:
    for name in args.what or recording.RECORDS:
        done = recording.RECORDS[name]()
        print(f"{name}: {done.kept} replies kept, {done.rejected} rejected, {done.missing} missing")


def main(argv: list[str] | None = None) -> None:
    """Read the command line and do what it says.

    Raises
    ------
    MtrError
        Its exit code is what the command returns.
    """
    parser = argparse.ArgumentParser(prog="python -m mtrlib.reporting", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run notebooks into build/, compare a default run")
    run.set_defaults(action=_run)

    plan = commands.add_parser(
        "plan", help="settle what `run` would do, and say only what is wrong"
    )
    plan.set_defaults(action=_planned)

    for command in (run, plan):
        command.add_argument(
            "--profile", help="smoke, default or paper (the notebooks' own if out)"
        )
        command.add_argument("--param", default="", metavar="TEXT", help='"K=10 BENCHMARKS=[a,b]"')
        command.add_argument("--parameters", type=Path, metavar="FILE", help="YAML or JSON values")

    check = commands.add_parser("check", help="form of the committed notebooks, without a run")
    check.set_defaults(action=_check)

    numbers = commands.add_parser("compare", help="numbers of build/default with the committed")
    numbers.set_defaults(action=_compare)

    proof = commands.add_parser("verify", help="form, fresh run byte by byte, numbers, README")
    proof.add_argument("--profile", help="default, or the one of an earlier `make reproduce`")
    proof.add_argument("--no-images", action="store_true", help="leave pictures out")
    proof.set_defaults(action=_verify)

    renew = commands.add_parser("refresh", help="run afresh, replace what is committed")
    renew.set_defaults(action=_refresh)

    record = commands.add_parser("record", help="ask the local LLM what the default run replays")
    record.add_argument("what", nargs="*", choices=list(recording.RECORDS), help="only these")
    record.set_defaults(action=_record)

    for command in (run, plan, check, proof, renew):
        command.add_argument("--nb", default="", metavar="NAMES", help='"03 00", all if empty')
    args = parser.parse_args(argv)
    args.action(args)


if __name__ == "__main__":
    run_main(main)
