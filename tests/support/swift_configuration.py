"""The files that OpenStack Swift reads: a proxy that speaks S3, and one server of each kind behind it."""

import getpass
from pathlib import Path

KINDS = ("account", "container", "object")
SERVERS = (*(f"{kind}-server" for kind in KINDS), "proxy-server")

# Messages go to stderr alone, not to the machine's log.
EVERY = """\
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
bind_timeout = 5
workers = 0
user = {user}
swift_dir = {directory}
devices = {directory}/devices
mount_check = false
disable_fallocate = true
log_level = WARNING
log_udp_host = 127.0.0.1
log_udp_port = 9
"""
BACKEND = """
[pipeline:main]
pipeline = {kind}-server

[app:{kind}-server]
use = egg:swift#{kind}
"""
# A server that was killed is asked again at once when it is back.
PROXY = """
[pipeline:main]
pipeline = {filters} proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
conn_timeout = 1
node_timeout = 10
error_suppression_interval = 0
"""
# The order matters; a repeated name is one filter. No memcached: it would be the machine's, and outlive a run.
FILTERS = (
    "catch_errors gatekeeper proxy_logging listing_formats bulk s3api tempauth slo dlo symlink proxy_logging"
).split()
SETTINGS = {
    "s3api": "auth_pipeline_check = false\n",
    "tempauth": "user_{account}_{user} = {secret_key} .admin\n",
}


def write(directory: Path, ports: dict[str, int], *, access_key: str, secret_key: str) -> None:
    """`access_key` is `account:user`, which is how Swift names people."""
    (directory / "devices" / "disk").mkdir(parents=True)
    (directory / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = tests\n")
    for server in SERVERS:
        head = EVERY.format(port=ports[server], user=getpass.getuser(), directory=directory)
        kind = server.removesuffix("-server")
        body = BACKEND.format(kind=kind) if kind in KINDS else _proxy(access_key, secret_key)
        (directory / f"{server}.conf").write_text(head + body)


def _proxy(access_key: str, secret_key: str) -> str:
    account, user = access_key.split(":")
    facts = {"account": account, "user": user, "secret_key": secret_key}
    sections = [
        f"\n[filter:{name}]\nuse = egg:swift#{name}\n{SETTINGS.get(name, '').format(**facts)}"
        for name in dict.fromkeys(FILTERS)
    ]
    return PROXY.format(filters=" ".join(FILTERS)) + "".join(sections)
