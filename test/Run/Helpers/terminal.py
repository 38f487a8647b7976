#!/usr/bin/env python3
"""Types lines at a terminal and prints what a command answers on standard output, and what the terminal showed behind "shown: ".

    terminal.py LINES COMMAND...      LINES: with \\n between, Control-D at the end
"""
import os
import pty
import subprocess
import sys


def everything(keyboard):
    """What the terminal showed. It comes in pieces, a little later than it was written, and ends in an error once nobody has the terminal open."""
    shown = b""
    try:
        while piece := os.read(keyboard, 65536):
            shown += piece
    except OSError:
        pass
    return shown


def main():
    lines, command = sys.argv[1].replace("\\n", "\n"), sys.argv[2:]
    keyboard, terminal = pty.openpty()
    with subprocess.Popen(command, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE) as job:
        os.write(keyboard, (lines + "\n\x04").encode())
        answers = job.communicate(timeout=60)[0].decode()
    os.close(terminal)
    print(answers, end="")
    print("shown: " + everything(keyboard).decode().replace("\r\n", "|"))
    return job.returncode


if __name__ == "__main__":
    sys.exit(main())
