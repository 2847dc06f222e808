"""Process start to a painted, usable window, against a bare PySide6 main window.

Usable: painted, the conversations open, and the event loop idle, so that a key would be taken.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

BARE = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
class Window(QMainWindow):
    painted = False
    def paintEvent(self, event):
        super().paintEvent(event)
        if not self.painted:
            self.painted = True
            QTimer.singleShot(0, lambda: (print("usable", flush=True), QApplication.quit()))
app = QApplication(["bare"])
window = Window()
window.resize(1280, 800)
window.show()
app.exec()
"""
OURS = """
import sys
from desktop import __main__, app
build = app.build_window
def watched(*args, **kwargs):
    from PySide6.QtCore import QTimer
    window = build(*args, **kwargs)
    def end():
        print("usable", flush=True)
        window.close()
    def look():
        QTimer.singleShot(*((1, look) if window.session is None else (0, end)))
    QTimer.singleShot(0, look)
    return window
app.build_window = watched
sys.argv = ["lutrin"]
sys.exit(__main__.main())
"""


def seconds(code: str) -> float:
    start = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "usable"
        elapsed = time.monotonic() - start
        child.wait()
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11)
    args = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LUTRIN_HOME"] = os.environ["LUTRIN_MODELS"] = folder
        for _ in range(args.runs + 1):
            pairs.append((seconds(OURS), seconds(BARE)))
    ours, bare = (statistics.median(column) for column in zip(*pairs[1:], strict=True))
    print(f"bare    {bare * 1000:6.0f} ms (median of {args.runs})")
    print(f"Lutrin  {ours * 1000:6.0f} ms")
    print(f"ratio   {ours / bare:6.2f}  (at most 2)")


if __name__ == "__main__":
    main()
