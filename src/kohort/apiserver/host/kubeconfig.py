"""
The kubeconfig of a cluster: one cluster, one user, one context, nothing else.

The first line says which cluster wrote the file. A file without that line is
not ours, and is never touched.
"""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from kohort.apiserver.host.identity import Identity, write_secret
from kohort.cluster.errors import KohortError

_MARK = "# Written by kohort for the cluster "


class ForeignFile(KohortError):
    """A file that Kohort did not write stands where the kubeconfig should go."""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The kubeconfig of one cluster, and its path."""

    path: Path
    name: str

    @property
    def context(self) -> str:
        """The context that it offers."""
        return f"kohort-{self.name}"

    def check(self) -> None:
        """Raise unless the file is missing, empty, or was written for this cluster."""
        if self.path.is_symlink():
            raise ForeignFile(f"{self.path} is a link; name a file of its own with --kubeconfig")
        if self.path.is_dir():
            raise ForeignFile(f"{self.path} is a folder; name a file with --kubeconfig")
        if not self._is_ours():
            raise ForeignFile(
                f"{self.path} was not written by the cluster {self.name!r} and is left as it is; "
                "name another file with --kubeconfig"
            )

    def write(self, url: str, identity: Identity) -> None:
        """Write the file."""
        self.check()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_secret(self.path, self._text(url, identity))

    def remove(self) -> None:
        """Delete the file, if it is still the one that was written."""
        if self.path.exists() and not self.path.is_symlink() and self._is_ours():
            self.path.unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        if not self.path.exists():
            return True
        if not self.path.is_file():
            return False
        with self.path.open("rb") as file:
            first = file.readline().decode(errors="replace").rstrip("\n")
        return first == _MARK + self.name or self.path.stat().st_size == 0

    def _text(self, url: str, identity: Identity) -> str:
        authority = b64encode(identity.certificates.ca.encode()).decode()
        return f"""\
{_MARK}{self.name}
apiVersion: v1
kind: Config
current-context: {self.context}
clusters:
- name: {self.context}
  cluster:
    server: {url}
    certificate-authority-data: {authority}
users:
- name: {self.context}
  user:
    token: "{identity.token}"
contexts:
- name: {self.context}
  context:
    cluster: {self.context}
    user: {self.context}
    namespace: default
"""
