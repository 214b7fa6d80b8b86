"""How a scripted model speaks to each CLI: the names of its tools, and where its API is.

An agent of the Agent Client Protocol may ask any of the three APIs, so it is told where each of them is, in the words
of the CLIs that it may be made of.
"""

from dataclasses import dataclass
from typing import Any

from ..config.sections import AcpSettings, AgentSettings, ClaudeSettings, CodexSettings, GeminiSettings

Call = tuple[str, Any]
"""A tool and what it is given."""
ACP = "acp"

DUMMY = "nobrakes-dummy-key"
KEYS = {"claude": "ANTHROPIC_API_KEY", "codex": "CODEX_API_KEY", "gemini": "GEMINI_API_KEY"}
AGENTS = tuple(KEYS)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One CLI, with its API at this port."""

    name: str
    executable: str
    port: int

    def settings(self) -> AgentSettings:
        """The settings of an attempt."""
        url = f"http://127.0.0.1:{self.port}/s/{self.name}"
        if self.name == "claude":
            claude = ClaudeSettings(executable=self.executable, model="claude-sonnet-4-5", base_url=url)
            return AgentSettings(claude=claude)
        if self.name == "codex":
            return AgentSettings(codex=CodexSettings(executable=self.executable, model="gpt-5.5", base_url=f"{url}/v1"))
        gemini = GeminiSettings(executable=self.executable, model="gemini-2.5-pro", base_url=url)
        return AgentSettings(gemini=gemini)

    def shell(self, command: str) -> Call:
        """A command line."""
        if self.name == "claude":
            return "Bash", {"command": command}
        if self.name == "codex":
            return "exec_command", {"cmd": command}
        return "run_shell_command", {"command": command, "description": "go on"}

    def write(self, workspace: str, path: str, text: str) -> Call:
        """A file of the workspace, made by the tool for it."""
        if self.name == "claude":
            return "Write", {"file_path": f"{workspace}/{path}", "content": text}
        if self.name == "codex":
            return "apply_patch", f"*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n"
        return "write_file", {"file_path": path, "content": text}


@dataclass(frozen=True, slots=True)
class AnyDialect:
    """An ACP agent, with all three APIs at this port."""

    command: tuple[str, ...]
    auth: str
    port: int

    def settings(self) -> AgentSettings:
        """The settings of an attempt."""
        acp = AcpSettings(command=self.command, auth=self.auth, keys=tuple(self.keys()))
        return AgentSettings(acp=acp, environment=tuple(self.environment()))

    def keys(self) -> dict[str, str]:
        """The keys that it is given."""
        return dict.fromkeys((*KEYS.values(), "OPENAI_API_KEY"), DUMMY)

    def environment(self) -> dict[str, str]:
        """Where the APIs are, and what Gemini CLI needs to start without a question."""
        url = f"http://127.0.0.1:{self.port}/s"
        return {
            "ANTHROPIC_BASE_URL": f"{url}/claude",
            "OPENAI_BASE_URL": f"{url}/codex/v1",
            "GOOGLE_GEMINI_BASE_URL": f"{url}/gemini",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def files(self) -> dict[str, str]:
        """What lies in its home: which of its ways to log in Gemini CLI takes."""
        return {".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'}
