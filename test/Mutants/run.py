#!/usr/bin/env python3
"""Plants faults in a copy of the sources, one at a time, and shows which test catches each.

    run.py [NAME...] [--dir DIR] [--jobs N]     all mutants, or those whose name contains a NAME; copy and build lie in DIR (build/mutants)
    run.py --check                              only: does every mutant still apply, and do its tests exist? Builds nothing

A mutant is a table of one of the .toml files beside this script (README.md). Before the first mutant all tests that are named run on the unchanged
copy and must pass. Exits 1 if a mutant survived, does not apply or does not build.
"""
import argparse
import fnmatch
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"


def load():
    mutants = []
    for file in sorted(HERE.glob("*.toml")):
        mutants += tomllib.loads(file.read_text())["mutant"]
    return mutants


# A test is named by its path under test/ (run by lit) or as Unit/FOLDER/FILTER, a filter of GoogleTest.


def split_unit(test):
    kind, *rest = test.split("/", 2)
    return rest if kind == "Unit" else None


# --------------------------------------------------------------------------------------------------------------------
# Do they apply?
# --------------------------------------------------------------------------------------------------------------------


def unit_names(folder):
    names = []
    for file in (ROOT / "test/Unit" / folder).rglob("*.cpp"):
        found = re.findall(r"^TEST(_F|_P)?\((\w+),\s*(\w+)\)", file.read_text(), re.M)
        names += [f"P/{suite}.{name}/0" if kind == "_P" else f"{suite}.{name}" for kind, suite, name in found]
    return names


def test_exists(test):
    unit = split_unit(test)
    if not unit:
        return (ROOT / "test" / test).exists()
    folder, patterns = unit
    names = unit_names(folder)
    return all(fnmatch.filter(names, pattern) for pattern in patterns.split(":"))


def problem_of(mutant):
    """Why a mutant cannot be planted, or None."""
    path = ROOT / mutant["file"]
    count = path.read_text().count(mutant["old"]) if path.exists() else 0
    if count != 1:
        return f"stale: `old` is {count} times in {mutant['file']}, expected once"
    if mutant["old"] == mutant["new"]:
        return "`old` and `new` are equal"
    missing = [test for test in mutant["tests"] if not test_exists(test)]
    return f"there is no test {missing[0]}" if missing else None


def check(mutants):
    names = [mutant["name"] for mutant in mutants]
    problems = [f"{name}: the name is there twice" for name in sorted(set(names)) if names.count(name) > 1]
    problems += [f"{mutant['name']}: {why}" for mutant in mutants if (why := problem_of(mutant))]
    for text in problems:
        print(text)
    print(f"{len(mutants)} mutants, {len(problems)} problems")
    return 1 if problems else 0


# --------------------------------------------------------------------------------------------------------------------
# The copy
# --------------------------------------------------------------------------------------------------------------------


