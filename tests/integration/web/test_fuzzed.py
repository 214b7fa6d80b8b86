"""The whole of openapi.json, tried with values that nobody thought of: no answer is a failure of the server."""

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from nobrakes.web import openapi

SECONDS = 25
NOT_TRIED = ("/do/daemon-", "/do/notify-test")
"""They start processes of the machine's."""


@pytest.mark.slow
def test_no_value_makes_the_server_fail(site) -> None:
    import schemathesis
    from schemathesis import GenerationMode

    end, tried, failed = time.monotonic() + SECONDS, 0, []
    served = schemathesis.openapi.from_dict(openapi.openapi())
    found = [one.ok() for one in served.get_all_operations()]
    for operation in [one for one in found if not any(word in one.path for word in NOT_TRIED)]:
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @seed(1)
            @settings(
                max_examples=4,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                nonlocal tried
                if time.monotonic() > end:
                    return
                if tried % 4:
                    case.path_parameters = {**(case.path_parameters or {}), "repo": "shop"}
                headers = site.headers(origin=site.origin, accept="application/json")
                base = f"http://127.0.0.1:{site.site.port}"
                answer = case.call(base_url=base, headers=headers, allow_redirects=False, timeout=20)
                tried += 1
                if answer.status_code >= 500:
                    failed.append(
                        (
                            case.method,
                            case.operation.path,
                            answer.status_code,
                            repr(case.body)[:200],
                            repr(case.query)[:100],
                        )
                    )

            try:
                ask()
            except Exception as error:
                if type(error).__name__ not in ("Unsatisfiable", "InvalidArgument", "SkipTest", "Skipped"):
                    raise
    assert failed == [] and tried > 50, (tried, failed)
