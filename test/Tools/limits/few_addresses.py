"""few_addresses.py PACKAGE: par-run under many limits of addresses (ulimit -v) does a step, or says one line."""
import resource
import subprocess
import sys


def main():
    package, problems = sys.argv[1], []
    for limit in range(90_000, 300_000, 7_000):
        done = subprocess.run(["par-run", package, "--steps", "1", "--data", "random"], capture_output=True, text=True,
                              timeout=60, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit << 10, limit << 10)))
        lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        if (done.returncode, len(lines)) not in ((0, 0), (1, 1)):
            problems.append(f"{limit}: code {done.returncode}: {done.stderr}")
    print("\n".join(problems) or "one line each, or a step")


main()
