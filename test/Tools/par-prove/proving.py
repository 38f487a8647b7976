"""Modules for par-prove: the differentiated graph of a model under a plan, and its program for a rank."""
import os
import subprocess


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compile_to(phase, config, plan, path):
    sizes = [] if "--seq " in plan else ["--seq", "16", "--batch", "8"]
    done = run("par-compile", config, *sizes, *plan.split(), "--proof", "off", "--to", phase)
    if done.returncode:
        raise SystemExit(f"{config} {plan}: {done.stderr}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(done.stdout)


def make(config, plan, folder, phase="partition"):
    """REFERENCE.mlir and PROGRAM.mlir in FOLDER."""
    reference, program = (os.path.join(folder, name) for name in ("reference.mlir", "program.mlir"))
    compile_to("differentiate", config, plan, reference)
    compile_to(phase, config, plan, program)
    return reference, program


def prove(reference, program):
    """Exit status, and the first line that was printed."""
    done = run("par-prove", reference, program)
    return done.returncode, ((done.stdout or done.stderr).split("\n") or [""])[0]
