"""Which hosts an agent's provider is: all that a sandbox with `network = "provider"` lets it reach."""

import pytest

from nobrakes.agents.adapter import host_of
from nobrakes.agents.claude import Claude
from nobrakes.agents.codex import Codex
from nobrakes.agents.gemini import Gemini
from nobrakes.config.sections import AgentSettings, ClaudeSettings, CodexSettings, GeminiSettings
from nobrakes.errors import ConfigError

URL = "http://127.0.0.1:8000/v1"
OURS = AgentSettings(
    claude=ClaudeSettings(base_url=URL), codex=CodexSettings(base_url=URL), gemini=GeminiSettings(base_url=URL)
)


@pytest.mark.parametrize(
    ("adapter", "keys", "hosts"),
    [
        (Claude(), {"ANTHROPIC_API_KEY": "k"}, ["api.anthropic.com:443"]),
        (
            Claude(),
            {"CLAUDE_CODE_OAUTH_TOKEN": "k", "ANTHROPIC_BASE_URL": "https://Ours.example"},
            ["ours.example:443"],
        ),
        (Claude(), {}, ["api.anthropic.com:443", "platform.claude.com:443"]),
        (Codex(), {"OPENAI_API_KEY": "k"}, ["api.openai.com:443"]),
        (Codex(), {}, ["chatgpt.com:443", "api.openai.com:443", "auth.openai.com:443"]),
        (Gemini(), {"GEMINI_API_KEY": "k"}, ["generativelanguage.googleapis.com:443"]),
        (Gemini(), {}, ["cloudcode-pa.googleapis.com:443", "oauth2.googleapis.com:443"]),
        (
            Gemini(),
            {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_LOCATION": "europe-west4"},
            [
                "europe-west4-aiplatform.googleapis.com:443",
                "aiplatform.googleapis.com:443",
                "oauth2.googleapis.com:443",
            ],
        ),
    ],
)
def test_an_agent_reaches_its_provider(assign, adapter, keys, hosts):
    a = assign(env={"NOBRAKES_HOME": "/n", "PATH": "/bin", **keys})
    assert [host_of(url) for url in adapter.launch(a).hosts] == hosts


@pytest.mark.parametrize(
    ("adapter", "key"), [(Claude(), "ANTHROPIC_API_KEY"), (Codex(), "OPENAI_API_KEY"), (Gemini(), "GEMINI_API_KEY")]
)
def test_another_address_takes_the_place_of_the_providers(assign, adapter, key):
    a = assign(env={"NOBRAKES_HOME": "/n", "PATH": "/bin", key: "k"}, settings=OURS)
    assert [host_of(url) for url in adapter.launch(a).hosts] == ["127.0.0.1:8000"]


@pytest.mark.parametrize("url", ["ftp://x", "api.example", "https://", "https://x:y", "https://x:0x1"])
def test_what_is_no_address_is_told(url):
    with pytest.raises(ConfigError):
        host_of(url)


def test_an_address_is_a_host_and_a_port():
    assert [host_of(url) for url in ("https://u:p@A.example/x", "http://[::1]:80/", "http://x")] == [
        "a.example:443",
        "[::1]:80",
        "x:80",
    ]
