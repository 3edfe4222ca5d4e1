"""A way to a server that can fall silent, as one through a firewall that forgets connections and resets none."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Proxy:
    """Carries bytes between clients and a server on loopback.

    Attributes:
        port: Where it listens.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listening.getsockname()[1]
        self._pairs: list[_Pair] = []
        self._lock = threading.Lock()
        self._silent = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                client, _ = self._listening.accept()
                with self._lock:
                    self._pairs.append(_Pair(client, self._target, self._silent))

    def forget(self) -> None:
        """Swallow, from now on, what comes on the connections that are open; new ones work."""
        with self._lock:
            for pair in self._pairs:
                pair.silent = True

    def silence(self) -> None:
        """Swallow everything on every connection, old and new."""
        with self._lock:
            self._silent = True
        self.forget()

    def recover(self) -> None:
        """Let new connections work. What was forgotten stays forgotten."""
        with self._lock:
            self._silent = False

    def close(self) -> None:
        """Close everything."""
        self._listening.close()
        with self._lock:
            for pair in self._pairs:
                pair.close()


class _Pair:
    def __init__(self, client: socket.socket, port: int, silent: bool) -> None:
        self.silent = silent
        self._client = client
        self._server = socket.create_connection(("127.0.0.1", port))
        for source, target in ((self._client, self._server), (self._server, self._client)):
            threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self.silent:
                    target.sendall(data)
            if not self.silent:
                target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for each in (self._client, self._server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def silenceable(url: str) -> Iterator[tuple[str, Proxy]]:
    """The URL of a database on loopback through a proxy, and the proxy."""
    head, _, rest = url.rpartition(":")
    port, _, name = rest.partition("/")
    proxy = Proxy(int(port))
    try:
        yield f"{head}:{proxy.port}/{name}", proxy
    finally:
        proxy.close()
