#!/usr/bin/env python3
"""Runs a package where the build that made it cannot be seen.

    hide_build.py BUILD PACKAGE

The package is copied to a folder of its own. In a mount namespace an empty file system covers the build; where namespaces are not
allowed, the loader is watched instead (LD_DEBUG=files): it must open nothing below the build.
"""
import os
import shutil
import subprocess
import sys
import tempfile

STEPS = ["--steps", "2", "--data", "random"]


def main():
    build, package = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        copy = shutil.copytree(package, os.path.join(folder, "copy.par"))
        script = 'mount -t tmpfs none "$0" && [ -z "$(ls -A "$0")" ] && echo "the build is out of sight" && shift 0 && exec "$@"'
        run = ["unshare", "-rm", "sh", "-c", script, build, os.path.join(copy, "rank"), *STEPS]
        if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode == 0:
            return subprocess.run(run, cwd=folder, check=False).returncode
        done = subprocess.run([os.path.join(copy, "rank"), *STEPS], cwd=folder, env={"LD_DEBUG": "files", "PATH": os.environ["PATH"]},
                              capture_output=True, text=True, check=False)
        if os.path.realpath(build) in done.stderr:
            sys.exit("the loader opened files of the build")
        print("the build is out of sight of the loader")
        print(done.stdout)
        return done.returncode


sys.exit(main())
