"""The protected files of a project that names none: files that decide whether work is good. Pure.

CI, hooks and rules of git and agents; settings of runners, linters and builds by ecosystem. Lists of dependencies are
no gates (git.manifests.formats), and neither is what a product is built of.
"""

GIT_RULES = (".gitattributes", ".gitmodules", ".lfsconfig")
"""Git's own rules: nobody is asked about them, they are refused (core.policy.boundaries)."""

GATES: tuple[str, ...] = (
    *GIT_RULES,
    ".github/**", ".gitlab-ci.yml", ".circleci/**", ".ci/**", ".githooks/**", ".husky/**", ".pre-commit-config.yaml",
    ".claude/**", ".codex/**", ".gemini/**", ".mcp.json", "AGENTS.md", "CLAUDE.md",
    "CLAUDE.local.md", "GEMINI.md", ".cursor/**", ".cursorrules", ".envrc", ".vscode/**", ".idea/**", ".zed/**",
    ".devcontainer/**", "conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "noxfile.py", "Makefile", "justfile",
    "GNUmakefile", "pytest.toml", ".pytest.*", ".coveragerc", "jest.config.*", "vitest.config.*", "phpunit.xml*",
    ".rspec", "ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8", ".pylintrc", "pyrightconfig.json",
    "sitecustomize.py", "usercustomize.py", "tsconfig*.json", "jsconfig.json", "eslint.config.*", ".eslintrc*",
    ".eslintignore", "biome.json*", ".prettierrc*", "prettier.config.*", "jest.setup.*", "jest-setup.*",
    "vitest.setup.*", "vitest.workspace.*", "vite.config.*", "babel.config.*", ".babelrc*", ".swcrc", "karma.conf.*",
    "playwright.config.*", "cypress.config.*", "ava.config.*", ".mocharc*", ".nycrc*", ".c8rc*", ".taprc", ".npmrc",
    ".yarnrc*", ".pnpmfile.*", "pnpm-workspace.yaml", "deno.json*", "bunfig.toml", ".env", ".env.test", ".golangci.*",
    "go.work", "clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", "**/.cargo/config*", "nextest.toml",
    "rust-toolchain*", "CMakeLists.txt", "CMakePresets.json", "*.cmake", "meson.build", "build.rs",
    "gradle.properties", "**/gradle/wrapper/**", "gradlew*", "**/.mvn/**", "mvnw*", "build.sbt", "Directory.Build.*",
    "Directory.Packages.props", "*.runsettings", "xunit.runner.json", "Rakefile", ".rubocop.yml", "phpstan.neon*",
    ".credo.exs", ".formatter.exs", "analysis_options.yaml", "dart_test.yaml", "Taskfile.y*ml", ".perlcriticrc",
    ".proverc", "setupTests.*", ".bazelrc", ".simplecov", ".node-version", ".nvmrc", ".ruby-version",
    ".python-version", ".tool-versions", ".forgejo/**", ".gitea/**", ".buildkite/**", ".travis.yml", ".drone.yml",
    ".woodpecker.y*ml", ".woodpecker/**", "appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml",
    "Jenkinsfile", "lefthook.y*ml", ".lefthook.y*ml", "lint-staged.config.*", ".lintstagedrc*", "mise.toml",
    ".mise.toml", ".env.local", ".env.test.local", ".flaskenv", "tox.toml", ".stestr.conf", ".testr.conf",
    "behave.ini", ".behaverc", "nose2.cfg", "unittest.cfg", "nose.cfg", "pylintrc", ".pydocstyle*", ".bandit",
    ".isort.cfg", "ty.toml", ".jestrc*", "jest.preset.*", "jest.resolver.*", ".pnp.*", "**/.yarn/releases/**",
    "**/.yarn/plugins/**", "pnpmfile.*", "nx.json", "turbo.json", "wdio.conf.*", "nightwatch.conf.*",
    "protractor.conf.*", ".testcaferc*", "web-test-runner.config.*", "stryker.conf*", ".oxlintrc*",
    "stylelint.config.*", ".stylelintrc*", "testng.xml", "*.gradle", "*.gradle.kts", "**/buildSrc/**",
    "**/build-logic/**", ".rspec-local", "*.rake", "**/rakelib/**", "Rakefile.rb", ".minitest*", ".test-unit.yml",
    "test-unit.yml", "**/.bundle/config", ".standard.yml", "phpunit.dist.xml", "phpspec.y*ml", "behat.y*ml",
    "codeception.y*ml", "psalm.xml*", "infection.json*", ".php-cs-fixer*", "**/config/test.exs", "coveralls.json",
    ".dialyzer_ignore.exs", "pubspec_overrides.yaml", "tests.edn", ".hspec", "global.json", "nuget.config",
    "meson.options", "meson_options.txt", "Makefile.am", "Makefile.in", "SConstruct", "wscript",
)  # fmt: skip
"""Globs (core.globs), compared without case."""
