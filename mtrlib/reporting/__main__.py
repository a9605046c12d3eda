"""``python -m mtrlib.reporting``: run, check, compare, verify, refresh, html, record."""

from __future__ import annotations

import argparse
from pathlib import Path

from mtrlib import paths
from mtrlib.errors import ComparisonError, run_main
from mtrlib.reporting import compare, jobs, notebook_runner, pages, parameters, recording, verify


def _run(args: argparse.Namespace) -> None:
    given = parameters.read_file(args.parameters) if args.parameters else {}
    given |= parameters.parse_text(args.param)
    notebooks = jobs.select(args.nb)
    planned = jobs.plan(notebooks, args.profile, given)
    outcomes = notebook_runner.execute_all(planned)
    width = max(len(outcome.name) for outcome in outcomes)
    print(f"\n{'notebook':<{width}}  seconds  run")
    for outcome in outcomes:
        print(f"{outcome.name:<{width}}  {outcome.seconds:7.1f}  {outcome.tag}")
    if any(job.profile.tag != "default" for job in planned):
        print("committed results belong to `default` without overrides: nothing compared")
    elif notebooks != jobs.select():
        print("not every notebook ran: nothing compared")
    else:
        _compare(args)


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
    verify.verify(images=False if args.no_images else None)


def _refresh(args: argparse.Namespace) -> None:
    for path in verify.refresh(args.nb):
        print(f"replaced {path.relative_to(paths.root())}")


def _html(args: argparse.Namespace) -> None:
    index = pages.render(jobs.select(args.nb), paths.build("html"))
    print(f"open {index.relative_to(paths.root())}")


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
    run.add_argument("--profile", help="smoke, default or paper (the notebooks' own if left out)")
    run.add_argument("--param", default="", metavar="TEXT", help='"K=10 BENCHMARKS=[a,b]"')
    run.add_argument("--parameters", type=Path, metavar="FILE", help="YAML or JSON of values")
    run.set_defaults(action=_run)

    check = commands.add_parser("check", help="form of the committed notebooks, without a run")
    check.set_defaults(action=_check)

    numbers = commands.add_parser("compare", help="numbers of build/default with the committed")
    numbers.set_defaults(action=_compare)

    proof = commands.add_parser("verify", help="form, fresh run byte by byte, numbers")
    proof.add_argument("--no-images", action="store_true", help="leave pictures out")
    proof.set_defaults(action=_verify)

    renew = commands.add_parser("refresh", help="run afresh, replace what is committed")
    renew.set_defaults(action=_refresh)

    html = commands.add_parser("html", help="pages of the committed notebooks in build/html/")
    html.set_defaults(action=_html)

    record = commands.add_parser("record", help="ask the local LLM what the default run replays")
    record.add_argument("what", nargs="*", choices=list(recording.RECORDS), help="only these")
    record.set_defaults(action=_record)

    for command in (run, check, renew, html):
        command.add_argument("--nb", default="", metavar="NAMES", help='"03 00", all if empty')
    args = parser.parse_args(argv)
    args.action(args)


if __name__ == "__main__":
    run_main(main)
