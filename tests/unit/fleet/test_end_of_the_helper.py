"""The helper that talks to the nodes ends when its settings are old, whoever is connected."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from nobrakes.fleet import gateway
from nobrakes.fleet.model import LINE, SETTINGS


def test_old_settings_end_the_helper_though_a_run_is_connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def waits_for_connections(_: Any) -> None:  # as it does from Python 3.12 on
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.Server, "wait_closed", waits_for_connections)
    monkeypatch.setattr(gateway, "LOOK_SECONDS", 0.01)
    (tmp_path / LINE).parent.mkdir(exist_ok=True)
    old = {"reserved_for_checks": 0}
    (tmp_path / SETTINGS).write_text(json.dumps(old))

    async def story() -> None:
        made = gateway.Gateway(str(tmp_path), old)

        async def look() -> None:
            pass

        made._look = look  # type: ignore[method-assign]
        helper = asyncio.create_task(made.run())
        while not (tmp_path / LINE).exists() and not helper.done():
            await asyncio.sleep(0.01)
        _, run = await asyncio.open_unix_connection(str(tmp_path / LINE))
        while not made._lines:
            await asyncio.sleep(0.01)
        new = tmp_path / "new"
        new.write_text(json.dumps({"reserved_for_checks": 1}))
        new.replace(tmp_path / SETTINGS)
        await asyncio.wait_for(helper, 10)
        run.close()

    asyncio.run(story())
