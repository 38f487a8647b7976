#!/usr/bin/env python3
"""Prints "PASSED FAILED" of a result file: lit's -o or GoogleTest's --gtest_output=json. Exits 1 if it is neither.

A test that was expected to fail and did counts as passed; one that could not run, timed out or passed against
expectation counts as failed; one that says it does not apply here counts as neither.
"""
import json
import sys

LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_IGNORED = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}


def count(results):
    if "testsuites" in results:
        ran = [test for suite in results["testsuites"] for test in suite["testsuite"] if test["result"] == "COMPLETED"]
        failed = sum("failures" in test for test in ran)
        return len(ran) - failed, failed
    codes = [test["code"] for test in results["tests"]]
    passed = sum(code in LIT_PASSED for code in codes)
    return passed, len(codes) - passed - sum(code in LIT_IGNORED for code in codes)


def main():
    with open(sys.argv[1]) as file:
        passed, failed = count(json.load(file))
    if passed + failed == 0:
        return 1
    print(passed, failed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
