"""Members of a simulated chat platform, for readers of presence: `python -m benchmarks.presence_store --members N`.

Says where the platform listens and who is there, in one line of JSON. From then on every banner in the store is a
fresh one, as it is where members are looked at often: reading a banner from the platform is not what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

EVERY = 20.0  # seconds; a banner is fresh for 30


def main(count: int) -> None:
    from demo.chat_platform.running import Simulator

    with Simulator.started() as platform:
        ids = platform.populate(count)
        values = {"CHAT_GUILD_ID": platform.guild_id, "CHAT_BOT_TOKEN": platform.bot_token}
        values |= {"CHAT_API_URL": platform.api_url}
        print(json.dumps({"environment": values, "ids": ids}), flush=True)
        os.environ.update(values)
        import django

        django.setup()
        from presence.store import store
        from presence.store.store import Banner

        opened = store.opened()
        accounts = {chat_id: platform.account(chat_id) or {} for chat_id in ids}
        while True:
            for chat_id, account in accounts.items():
                opened.keep_banner(chat_id, Banner(account.get("banner"), time.time()))
            time.sleep(EVERY)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, required=True)
    try:
        main(parser.parse_args().members)
    except KeyboardInterrupt:
        sys.exit(130)
