#!/usr/bin/env python3
"""Types lines at a terminal and prints what a command answers on standard output, and what the terminal showed behind "shown: ".

    terminal.py LINES COMMAND...      LINES: with \\n between, Control-D at the end
"""
import os
import pty
import subprocess
import sys


def main():
    lines, command = sys.argv[1].replace("\\n", "\n"), sys.argv[2:]
    keyboard, terminal = pty.openpty()
    with subprocess.Popen(command, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE) as job:
        os.write(keyboard, (lines + "\n\x04").encode())
        answers = job.communicate(timeout=60)[0].decode()
    os.set_blocking(keyboard, False)
    shown = os.read(keyboard, 65536).decode()
    print(answers, end="")
    print("shown: " + shown.replace("\r\n", "|"))
    return job.returncode


if __name__ == "__main__":
    sys.exit(main())
