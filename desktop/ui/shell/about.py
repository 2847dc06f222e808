"""The dialog with the version, the licence, and where the files are."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from desktop import __version__
from desktop.ui.buttons import label, push_button
from desktop.ui.formatting import tr

if TYPE_CHECKING:
    from desktop.paths import Paths


def about_text(paths: Paths) -> str:
    """Return the facts, one a line."""
    return "\n".join(
        (
            tr("Python {python}, Qt {qt}, {system}").format(
                python=platform.python_version(), qt=qVersion(), system=platform.platform()
            ),
            tr("Library: {folder}").format(folder=paths.data),
            tr("Models: {folder}").format(folder=paths.models),
            tr("Log files: {folder}").format(folder=paths.logs),
            "",
            tr("Licence: AGPL-3.0-or-later. You may use, study, share and change it."),
        )
    )


def about_dialog(paths: Paths, parent: QWidget) -> QDialog:
    """Return the dialog, which is not modal."""
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(tr("About Lutrin"))
    column = QVBoxLayout(dialog)
    column.setContentsMargins(24, 20, 24, 16)
    column.setSpacing(10)
    column.addWidget(label(f"Lutrin {__version__}", scale=1.5))
    column.addWidget(label(tr("Study a textbook, with every claim tied to its sentence.")))
    facts = label(about_text(paths), name="muted")
    facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    column.addWidget(facts)
    row = QHBoxLayout()
    row.addStretch(1)
    row.addWidget(push_button(tr("Close"), clicked=dialog.close, primary=True))
    column.addLayout(row)
    return dialog
