"""
Turns one context of a kubeconfig into access to an API server.

If the kubeconfig gives a user several credentials, they count as kubectl counts
them: a plugin or a provider excludes all others, a token file comes before a
token, and a client certificate is sent with any of them.
"""

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.access import Access
from kohort.cluster.http.access.credentials import (
    Basic,
    Credentials,
    NoCredentials,
    Token,
    TokenFile,
)
from kohort.cluster.http.access.kubeconfig import Kubeconfig, Section, save_provider
from kohort.cluster.http.access.oidc import OidcCredentials, Provider
from kohort.cluster.http.access.plugins import PluginCredentials, read_plugin
from kohort.cluster.http.access.tls import Material, Tls
from kohort.cluster.objects import Object


def read_access(config: Kubeconfig, context: str | None = None) -> Access:
    """The access that the kubeconfig defines for a context, or for the current context."""
    cluster, user, chosen = config.choose(context)
    server = str(cluster.content.get("server") or "").rstrip("/")
    if urlsplit(server).scheme not in ("http", "https"):
        raise KohortError(f'cluster "{cluster.name}": server "{server}" is no http or https URL')
    return Access(
        server=server,
        credentials=_read_credentials(user, cluster),
        tls=_read_tls(cluster, user),
        context=chosen.name,
        namespace=chosen.content.get("namespace") or "default",
        server_name=cluster.content.get("tls-server-name") or "",
        proxy=_read_proxy(cluster, server),
        headers=_read_impersonation(user.content),
    )


def _read_tls(cluster: Section, user: Section) -> Tls:
    chain = _find_material(user, "client-certificate")
    key = _find_material(user, "client-key")
    if (chain is None) != (key is None):
        raise KohortError(f'user "{user.name}" has a client certificate or key without the other')
    return Tls(
        _find_material(cluster, "certificate-authority"),
        (chain, key) if chain is not None and key is not None else None,
        is_verified=not cluster.content.get("insecure-skip-tls-verify"),
    )


def _find_material(section: Section, name: str) -> Material | None:
    data = section.content.get(f"{name}-data")
    if data:
        return _decode(data, f'"{section.name}": {name}-data')
    file = section.content.get(name)
    return _beside(section, file) if file else None


def _decode(data: str, where: str) -> str:
    try:
        return base64.b64decode(data, validate=False).decode()
    except (binascii.Error, UnicodeDecodeError, TypeError) as error:
        raise KohortError(f"{where} is not base64 of a PEM text: {error}") from error


def _beside(section: Section, file: str) -> Path:
    path = section.file.absolute().parent / file
    if not path.exists():
        raise KohortError(f'"{section.name}" in {section.file} names {path}, which does not exist')
    return path


def _read_credentials(user: Section, cluster: Section) -> Credentials:
    content = user.content
    if content.get("exec"):
        told = _describe(cluster)
        return PluginCredentials(read_plugin(content["exec"], user.file.absolute().parent, told))
    if content.get("auth-provider"):
        return _read_provider(user)
    if content.get("tokenFile"):
        return TokenFile(_beside(user, content["tokenFile"]))
    if content.get("token"):
        return Token(content["token"])
    if content.get("username"):
        return Basic(content["username"], content.get("password") or "")
    return NoCredentials()


def _describe(cluster: Section) -> Object:
    """The cluster's description for a credential plugin (``KUBERNETES_EXEC_INFO``)."""
    content = cluster.content
    told: Object = {
        "server": content.get("server"),
        "tls-server-name": content.get("tls-server-name"),
        "insecure-skip-tls-verify": content.get("insecure-skip-tls-verify"),
        "certificate-authority-data": content.get("certificate-authority-data"),
        "proxy-url": content.get("proxy-url"),
    }
    if not told["certificate-authority-data"] and content.get("certificate-authority"):
        ca = _beside(cluster, content["certificate-authority"]).read_bytes()
        told["certificate-authority-data"] = base64.b64encode(ca).decode()
    for extension in content.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            told["config"] = extension.get("extension")
    return {name: value for name, value in told.items() if value}


def _read_provider(user: Section) -> OidcCredentials:
    provider = user.content["auth-provider"]
    name, config = provider.get("name"), provider.get("config") or {}
    if name != "oidc":
        raise KohortError(
            f'user "{user.name}": the auth provider {name} is not supported; use an exec plugin'
        )
    if not config.get("idp-issuer-url") or not config.get("client-id"):
        raise KohortError(f'user "{user.name}": oidc needs idp-issuer-url and client-id')
    ca = _find_material(Section(user.name, config, user.file), "idp-certificate-authority")

    def save(tokens: Mapping[str, str]) -> None:
        save_provider(user.file, user.name, tokens)

    return OidcCredentials(
        Provider(
            config["idp-issuer-url"], config["client-id"], config.get("client-secret", ""), ca
        ),
        (config.get("id-token") or "", config.get("refresh-token") or ""),
        save,
    )


def _read_proxy(cluster: Section, server: str) -> str:
    """The proxy that the kubeconfig names, or else the environment."""
    proxy = str(cluster.content.get("proxy-url") or "")
    if not proxy:
        address = urlsplit(server)
        if not proxy_bypass(address.hostname or ""):
            proxy = getproxies().get(address.scheme, "")
    if proxy and urlsplit(proxy).scheme not in ("http", "https"):
        raise KohortError(f'cluster "{cluster.name}": proxy "{proxy}" is no http or https URL')
    return proxy


def _read_impersonation(user: Object) -> tuple[tuple[str, str], ...]:
    extra: Object = user.get("as-user-extra") or {}
    headers = [
        ("Impersonate-User", user.get("as")),
        ("Impersonate-Uid", user.get("as-uid")),
        *(("Impersonate-Group", group) for group in user.get("as-groups") or ()),
        *(
            (f"Impersonate-Extra-{quote(name)}", value)
            for name, values in extra.items()
            for value in values
        ),
    ]
    return tuple((name, str(value)) for name, value in headers if value)
