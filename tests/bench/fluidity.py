"""The longest gap in the window's event loop while a book is indexed and an answer is written."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

TICK_MS = 5
QUESTION = "Why does a price ceiling below equilibrium cause a shortage?"


class Meter:
    """Measures how late a timer comes."""

    def __init__(self, timer: Any) -> None:
        self.phase = "start"
        self.gaps: dict[str, list[float]] = {}
        self._last = time.perf_counter()
        self._timer = timer
        timer.timeout.connect(self._tick)
        timer.start(TICK_MS)

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps.setdefault(self.phase, []).append((now - self._last) * 1000 - TICK_MS)
        self._last = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--book", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--question", default=QUESTION)
    args = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder) / "models"
        models.mkdir()
        (models / args.model.name).symlink_to(args.model.resolve())
        os.environ["LUTRIN_MODELS"] = str(models)
        measure(Path(folder), args.book, args.question)


def measure(folder: Path, book: Path, question: str) -> None:
    from PySide6.QtCore import QCoreApplication, Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from desktop import app as lutrin
    from desktop import environment, paths
    from desktop.core.records import BookStatus, Mode

    environment.prepare()
    app = QApplication(["lutrin"])
    window = lutrin.build_window(paths.choose(folder / "library").create(), app)
    window.show()
    until(lambda: window.session is not None and bool(window.store.default_name()), 60)
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    meter = Meter(timer)
    meter.phase = "reading"
    window.importer.add_paths([book])
    until(lambda: any(b.status is BookStatus.ASKABLE for b in window.book_list.books()), 120)
    meter.phase = "indexing and answering"
    window.session.ask(question, Mode.RETRIEVAL)
    until(lambda: window.session.answered() > 0, 300)
    meter.phase = "indexing"
    until(lambda: False, 5)
    timer.stop()
    worst = 0.0
    for phase, gaps in meter.gaps.items():
        worst = max(worst, *gaps)
        late = sorted(gaps)
        print(f"{phase:24} {len(gaps):6} ticks, 99th percentile {late[int(0.99 * len(late))]:5.1f}"
              f" ms, worst {late[-1]:5.1f} ms")  # fmt: skip
    print(f"worst gap {worst:.1f} ms (at most 50)")
    window.close()
    QCoreApplication.processEvents()


def until(done: Any, seconds: float) -> None:
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    end = time.monotonic() + seconds

    def look() -> None:
        if done() or time.monotonic() > end:
            loop.quit()

    watch = QTimer()
    watch.timeout.connect(look)
    watch.start(50)
    loop.exec()


if __name__ == "__main__":
    main()
