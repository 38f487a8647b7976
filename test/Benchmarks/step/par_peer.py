"""par: a package compiled and run beside the others.

The run goes on for ever and is stopped between rounds (SIGSTOP); a step during which it stood still is not counted.
"""
import json
import os
import signal
import subprocess
import tempfile
import time

from cases import BETAS, CLIP, DECAY, DOCUMENT_END, EPS, LR, batches, hf_model


def write_inputs(c, folder):
    """Weights as a Hugging Face folder, tokens as uint16: windows of seq + 1 tokens, in order and then again."""
    import numpy
    hf_model(c).save_pretrained(folder)
    path = os.path.join(folder, "tokens.bin")
    batches(c).astype(numpy.uint16).tofile(path)
    return path


class ParPeer:
    def __init__(self, c, ranks, dtype):
        self.folder = tempfile.TemporaryDirectory(prefix="par-step-")
        folder = self.folder.name
        # Inputs come from PyTorch, in a process of its own: it shall not count as par's memory.
        child = os.fork()
        if child == 0:
            write_inputs(c, folder)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise RuntimeError("the weights could not be written")
        package, self.metrics = folder + "/model.par", folder + "/metrics.jsonl"
        apart = bool(c.get("documents"))
        begin = time.perf_counter()
        subprocess.run(["par-compile", folder, *(["--documents", "isolate"] if apart else []), "--seq", str(c["seq"]), "--batch", str(c["batch"]), "--mesh", f"dp={ranks}",
                        "--dtype", dtype, "-o", package], check=True, stdout=subprocess.DEVNULL)
        self.compile_seconds = time.perf_counter() - begin
        self.process = subprocess.Popen(
            ["par-run", package, *(["--document-end", str(DOCUMENT_END)] if apart else []), "--steps", "1000000", "--weights", folder, "--data", folder + "/tokens.bin", "--lr", str(LR),
             "--beta1", str(BETAS[0]), "--beta2", str(BETAS[1]), "--eps", str(EPS), "--weight-decay", str(DECAY),
             "--clip-grad-norm", str(CLIP), "--metrics", self.metrics], stdout=subprocess.DEVNULL)
        self.position, self.half = 0, ""

    def read_lines(self, count):
        """The next `count` lines of the metrics."""
        lines = []
        while len(lines) < count:
            if self.process.poll() is not None:
                raise RuntimeError(f"par-run ended with {self.process.returncode}")
            if not os.path.exists(self.metrics) or os.stat(self.metrics).st_size == self.position:
                time.sleep(0.002)
                continue
            with open(self.metrics, encoding="utf-8") as file:
                file.seek(self.position)
                text = file.read()
                self.position = file.tell()
            *whole, self.half = (self.half + text).split("\n")
            lines += [json.loads(line) for line in whole]
        return lines

    def first_losses(self):
        losses = [line["loss"] for line in self.read_lines(5)[:5]]
        self.process.send_signal(signal.SIGSTOP)
        return losses

    def times(self, count):
        self.read_lines(0)
        self.process.send_signal(signal.SIGCONT)
        lines = self.read_lines(count + 1)
        self.process.send_signal(signal.SIGSTOP)
        # The lines may begin with some that were written before the last stop; the step after those stood still.
        return [line["step_seconds"] for line in lines[-count:]]

    def rss_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
