"""
Credentials from an OpenID Connect provider: an identity token, and one to refresh it with.

A provider may replace the refresh token each time it is used. So ``save`` gets the
new tokens and writes them to the kubeconfig, whose old ones may be worthless then.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import aiohttp
import orjson

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.credentials import bearer
from kohort.cluster.http.access.tls import Material, Pair, Tls
from kohort.cluster.objects import Object

_EARLY_SECONDS = 10.0
_TIMEOUT = aiohttp.ClientTimeout(total=30.0)

Save = Callable[[Mapping[str, str]], None]


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider's settings in the kubeconfig."""

    issuer: str
    client: str
    secret: str = ""
    ca: Material | None = None


class OidcCredentials:
    """A token of an identity provider, refreshed before it expires."""

    def __init__(
        self,
        provider: Provider,
        tokens: tuple[str, str],
        save: Save = lambda tokens: None,
    ) -> None:
        self.provider = provider
        self._identity, self._refresh = tokens
        self._save = save
        self._refreshing = asyncio.Lock()

    async def headers(self) -> dict[str, str]:
        """The Authorization header with an identity token that has not expired."""
        if not self._identity or time.time() >= read_expiry(self._identity) - _EARLY_SECONDS:
            await self._renew(self._identity)
        return bearer(self._identity)

    def certificate(self) -> Pair | None:
        """None."""
        return None

    async def renew(self) -> bool:
        """Fetch another token from the provider."""
        if not self._refresh:
            return False
        await self._renew(self._identity)
        return True

    async def close(self) -> None:
        """Nothing is held."""

    async def _renew(self, known: str) -> None:
        async with self._refreshing:
            if self._identity == known:
                await self._ask()

    async def _ask(self) -> None:
        issuer = self.provider.issuer
        if not self._refresh:
            raise KohortError(
                f"the identity token of {issuer} has expired, and there is none to refresh it with"
            )
        answer = await fetch_tokens(self.provider, self._refresh)
        identity = answer.get("id_token")
        if not identity:
            raise KohortError(f"{issuer} answered without an identity token")
        self._identity = identity
        self._refresh = answer.get("refresh_token") or self._refresh
        self._save({"id-token": self._identity, "refresh-token": self._refresh})


async def fetch_tokens(provider: Provider, refresh: str) -> Object:
    """The provider's answer to a refresh token."""
    tls = Tls(provider.ca).context()
    where = f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
    form = {
        "grant_type": "refresh_token",
        "refresh_token": refresh,
        "client_id": provider.client,
        **({"client_secret": provider.secret} if provider.secret else {}),
    }
    try:
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
            async with session.get(where, ssl=tls) as response:
                endpoint = (await _read(response, provider))["token_endpoint"]
            async with session.post(endpoint, data=form, ssl=tls) as response:
                return await _read(response, provider)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise KohortError(f"cannot reach the provider {provider.issuer}: {error}") from error
    except (KeyError, ValueError, TypeError) as error:
        raise KohortError(f"{provider.issuer} gave an answer without sense: {error!r}") from error


async def _read(response: aiohttp.ClientResponse, provider: Provider) -> Object:
    body = await response.read()
    if response.status >= 300:
        text = body.decode(errors="replace")[:300]
        raise KohortError(f"{provider.issuer} refused with code {response.status}: {text}")
    answer: Object = orjson.loads(body)
    return answer


def read_expiry(token: str) -> float:
    """When a token expires, from its claims; 0 if they cannot be read."""
    try:
        middle = token.split(".")[1]
        claims = orjson.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
        return float(claims["exp"])
    except (IndexError, KeyError, ValueError, TypeError, binascii.Error):
        return 0.0
