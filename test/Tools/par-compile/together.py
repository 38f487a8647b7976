"""What happens beside a compilation, to its package and its linker: together.py MODEL FOLDER"""
import os
import shutil
import signal
import subprocess
import sys
import time

# Stands before the true linker: does what BESIDE says, then what it was asked for.
LINKER = """#!{python}
import os, signal, sys, time
exec(os.environ["BESIDE"])
os.execv({linker!r}, [{linker!r}] + sys.argv[1:])
"""

# As lld does, it takes the signal even where that was ignored.
LINKING = """
signal.signal(signal.SIGINT, signal.SIG_DFL)
open(os.environ["TMPDIR"] + "/../linking", "w").close()
time.sleep(0.3)
"""
ADDING = 'open(os.environ["TMPDIR"] + "/../work/out.par/notes.txt", "w").write("precious")'


class Place:
    """An empty folder with a model, in which compilations have a linker of ours and a TMPDIR of their own."""

    def __init__(self, model, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(f"{folder}/bin")
        os.makedirs(f"{folder}/tmp")
        os.makedirs(f"{folder}/work")
        with open(f"{folder}/bin/ld.lld-19", "w", encoding="utf-8") as file:
            file.write(LINKER.format(python=sys.executable, linker=shutil.which("ld.lld-19") or "/usr/lib/llvm-19/bin/ld.lld"))
        os.chmod(f"{folder}/bin/ld.lld-19", 0o755)
        self.folder, self.model, self.output = folder, model, f"{folder}/work/out.par"

    def start(self, beside="", ignored=False):
        environment = {**os.environ, "BESIDE": beside, "TMPDIR": f"{self.folder}/tmp",
                       "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return subprocess.Popen(["par-compile", self.model, "--seq", "8", "--batch", "2", "-o", self.output], env=environment,
                                start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL))

    def finish(self, process):
        _, errors = process.communicate(timeout=60)
        assert not os.listdir(f"{self.folder}/tmp"), "something is left in TMPDIR"
        return process.returncode, errors

    def left(self):
        return sorted(os.listdir(f"{self.folder}/work"))

    def wait_for(self, name):
        deadline = time.monotonic() + 60
        while not os.path.exists(f"{self.folder}/{name}"):
            assert time.monotonic() < deadline, f"{name} never came"
            time.sleep(0.001)

    def check_package(self):
        assert self.left() == ["out.par"], self.left()
        subprocess.run(["par-run", self.output, "--steps", "0"], check=True, stdout=subprocess.DEVNULL)


def one_name(place):
    for _ in range(3):
        for process in [place.start() for _ in range(4)]:
            assert place.finish(process) == (0, ""), "one of four failed"
        place.check_package()
    print("one name: each of them ends with 0, and one whole package is there")


def added_meanwhile(place):
    status, errors = place.finish(place.start(ADDING))
    assert status == 1 and errors.endswith(
        "out.par: holds notes.txt, which is no part of the package and would be lost; move it away or choose another name\n"
    ), errors
    assert place.left() == ["out.par"] and "manifest.json" in os.listdir(place.output)
    os.remove(f"{place.output}/notes.txt")
    place.check_package()
    print("added meanwhile: kept, and so is the older package")


def linker_interrupted(place):
    for ignored, expected in ((False, -signal.SIGINT), (True, 0)):
        process = place.start(LINKING, ignored)
        place.wait_for("linking")
        os.killpg(process.pid, signal.SIGINT)
        status, errors = place.finish(process)
        assert (status, errors) == (expected, ""), (ignored, status, errors)
        place.check_package()
        os.remove(f"{place.folder}/linking")
    print("linker interrupted: quiet, and nothing is left; ignored: the package is there")


def killed(place):
    process = place.start(LINKING)
    place.wait_for("linking")
    process.kill()
    place.finish(process)
    left = place.left()
    assert len(left) == 2 and left[1].startswith("out.par.tmp-"), left
    print("killed: one folder beside the package is left")


def main():
    place = Place(*sys.argv[1:])
    for check in (one_name, added_meanwhile, linker_interrupted, killed):
        check(place)


main()
