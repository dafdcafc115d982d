"""The address under which a request counts.

Only the header named by `EDGE_CLIENT_ADDRESS_HEADER` is believed, and only where it is set; otherwise the peer counts.
"""

import contextlib
import functools
import socket
from collections.abc import Mapping
from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings

from infrastructure.settings_cache import from_settings

# The address of the request that is being served, for audit events; empty in commands and jobs.
current: ContextVar[str] = ContextVar("client_address", default="")


def of(meta: Mapping[str, Any]) -> str | None:
    """The address that limits count: IPv4 whole, IPv6 by its /64, IPv4-mapped IPv6 as IPv4.

    `meta`: a WSGI environ, or the META of a request. None where the edge proxy's header is required and is missing or
    no address.
    """
    header = _header()
    if header:
        return normalized(meta.get(header, ""))
    return normalized(meta.get("REMOTE_ADDR", "")) or "unknown"


def has_edge_proxy() -> bool:
    """Whether all requests come from an edge proxy, whose headers are believed."""
    return bool(_header())


@from_settings
def _header() -> str:
    """The name of the edge proxy's header in WSGI, "" for none."""
    name = settings.EDGE_CLIENT_ADDRESS_HEADER
    return "HTTP_" + name.upper().replace("-", "_") if name else ""


@functools.lru_cache(maxsize=10_000)
def normalized(value: str) -> str | None:
    """`value` as it is counted, or None where it is no address."""
    value = value.strip()
    with contextlib.suppress(OSError, ValueError):
        socket.inet_pton(socket.AF_INET, value)  # a twentieth of the time of `ip_address`
        return value
    try:
        address = ip_address(value)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((address.packed, 64), strict=False))
    return str(address)


@functools.lru_cache(maxsize=1024)
def network_of(address: str) -> str:
    """The /24 or /48 that an address lies in; empty where it is none."""
    try:
        parsed = ip_address(address.partition("/")[0])  # an IPv6 address is counted by its /64 already
    except ValueError:
        return ""
    return str(ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))
