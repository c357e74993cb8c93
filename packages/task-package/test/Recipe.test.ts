/**
 * The environment of a package, from the files that describe it: shapes that public robots have, in texts of our own.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Recipe from "../src/Recipe.ts"

type Files = Readonly<Record<string, string>>

const linux = { platform: "linux", arch: "x64" }

const read = (files: Files, machine = linux) => Recipe.read((path) => Effect.succeed(files[path] ?? null), machine)

const robot = (more: string) => `tasks: { a: { shell: x } }\n${more}\n`
const conda = (content: string) => ({ "robot.yaml": robot("condaConfigFile: conda.yaml"), "conda.yaml": content })

const pipList = `channels:
  - conda-forge
dependencies:
  - python=3.10.12
  - pip=23.2.1
  - pip:
      - rpaframework==27.7.0
`

type Expected = Partial<Recipe.Recipe> | null

const shapes: ReadonlyArray<readonly [what: string, files: Files, expected: Expected]> = [
  ["nothing", { "robot.yaml": robot("") }, null],
  ["an empty conda.yaml", conda(""), null],
  [
    "a Python and a list for pip",
    conda(pipList),
    {
      python: "3.10.12",
      hasPip: true,
      pip: ["rpaframework==27.7.0"],
      conda: [],
      channels: ["conda-forge"],
      source: "conda.yaml"
    }
  ],
  [
    "the old 3.7 with a build and two equals signs",
    conda("dependencies:\n- python==3.7.5=h0371630_0\n- pip: [rpaframework==1.3.0, 'Pillow>=8,<9']\n"),
    { python: "3.7.5", pip: ["rpaframework==1.3.0", "Pillow>=8,<9"], channels: [] }
  ],
  ["a Python with a star", conda("dependencies: ['python 3.9.*', {pip: [a]}]"), { python: "3.9", pip: ["a"] }],
  ["a range of Pythons", conda("dependencies: ['python >=3.9, <3.12']"), { python: ">=3.9,<3.12" }],
  [
    "a time after which packages are too young",
    { ...conda(pipList), "robot.yaml": robot("condaConfigFile: conda.yaml\nexcludeNewer: 2026-11-20") },
    { excludeNewer: "2026-11-20" }
  ],
  ["only packages of conda", conda("dependencies: [python=3.9, nodejs=16.14.2]"), { conda: ["nodejs=16.14.2"] }],
  [
    "a package with a channel of its own",
    conda("channels: [defaults]\ndependencies: ['conda-forge::opencv=4.8', pymssql]"),
    { python: null, conda: ["conda-forge::opencv=4.8", "pymssql"], channels: ["defaults", "conda-forge"] }
  ],
  [
    "uv as the installer",
    conda("dependencies: [python=3.12.8, uv=0.6.11, pip: [robocorp==2.1.3]]"),
    { python: "3.12.8", hasPip: false, conda: [], pip: ["robocorp==2.1.3"] }
  ],
  [
    "a package for conda and for pip",
    conda("dependencies: [python=3.9, requests=2.31, robotframework-browser, pip: [Requests==2.32.3]]"),
    { conda: ["robotframework-browser"], pip: ["Requests==2.32.3"] }
  ],
  [
    "commands after the build",
    conda("dependencies: [python=3.10, pip: [a]]\nrccPostInstall:\n  - rfbrowser init\n  - python -c 'print(1)'\n"),
    {
      postInstall: [
        ["rfbrowser", "init"],
        ["python", "-c", "print(1)"]
      ]
    }
  ],
  [
    "pip with an index, a marker, extras and an address",
    conda(
      `dependencies: [python=3.10, pip: ["--extra-index-url https://pypi.example.com/simple", "a[b]==1; sys_platform == 'linux'", "c @ https://example.com/c-1.zip", "git+https://example.com/d.git@v1"]]`
    ),
    {
      pip: [
        "--extra-index-url https://pypi.example.com/simple",
        "a[b]==1; sys_platform == 'linux'",
        "c @ https://example.com/c-1.zip",
        "git+https://example.com/d.git@v1"
      ]
    }
  ],
  [
    "a list for pip in a file",
    {
      ...conda("dependencies: [python=3.10, pip: ['-r requirements.txt']]"),
      "requirements.txt": "a==1\n-r more.txt\n",
      "more.txt": "b # two\n"
    },
    { pip: ["a==1", "b"] }
  ],
  ["an anchor", conda("x: &v python=3.11\ndependencies: [*v, pip: [a]]"), { python: "3.11", pip: ["a"] }],
  [
    "a frozen environment of this machine",
    {
      "robot.yaml": robot(
        "environmentConfigs: [environment_windows_amd64_freeze.yaml, environment_linux_amd64_freeze.yaml, conda.yaml]"
      ),
      "environment_windows_amd64_freeze.yaml": "dependencies: [python=3.1]",
      "environment_linux_amd64_freeze.yaml": "dependencies: [python=3.10.12, libffi=3.4.2=h7f98852_5]",
      "conda.yaml": pipList
    },
    { python: "3.10.12", conda: ["libffi=3.4.2=h7f98852_5"], source: "environment_linux_amd64_freeze.yaml" }
  ],
  [
    "frozen environments of other machines, and one that does not say which",
    {
      "robot.yaml": robot("environmentConfigs: [a_linux_arm64_freeze.yaml, a_freeze.yaml, gone.yaml, conda.yaml]"),
      "a_linux_arm64_freeze.yaml": "dependencies: [python=3.1]",
      "a_freeze.yaml": "dependencies: [python=3.2]",
      "conda.yaml": pipList
    },
    { source: "conda.yaml" }
  ],
  [
    "configurations that are not there beside a conda.yaml",
    { "robot.yaml": robot("environmentConfigs: [gone.yaml]\ncondaConfigFile: c/conda.yml"), "c/conda.yml": pipList },
    { source: "c/conda.yml" }
  ],
  [
    "package.yaml",
    {
      "robot.yaml": robot(""),
      "package.yaml": `spec-version: v2
dependencies:
  conda-forge:
    - python=3.11.11
    - uv=0.6.11
  pypi:
    - robocorp=2.1.3
    - sema4ai-actions[x] = 1.3.6
    - pydantic>=2
post-install:
  - python -m playwright install chromium
pythonpath: [src, tests]
`
    },
    {
      python: "3.11.11",
      pip: ["robocorp==2.1.3", "sema4ai-actions[x] ==1.3.6", "pydantic>=2"],
      channels: ["conda-forge"],
      postInstall: [["python", "-m", "playwright", "install", "chromium"]],
      pythonPath: ["src", "tests"]
    }
  ],
  [
    "a project of uv",
    {
      "robot.yaml": robot(""),
      "pyproject.toml": `[project]\nname = "a"\nrequires-python = ">= 3.11"\n`,
      "uv.lock": "version = 1\n"
    },
    { python: ">=3.11", pip: [], source: "pyproject.toml" }
  ],
  [
    "a project without a lock, and requirements",
    {
      "robot.yaml": robot(""),
      "pyproject.toml": "[project]\n",
      "requirements.txt": "\uFEFF# all\r\nrequests==2.32.3 \\\r\n  --hash=sha256:00\r\n\r\n--pre\r\n"
    },
    { python: null, pip: ["requests==2.32.3 --hash=sha256:00", "--pre"], source: "requirements.txt" }
  ],
  ["no robot.yaml", { "requirements.txt": "a" }, { pip: ["a"] }]
]

describe("the environment of a package with", () => {
  for (const [what, files, expected] of shapes) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const recipe = yield* read(files)
        if (expected === null) return assert.isNull(recipe)
        assert.deepStrictEqual(recipe, { ...recipe, ...expected } as Recipe.Recipe)
      })
    )
  }
})

describe("an environment that cannot be read names the file and the line:", () => {
  const bad: ReadonlyArray<readonly [what: string, files: Files, message: RegExp]> = [
    ["no YAML", conda("channels:\n  - a\ndependencies: [\n"), /^conda\.yaml:[34]: not valid YAML: /],
    ["no list", conda("channels: [a]"), /^conda\.yaml: has no list `dependencies`/],
    ["a text for a list", conda("dependencies: python"), /^conda\.yaml:1: dependencies: expected a list/],
    [
      "a number",
      conda("dependencies:\n  - python=3.9\n  - 3.10\n"),
      /^conda\.yaml:3: dependencies\[1\]: expected a text/
    ],
    ["no package", conda("dependencies:\n  - 'a b::c'\n"), /^conda\.yaml:2: "a b::c" is not a conda package/],
    ["a wrong Python", conda("dependencies:\n  - python=three\n"), /^conda\.yaml:2: "python=three" has no version/],
    ["another list", conda("dependencies:\n  - npm:\n    - a\n"), /^conda\.yaml:2: dependencies: npm has a list/],
    ["pip twice", conda("dependencies:\n  - pip: [a]\n  - pip: [b]\n"), /^conda\.yaml:3: pip: given twice/],
    [
      "a path",
      conda("dependencies:\n  - pip:\n    - a\n    - ./lib\n"),
      /^conda\.yaml:4: "\.\/lib" is a path.*PYTHONPATH/
    ],
    ["an editable path", { "requirements.txt": "a\n-e .\n" }, /^requirements\.txt:2: "-e \." is a path/],
    [
      "constraints",
      { "requirements.txt": "-c c.txt" },
      /^requirements\.txt:1: "-c c\.txt" names a file of constraints/
    ],
    ["another option", { "requirements.txt": "--target /" }, /^requirements\.txt:1: "--target \/" is not installable/],
    ["a missing include", { "requirements.txt": "\n-r more.txt" }, /^requirements\.txt:2: more\.txt does not exist/],
    ["an include from outside", { "requirements.txt": "-r ../x" }, /^requirements\.txt:1: \.\.\/x is not inside/],
    ["a circle", { "requirements.txt": "-r b", b: "a\n-rb" }, /^b:2: b includes itself/],
    [
      "an open quote",
      conda("dependencies: [a]\nrccPostInstall:\n  - a 'b\n"),
      /^conda\.yaml:3: "a 'b": a quote is not closed/
    ],
    [
      "a missing conda.yaml",
      { "robot.yaml": robot("condaConfigFile: c.yaml") },
      /^robot\.yaml:2: condaConfigFile: c\.yaml does not exist/
    ],
    [
      "a project without a name",
      { "pyproject.toml": "a = 1", "uv.lock": "" },
      /^pyproject\.toml: has no table \[project\]/
    ],
    [
      "a time that does not exist",
      { ...conda(pipList), "robot.yaml": robot("condaConfigFile: conda.yaml\nexcludeNewer: 2026-02-30") },
      /^robot\.yaml:3: excludeNewer: expected a date such as 2026-11-20, .* not "2026-02-30"/
    ],
    ["no TOML", { "pyproject.toml": "a = 1\nb = [", "uv.lock": "" }, /^pyproject\.toml:2: not valid TOML/]
  ]
  for (const [what, files, message] of bad) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(files))
        assert.match(error.message, message)
        assert.strictEqual(
          error.message.startsWith(`${error.file}${error.line === null ? "" : `:${error.line}`}: `),
          true
        )
      })
    )
  }

  it.effect("a password, which the message does not show", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read({ "requirements.txt": "-i https://user:hunter2@pypi.example.com/simple" }))
      assert.match(error.message, /^requirements\.txt:1: .* contains a password/)
      assert.notInclude(error.message, "hunter2")
    })
  )
})

describe("a recipe", () => {
  const pinned: ReadonlyArray<readonly [content: string, isPinned: boolean]> = [
    ["dependencies: [python=3.10.12, pip: [a==1.2, 'b==1; sys_platform == \"linux\"']]", true],
    ["dependencies: [python=3.10, pip: [a==1.2]]", false],
    ["dependencies: [pip: [a==1.2]]", false],
    ["dependencies: [python=3.10.12, pip: ['a==1.*']]", false],
    ["dependencies: [python=3.10.12, pip: ['a>=1']]", false],
    ["dependencies: [python=3.10.12, pip: [a]]", false],
    ["dependencies: [python=3.10.12, 'b==1.2', 'c=1=h0']", true],
    ["dependencies: [python=3.10.12, b=1.2]", false]
  ]
  for (const [content, expected] of pinned) {
    it.effect(`${expected ? "is" : "is not"} pinned with ${content}`, () =>
      Effect.gen(function* () {
        const recipe = yield* read(conda(content))
        assert.strictEqual(recipe === null ? null : Recipe.isPinned(recipe), expected)
      })
    )
  }
})
