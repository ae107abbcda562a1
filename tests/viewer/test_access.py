from __future__ import annotations

import pytest

from iparam.errors import InputError
from iparam.viewer.access import Access, free_port, is_loopback


def test_this_machine_s_own_page_needs_no_token_and_is_for_its_own_browser_only() -> None:
    access = Access.to("127.0.0.1")
    assert access.link(8080) == "http://127.0.0.1:8080/"
    assert access.decide("/", {"host": "127.0.0.1:8080"}).status == 200
    assert access.decide("/", {"host": "localhost:9000"}).status == 200  # forwarded by ssh
    assert access.decide("/", {"host": "evil.example:8080"}).status == 403  # a name that leads here
    own, other = "http://127.0.0.1:8080", "http://evil.example"
    assert access.decide("/", {"host": "127.0.0.1:8080", "origin": own}).status == 200
    assert access.decide("/", {"host": "127.0.0.1:8080", "origin": other}).status == 403
    assert access.decide("/", {}).status == 403


def test_another_address_needs_the_token_of_its_link() -> None:
    access = Access.to("0.0.0.0")
    token = access.link(8080).partition("?token=")[2]
    assert len(token) >= 32
    assert token not in repr(access)
    assert access.decide("/", {"host": "robot:8080"}).status == 403
    assert access.decide("/?token=wrong", {"host": "robot:8080"}).status == 403
    entered = access.decide(f"/?token={token}", {"host": "robot:8080"})
    assert entered.status == 303
    assert "HttpOnly; SameSite=Strict" in entered.cookie
    cookie = entered.cookie.partition(";")[0]
    assert access.decide("/", {"host": "robot:8080", "cookie": cookie}).status == 200
    assert access.decide("/", {"host": "robot:8080", "cookie": "iparam-view=wrong"}).status == 403
    assert access.decide("/", {"host": "robot:8080", "cookie": cookie, "origin": "http://other"}).status == 403
    assert Access.to("0.0.0.0").token != token
    with pytest.raises(InputError, match="needs a token"):
        Access("10.0.0.1")


TOKEN = "t" * 32


def test_a_page_with_a_token_needs_it_on_this_machine_too() -> None:
    access = Access("127.0.0.1", TOKEN)
    token = access.link(8080).partition("?token=")[2]
    here = {"host": "127.0.0.1:8080"}
    assert access.decide("/", here).status == 403
    assert access.decide(f"/?token={token}", {"host": "evil.example"}).status == 403
    entered = access.decide(f"/?token={token}", here)
    assert entered.status == 303
    assert access.decide("/", {**here, "cookie": entered.cookie.partition(";")[0]}).status == 200


@pytest.mark.parametrize("token", [TOKEN, ""])
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {"host": "["}),
        ("/", {"host": "[::1"}),
        ("/", {"host": "127.0.0.1:8080, evil.example"}),
        ("/", {"host": "127.0.0.1\udc80"}),
        ("/", {"host": "localhost:99999999"}),
        ("/", {"host": "localhost", "origin": "http://[::1"}),
        ("/" + "x" * 5000, {"host": "localhost"}),
    ],
)
def test_a_malformed_request_is_told_so(path: str, headers: dict[str, str], token: str) -> None:
    assert Access("127.0.0.1", token).decide(path, headers).status == 400


def test_a_token_that_is_no_text_is_malformed() -> None:
    access = Access("127.0.0.1", TOKEN)
    assert access.decide("/?token=\udc80", {"host": "localhost"}).status == 400
    assert access.decide("/", {"host": "localhost", "cookie": "iparam-view=\udc80"}).status in (400, 403)


@pytest.mark.parametrize(("host", "own"), [("127.3.4.5", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)])
def test_which_addresses_are_this_machine_s_own(host: str, own: bool) -> None:
    assert is_loopback(host) is own


def test_a_port_that_cannot_be_had_is_an_error_that_says_so() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"cannot listen on 127.0.0.1, port {port}: .*port="):
            free_port("127.0.0.1", port)
    with pytest.raises(InputError, match=r"cannot listen on 203\.0\.113\.7"):
        free_port("203.0.113.7", 8080)
    assert 8080 <= free_port("127.0.0.1", None) < 8180
