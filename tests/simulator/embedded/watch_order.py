"""Creates one after the other, and whether a watcher had heard of each when its answer came."""

import json
import socket
import ssl
from urllib.parse import urlsplit

PATH = "/api/v1/namespaces/default/configmaps"


class WatchedWriter:
    """A watch and a writer on two connections, read by one thread."""

    def __init__(self, url: str, token: str, ca: str) -> None:
        self._address, self._token = urlsplit(url), token
        self._tls = ssl.create_default_context(cadata=ca)
        self._heard = b""
        self._watcher = self._connect()
        self._watcher.sendall(self._request("GET", f"{PATH}?watch=true&resourceVersion=0"))
        self._listen(b"200 OK")
        self._writer = self._connect()

    def count_late(self, creates: int) -> int:
        """How many creates were answered before the watcher was told."""
        return sum(not self._create(f"order-{number}") for number in range(creates))

    def _create(self, name: str) -> bool:
        body = json.dumps({"metadata": {"name": name}}).encode()
        self._writer.sendall(self._request("POST", PATH, body))
        named, answer = f'"name":"{name}"'.encode(), b""
        while named not in answer:
            answer += self._writer.recv(65_536)
        self._watcher.setblocking(False)
        try:
            while named not in self._heard:
                self._heard += self._watcher.recv(65_536)
            return True
        except ssl.SSLWantReadError:
            self._listen(named)
            return False

    def _listen(self, word: bytes) -> None:
        self._watcher.settimeout(10)
        while word not in self._heard:
            self._heard += self._watcher.recv(65_536)

    def _connect(self) -> ssl.SSLSocket:
        host = self._address.hostname or ""
        plain = socket.create_connection((host, self._address.port), timeout=10)
        return self._tls.wrap_socket(plain, server_hostname=host)

    def _request(self, method: str, path: str, body: bytes = b"") -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self._token}\r\n"
        media = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return (head + media).encode() + body

    def close(self) -> None:
        """Let both connections go."""
        self._watcher.close()
        self._writer.close()
