"""Loaded by every Python child of the tests: no connection leaves the machine."""

import socket

_connect = socket.socket.connect
_LOCAL = ("127.", "::1", "localhost")


def _guarded(self, address):  # noqa: ANN001, ANN202
    if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOCAL):
        message = f"a test's child tried to reach {address!r}"
        raise RuntimeError(message)
    return _connect(self, address)


socket.socket.connect = _guarded
