# SPDX-License-Identifier: Apache-2.0
"""What long checks remember outside build folders, as compilers' caches do: one small file for each result, named by a
hash of everything that the result depends on, so that clones and branches share them and none can be out of date."""
import os
import tempfile
import time

KEPT_DAYS = 30


class Remembered:
    """The results of one check, under XDG_CACHE_HOME or ~/.cache."""

    def __init__(self, check):
        given = os.environ.get("XDG_CACHE_HOME", "")
        base = given if os.path.isabs(given) else os.path.join(os.path.expanduser("~"), ".cache")
        self.folder = os.path.join(base, "beeswax", check)

    def get(self, state):
        """The text kept for this state, or None."""
        path = os.path.join(self.folder, state)
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            os.utime(path)
            return text
        except OSError:
            return None

    def put(self, state, text=""):
        os.makedirs(self.folder, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path, os.path.join(self.folder, state))

    def forget_old(self):
        """Drops what nothing asked for in a month."""
        try:
            entries = list(os.scandir(self.folder))
        except OSError:
            return
        for entry in entries:
            if entry.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
                os.unlink(entry.path)
