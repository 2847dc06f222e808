"""Messages between the window and a worker: JSON, each with an optional block of bytes.

JSON rather than pickle, so that a worker taken over by a hostile file can't run code in the
window's process. Owns the framing; knows nothing of what the messages mean.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Message = dict[str, Any]


class Channel:
    """A two-way channel over one `multiprocessing` connection.

    `send` may be called from several threads; `receive` from one.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: Message, blob: bytes | None = None) -> None:
        """Send a message.

        Raises:
            OSError: if the other side is gone.
        """
        header = json.dumps({**message, "blob": blob is not None}).encode()
        with self._lock:
            self._connection.send_bytes(header)
            if blob is not None:
                self._connection.send_bytes(blob)

    def receive(self) -> tuple[Message, bytes]:
        """Wait for the next message and return it with its bytes.

        Raises:
            EOFError: if the other side is gone.
        """
        message: Message = json.loads(self._connection.recv_bytes())
        blob = self._connection.recv_bytes() if message.pop("blob", False) else b""
        return message, blob

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
