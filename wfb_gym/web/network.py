"""Addresses and access token of the web UI's server."""

import secrets
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters that look alike
_GROUPS, _GROUP = 3, 4
_HTTP_PORT = 80

Address = IPv4Address | IPv6Address


@dataclass(frozen=True)
class Site:
    """The address that the server listens on, and the token that its users need."""

    host: Address  # the address to listen on; 0.0.0.0 or :: for all IPv4 or IPv6 addresses
    port: int  # the port to listen on
    # the token that every browser needs, or None if only this computer can connect
    token: str | None

    @property
    def addresses(self) -> list[Address]:
        """The addresses at which browsers reach the server, this computer's own last."""
        return local_addresses(self.host.version) if self.host.is_unspecified else [self.host]

    @property
    def host_names(self) -> set[str]:
        """The names that a request's Host header may contain, without the port."""
        addresses = self.addresses
        names = {_in_url(each) for each in addresses}
        return names | ({"localhost"} if any(each.is_loopback for each in addresses) else set())

    @property
    def urls(self) -> list[str]:
        """The URLs at which browsers reach the server, with the token."""
        port = "" if self.port == _HTTP_PORT else f":{self.port}"
        query = "" if self.token is None else f"?token={self.token}"
        return [f"http://{_in_url(each)}{port}/{query}" for each in self.addresses]


def parse_host(text: str) -> Address:
    """Parse an address to listen on.

    Raises:
        ValueError: if it is not an IP address, or browsers cannot open it.
    """
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        if address.scope_id is not None or address.is_link_local:
            raise ValueError("browsers cannot open link-local addresses")
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
    return address


def random_token() -> str:
    """Return a random token of 59 bits that is easy to type, such as "abcd-efgh-jkmn"."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def free_port(host: Address, wanted: int) -> int:
    """Return a free port: the one wanted, or any free port if it is 0.

    Raises:
        OSError: if the port is in use, or the address does not belong to this computer.
    """
    family = socket.AF_INET if isinstance(host, IPv4Address) else socket.AF_INET6
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((str(host), wanted))
        return int(probe.getsockname()[1])


def local_addresses(version: int) -> list[Address]:
    """Return the IPv4 or IPv6 addresses of this computer that browsers can open, loopback last."""
    import ifaddr  # installed with NiceGUI

    texts = [ip.ip for adapter in ifaddr.get_adapters() for ip in adapter.ips]
    found = [ip_address(text if isinstance(text, str) else text[0]) for text in texts]
    usable = {each for each in found if each.version == version and not each.is_link_local}
    return sorted(usable, key=lambda each: (each.is_loopback, not each.is_private, int(each)))


def _in_url(address: Address) -> str:
    return str(address) if isinstance(address, IPv4Address) else f"[{address}]"
