#!/usr/bin/env python3
"""Random kills, stops, signals and double starts on folders of checkpoints, over threads, TCP and Open MPI.

    checkpoints.py --bin build/bin --seconds 600 [--transports threads,tcp,mpi] [--seed N]

An episode is one folder and one command with `--resume latest`, started again and again, disturbed most of the time, until it ends with 0. Then

- every start has ended within LIMIT seconds of its disturbance, and no process of it is left,
- the parameters are the same bytes as those of a run that nobody disturbed,
- what strangers had put into the folder is as it was, and nothing else is left there than whole checkpoints.

Prints a line per episode and a summary. Exit code 0, or 1 with what went wrong; then the episode's folder is kept.
"""
import argparse
import collections
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Run", "Helpers"))
import running  # pylint: disable=wrong-import-position

RANKS, STEPS, EVERY = 2, 40, 3
LIMIT = 60  # seconds, on a machine that does other work as well
CONFIG = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "quickstart", "llama.json")
SIGNALS = {"term": signal.SIGTERM, "int": signal.SIGINT, "hup": signal.SIGHUP}
ACTIONS = ["kill all", "kill one", "stop", "usr1", "double", "nothing"] + list(SIGNALS)


class Failed(Exception):
    pass


def content(path):
    with open(path, "rb") as file:
        return file.read()


def tree(folder):
    """name -> hash of everything in a folder"""
    found = {}
    for at, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(at, name), folder) + "/"] = ""
        for name in files:
            path = os.path.join(at, name)
            found[os.path.relpath(path, folder)] = hashlib.sha256(content(path)).hexdigest()
    return found


