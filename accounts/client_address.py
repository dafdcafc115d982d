"""Which address a request counts under.

Only the header named by `EDGE_CLIENT_ADDRESS_HEADER` is believed, and only where it is set; otherwise the peer counts.
"""

from contextvars import ContextVar
from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

# The address of the request that is being served, for audit events; empty in commands and jobs.
current: ContextVar[str] = ContextVar("client_address", default="")


def of(request: HttpRequest) -> str | None:
    """The address that limits count: IPv4 whole, IPv6 by its /64, IPv4-mapped IPv6 as IPv4.

    None where the edge proxy's header is required and is missing or no address.
    """
    header = settings.EDGE_CLIENT_ADDRESS_HEADER
    if header:
        return normalized(request.headers.get(header, ""))
    return normalized(request.META.get("REMOTE_ADDR", "")) or "unknown"


def normalized(value: str) -> str | None:
    """`value` as it is counted, or None where it is no address."""
    try:
        address = ip_address(value.strip())
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((address.packed, 64), strict=False))
    return str(address)
