# SPDX-License-Identifier: Apache-2.0
"""Commands one of whose streams is a terminal."""
import os
import pty
import subprocess


def on_terminal(command, stream):
    """(exit status, what the terminal shows as `stream`, "stdout" or "stderr", and what the other one's pipe holds)."""
    ours, theirs = pty.openpty()
    other = "stderr" if stream == "stdout" else "stdout"
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, **{stream: theirs, other: subprocess.PIPE}) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the other side is closed
            pass
        piped = getattr(process, other).read()
    os.close(ours)
    return process.returncode, shown, piped