def processes(marker):
    """Ranks whose command line names the folder; not their launcher."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = content(f"/proc/{pid}/cmdline").decode(errors="replace").split("\0")
        except OSError:
            continue
        if os.path.basename(words[0]) == "par-run" and marker in words:
            found.append(int(pid))
    return found


def handles(pid, number):
    """Whether a process has a handler for a signal: none has one before it runs its own code."""
    try:
        status = content(f"/proc/{pid}/status").decode()
    except OSError:
        return False
    return bool(int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Start:
    """One start of a job: the processes that the user or a launcher began."""

    def __init__(self, transport, words, folder, environment):
        self.log = tempfile.TemporaryFile()
        self.marker = folder
        self.size = 1 if transport == "threads" else RANKS
        if transport == "tcp":
            environment = dict(environment, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(running.free_port()), WORLD_SIZE=str(RANKS))
            starts = [(words, dict(environment, RANK=str(rank))) for rank in range(RANKS)]
        elif transport == "mpi":
            mpirun = ["mpirun", "--oversubscribe", "--mca", "odls_base_sigkill_timeout", "3", "-np", str(RANKS)]
            starts = [(mpirun + words, dict(environment, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))]
        else:
            starts = [(words, environment)]
        self.children = [
            subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
            for command, env in starts
        ]

    def running(self):
        return any(child.poll() is None for child in self.children)

    def signal_all(self, number):
        for child in self.children:
            if child.poll() is None:
                send(child.pid, number)

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def finish(self):
        """Exit code; no process is left."""
        end = time.monotonic() + LIMIT
        while self.running() or processes(self.marker):
            if time.monotonic() > end:
                left = processes(self.marker)
                self.signal_all(signal.SIGKILL)
                for pid in left:
                    send(pid, signal.SIGKILL)
                raise Failed(f"has not ended within {LIMIT} s; ranks left: {left}\n{self.output()[-3000:]}")
            time.sleep(0.02)
        return max(abs(child.returncode) for child in self.children)


class Stress:
    def __init__(self, args, folder):
        self.args, self.folder, self.random = args, folder, random.Random(args.seed)
        self.deck = []  # of actions: every one comes once before one comes again
        self.counts, self.slowest = collections.Counter(), collections.Counter()
        self.package = os.path.join(folder, "s.par")
        # Steps that are long enough to be disturbed; results stay the same to the byte.
        self.environment = dict(os.environ, PAR_TEST_DELAY="12000,7")
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            self.environment.pop(name, None)
        sizes = ["--set", "hidden_size=32", "--set", "num_hidden_layers=2"]
        subprocess.run([os.path.join(args.bin, "par-compile"), CONFIG, "-o", self.package, "--seq", "16", "--batch", "4", "--mesh", f"dp={RANKS}", *sizes],
                       check=True, stdout=subprocess.DEVNULL)
        self.run = [os.path.join(args.bin, "par-run"), self.package, "--steps", str(STEPS), "--seed", "3", "--timeout", "20"]
        reference = os.path.join(folder, "reference")
        subprocess.run([*self.run, "--save-params", reference], check=True, stdout=subprocess.DEVNULL)
        self.reference = content(reference)

    def place_strangers(self, checkpoints):
        for name in ("step-00000003.tmp", "step-00000006.0123456789abcdef.tmp", "step-00000099", "notes"):
            os.makedirs(os.path.join(checkpoints, name))
            with open(os.path.join(checkpoints, name, "thesis.tex"), "w") as file:
                file.write("precious")
        return tree(checkpoints)

    def disturb(self, start, words, action):
        time.sleep(self.random.uniform(0, 1.2 if self.random.random() < 0.7 else 4))
        ranks = processes(start.marker)
        if action == "kill all":
            start.signal_all(signal.SIGKILL)
            for pid in ranks:
                send(pid, signal.SIGKILL)
        elif action == "kill one" and ranks:
            send(self.random.choice(ranks), signal.SIGKILL)
        elif action == "stop" and ranks:
            pid = self.random.choice(ranks)
            send(pid, signal.SIGSTOP)
            time.sleep(self.random.uniform(0.1, 1.5))
            send(pid, signal.SIGCONT)
        elif action == "usr1":
            while start.running() and not (len(ranks) == start.size and all(handles(pid, signal.SIGUSR1) for pid in ranks)):
                ranks = processes(start.marker)
                time.sleep(0.02)
            start.signal_all(signal.SIGUSR1)
        elif action in SIGNALS:
            start.signal_all(SIGNALS[action])
        elif action == "double":
            self.start_twice(start, words)

    def start_twice(self, first, words):
        """The second of two is refused, or the first was over when it came: then it simply went on."""
        second = Start("threads", words, first.marker, self.environment)
        end = time.monotonic() + LIMIT
        while second.running() and time.monotonic() < end:
            time.sleep(0.02)
        code, output = second.children[0].poll(), second.output()
        self.counts["refused"] += "is in use by" in output
        if code is None:
            raise Failed("the second of two runs has not ended")
        if code != 0 and "is in use by" not in output and "ended by a signal" not in output:
            raise Failed("the second of two runs was not refused:\n" + output[-2000:])

    def draw(self):
        if not self.deck:
            self.deck = self.random.sample(ACTIONS, len(ACTIONS))
        return self.deck.pop()

    def attempt(self, transport, checkpoints, parameters, disturbed):
        words = [*self.run, "--checkpoint", checkpoints, "--checkpoint-every", str(EVERY), "--keep", "3", "--resume", "latest", "--save-params", parameters]
        action = self.draw() if disturbed else "nothing"
        start = Start(transport, words, checkpoints, self.environment)
        try:
            if action != "nothing":
                self.disturb(start, words, action)
            begin = time.monotonic()
            code = start.finish()
        except Failed as failure:
            raise Failed(f"{transport}, {action}: {failure}")
        if self.args.verbose:
            print(f"  {transport}, {action}: code {code}, ended after {time.monotonic() - begin:.1f} s; {start.output()[-300:]!r}", flush=True)
        self.counts["runs"] += 1
        self.counts[action] += 1
        self.counts[transport] += 1
        if action != "nothing":
            self.slowest[action] = max(self.slowest[action], time.monotonic() - begin)
        harmless = action in ("nothing", "stop", "usr1", "double")
        second_won = action == "double" and "is in use by" in start.output()
        if code != 0 and harmless and not second_won:
            raise Failed(f"{transport}, {action}: ended with {code}\n{start.output()[-3000:]}")
        return code

    def episode(self, number):
        checkpoints, parameters = (os.path.join(self.folder, f"{name}{number}") for name in ("ck", "p"))
        os.makedirs(checkpoints)
        strangers = self.place_strangers(checkpoints)
        for attempts in range(1, 100):
            # In the end one is left alone.
            code = self.attempt(self.random.choice(self.args.transports), checkpoints, parameters, attempts < 6 or self.random.random() < 0.5)
            now = tree(checkpoints)
            if any(now.get(name) != hashed for name, hashed in strangers.items()):
                raise Failed("files of strangers were changed")
            if code == 0 and os.path.exists(parameters):
                break
        if content(parameters) != self.reference:
            raise Failed("the parameters are not those of a run that nobody disturbed")
        left = sorted(name for name in os.listdir(checkpoints) if not any(entry.split("/")[0] == name for entry in strangers))
        if not all(re.fullmatch(r"step-\d{8}", name) for name in left) or f"step-{STEPS:08}" not in left:
            raise Failed(f"left in the folder: {left}")
        others = [name for name in os.listdir(self.folder) if name.startswith(os.path.basename(parameters) + ".tmp")]
        if others:
            raise Failed(f"left beside the parameters: {others}")
        shutil.rmtree(checkpoints)
        os.remove(parameters)
        return attempts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--transports", type=lambda text: text.split(","), default=["threads", "tcp", "mpi"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="a line per run")
    args = parser.parse_args()
    if "mpi" in args.transports and not shutil.which("mpirun"):
        args.transports.remove("mpi")
    folder = tempfile.mkdtemp(prefix="par-stress-")
    stress, begin, episodes = Stress(args, folder), time.monotonic(), 0
    try:
        while episodes == 0 or time.monotonic() - begin < args.seconds:
            attempts = stress.episode(episodes)
            episodes += 1
            print(f"episode {episodes}: {attempts} starts, the same bytes", flush=True)
    except Failed as failure:
        sys.exit(f"error: episode {episodes + 1} (seed {args.seed}) in {folder}: {failure}")
    shutil.rmtree(folder)
    counts = stress.counts
    print(f"{episodes} episodes, {counts['runs']} runs in {time.monotonic() - begin:.0f} s")
    print("by transport: " + ", ".join(f"{counts[name]} {name}" for name in args.transports))
    print("by what was done: " + ", ".join(f"{counts[name]} {name}" for name in ACTIONS) + f" ({counts['refused']} second starts refused)")
    print("slowest end after it: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in sorted(stress.slowest.items())))
    print("every run ended, every resume came to the same bytes, nothing of strangers was touched")
    return 0


if __name__ == "__main__":
    sys.exit(main())
