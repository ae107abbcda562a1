"""Who may look: a page on this machine is for its own browser; one that others can reach, for whoever has the token of
its link.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from iparam.errors import InputError

LOOPBACK = "127.0.0.1"
COOKIE = "iparam-view"
PORTS = (8080, 8179)
"""Tried one after the other where no port is asked for."""

LONGEST_PATH = 1000
"""Characters of a request's path and query: those of the page's own files and of its link have less than 200."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d{1,5})?", re.ASCII)


@dataclass(frozen=True)
class Decision:
    """What becomes of a request.

    Attributes:
        status: 200 to go on, 303 to be sent to the page with the cookie, 400 and 403 to be refused.
        cookie: to be set; "" for none.
        reason: of a refusal, a sentence.
    """

    status: int
    cookie: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Access:
    """The rule for one server.

    On this machine's own address any page in the user's browser could connect, so a request must be addressed to this
    machine by its own name, and a connection must come from the page itself. On another address both hold for
    everybody, so the token of the link has to come with it, in the link once and in a cookie from then on.

    Attributes:
        host: the address that the server listens on.
        token: that a link has to have; "" for none.
    """

    host: str = LOOPBACK
    token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not self.token and not is_loopback(self.host):
            raise InputError(f"a page on {self.host} needs a token: others can reach that address")

    @classmethod
    def to(cls, host: str) -> Access:
        """The rule for an address, with a new token where others can reach it."""
        return cls(host, "" if is_loopback(host) else secrets.token_urlsafe(24))

    def link(self, port: int) -> str:
        """The address of the page."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        shown = f"[{name}]" if ":" in name else name
        return f"http://{shown}:{port}/" + (f"?token={self.token}" if self.token else "")

    def decide(self, path: str, headers: Mapping[str, str]) -> Decision:
        """Whether a request may pass.

        Args:
            path: with its query.
            headers: by name in lower case.
        """
        try:
            return self._decide(path, headers)
        except ValueError:  # of what is no address, or not even text
            return Decision(400, reason="the request is malformed")

    def _decide(self, path: str, headers: Mapping[str, str]) -> Decision:
        host, origin = headers.get("host", ""), headers.get("origin")
        if len(path) > LONGEST_PATH or (host and not _HOST.fullmatch(host)):
            return Decision(400, reason="the request is malformed")
        if origin is not None and urlsplit(origin).netloc != host:
            return Decision(403, reason="another page asked for this one")
        name = urlsplit(f"//{host}").hostname or ""
        if is_loopback(self.host) and not is_loopback(name):
            return Decision(403, reason="this page is for this machine only")
        if not self.token:
            return Decision(200)
        given = parse_qs(urlsplit(path).query).get("token", [""])[0]
        if hmac.compare_digest(given.encode(), self.token.encode()):
            return Decision(303, cookie=f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/")
        try:
            kept = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            kept = None
        if kept is not None and hmac.compare_digest(kept.value.encode(), self.token.encode()):
            return Decision(200)
        return Decision(403, reason="the link of this page has a token: use the whole link")


def is_loopback(host: str) -> bool:
    """Whether an address or a name is this machine's own and nobody else's."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def free_port(host: str, port: int | None) -> int:
    """A port of this address that can be listened on: the one asked for, or the first free one of `PORTS`.

    Raises:
        InputError: there is none, or the address is not this machine's.
    """
    problem = ""
    for candidate in [port] if port is not None else range(PORTS[0], PORTS[1] + 1):
        try:
            family = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0][0]
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, candidate))
                return int(probe.getsockname()[1])
        except (OSError, OverflowError) as error:
            problem = getattr(error, "strerror", None) or str(error)
    asked = f"port {port}" if port is not None else f"any port from {PORTS[0]} to {PORTS[1]}"
    raise InputError(f"cannot listen on {host}, {asked}: {problem}. Give another host or port", argument="port")