def write_if_changed(path, content):
    """Times of unchanged files stay, so that only what differs is built again."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# What tests name beside tools, and its target.
OTHER_TARGETS = {"planner-benchmark": "planner-benchmark", "standin": "runtime/standin/all"}


def targets_of(test):
    """What a test needs: a folder of unit tests, or the tools of a text; those that a script calls are not seen there."""
    if unit := split_unit(test):
        return {f"test/Unit/{unit[0]}/all"}
    path = ROOT / "test" / test
    every = " ".join(["%python", *OTHER_TARGETS])  # a folder of tests may need every tool
    text = path.read_text() if path.is_file() else every
    others = {target for word, target in OTHER_TARGETS.items() if word in text}
    if "%python" in text:
        return {"tools/all", "par-random-graph"} | others
    return {tool.name for tool in (ROOT / "tools").glob("par-*") if tool.name in text} | others


class Copy:
    """A copy of the working tree with a build of its own."""

    def __init__(self, folder, jobs):
        self.root, self.build, self.jobs = folder, folder / "build", jobs
        self.limits = {}  # test → seconds after which it hangs
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(folder),
                                CCACHE_SLOPPINESS="pch_defines,time_macros,include_file_mtime,include_file_ctime")

    def synchronize(self):
        self.root.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                capture_output=True, check=True, text=True).stdout
        wanted = {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
        for name in wanted:
            write_if_changed(self.root / name, (ROOT / name).read_bytes())
            (self.root / name).chmod((ROOT / name).stat().st_mode)
        for top in self.root.iterdir():
            for path in [top, *top.rglob("*")] if top != self.build else []:
                if path.is_file() and str(path.relative_to(self.root)) not in wanted:
                    path.unlink()

    def configure(self):
        if not (self.build / "build.ninja").exists():
            subprocess.run([str(self.root / "test/configure.sh"), str(self.build)], check=True, env=self.environment,
                           stdout=subprocess.DEVNULL)

    def make(self, tests):
        """Builds what the tests need; returns the compiler's error or None."""
        targets = set().union(*map(targets_of, tests))
        done = subprocess.run(["ninja", "-C", str(self.build), *(["-j", str(self.jobs)] if self.jobs else []), *sorted(targets)],
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return None if done.returncode == 0 else done.stdout[-2000:]

    def command(self, test):
        unit = split_unit(test)
        if not unit:
            return [sys.executable, LIT, "-sv", "--max-failures=1", str(self.build / "test" / test)]
        folder, pattern = unit
        return [str(self.find_program(folder, pattern)), f"--gtest_filter={pattern}", "--gtest_fail_fast"]

    def find_program(self, folder, pattern):
        """Of a folder's programs the one that has such tests."""
        for program in sorted((self.build / "test/Unit" / folder).glob("*Tests")):
            listed = subprocess.run([str(program), f"--gtest_filter={pattern}", "--gtest_list_tests"], env=self.environment,
                                    capture_output=True, text=True)
            if re.search(r"^  ", listed.stdout, re.M):
                return program
        raise SystemExit(f"no program in test/Unit/{folder} has tests {pattern}")

    def failure_of(self, test):
        """The name of the first test that fails, or None."""
        process = subprocess.Popen(self.command(test), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   env=self.environment, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=self.limits.get(test))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"{test} (hangs)"
        if process.returncode == 0:
            return None
        named = re.search(r"^\[  FAILED  \] ([\w/.]+)", output, re.M) or re.search(r"^FAIL: par :: (\S+)", output, re.M)
        ran = re.findall(r"^\[ RUN      \] ([\w/.]+)", output, re.M)  # a crash names no failure
        return named.group(1) if named else ran[-1] if ran else test

    def first_failure(self, tests):
        return next((failed for failed in map(self.failure_of, tests) if failed), None)


# --------------------------------------------------------------------------------------------------------------------
# Run
# --------------------------------------------------------------------------------------------------------------------


def examine(copy, mutant):
    """(verdict, is the mutant caught)"""
    if why := problem_of(mutant):
        return why, False
    source = copy.root / mutant["file"]
    original = source.read_text()
    source.write_text(original.replace(mutant["old"], mutant["new"]))
    try:
        if error := copy.make(mutant["tests"]):
            return "does not build\n" + error, False
        failed = copy.first_failure(mutant["tests"])
        return (f"caught by {failed}", True) if failed else ("SURVIVED", False)
    finally:
        source.write_text(original)


def baseline_passes(copy, mutants):
    tests = list(dict.fromkeys(test for mutant in mutants for test in mutant["tests"]))
    if error := copy.make(tests):
        print("the unchanged copy does not build\n" + error)
        return False
    for test in tests:
        begin = time.monotonic()
        if failed := copy.failure_of(test):
            print(f"the unchanged copy fails {failed}")
            return False
        copy.limits[test] = 60 + 10 * (time.monotonic() - begin)
    print(f"the unchanged copy passes {len(tests)} tests and filters", flush=True)
    return True


def run(mutants, folder, jobs):
    copy = Copy(folder, jobs)
    copy.synchronize()
    copy.configure()
    if not baseline_passes(copy, mutants):
        return 1
    missed = 0
    for mutant in mutants:
        begin = time.monotonic()
        verdict, caught = examine(copy, mutant)
        missed += not caught
        print(f"{mutant['name']} | {mutant['why']} | {verdict} | {time.monotonic() - begin:.0f} s", flush=True)
    print(f"{len(mutants) - missed} of {len(mutants)} mutants caught")
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--jobs", type=int, help="of ninja")
    args = parser.parse_args()
    mutants = [mutant for mutant in load() if not args.names or any(name in mutant["name"] for name in args.names)]
    if not mutants:
        parser.error("no mutant has such a name")
    return check(mutants) if args.check else run(mutants, args.dir.resolve(), args.jobs)


if __name__ == "__main__":
    sys.exit(main())
