/**
 * A machine with the tools that a test wants on its `PATH`, a folder of wheels, and a record of what was called.
 */
import * as Recipe from "@signalbox/task-package/Recipe"
import * as Wheels from "@signalbox/testkit/Wheels"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Builder from "../../src/internal/environments/Builder.ts"
import type { ProviderName } from "../../src/internal/environments/ProviderOrder.ts"
import type { Settings } from "../../src/internal/environments/Settings.ts"

const python = spawnSync("python3", ["-c", "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])"])
const [realPython = "", minor = ""] = python.stdout.toString().trim().split("\n")

/** The Python of this machine itself, as it was installed. */
export const pythonProgram = realPython

/** The minor version of the Python of this machine. */
export const pythonVersion = minor

export interface Call {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

const standIn = join(import.meta.dirname, "standin.py")

/** How the machine installs: as pip does, or by pip itself, which takes seconds. */
const installers = {
  wheelpip: () => Wheels.runWheelpip(realPython),
  pip: () => Wheels.runPip(realPython)
}

export type Installer = keyof typeof installers

/** Makes the machine in a folder. `before` are shell commands that run before pip installs. */
export const make = (
  root = mkdtempSync(join(tmpdir(), "signalbox-machine-")),
  before = "",
  installer: Installer = "wheelpip"
) => {
  const bin = join(root, "bin")
  const log = join(root, "calls")
  const wheels = join(root, "wheels")
  const isNew = !existsSync(bin)
  if (isNew) {
    Wheels.plainPython(bin, `python${minor}`, realPython)
    const record = `'${realPython}' -IS -c 'import json,os,sys; print(json.dumps({"argv": ["pip"] + sys.argv[1:], "env": dict(os.environ)}))' "$@" >> '${log}'`
    Wheels.program(
      bin,
      "pip3",
      `${record}\n[ "$1" = --version ] || { ${before || ":"}; }\n${installers[installer]()} "$@"`
    )
    Wheels.write(wheels, "greeting", "1.0", { source: 'text = "hello from a wheel"\n' })
    Wheels.write(wheels, "greeting", "2.0", { source: 'text = "hello again"\n' })
    Wheels.write(wheels, "polite", "1.0", { requires: ["greeting==1.0"], source: "from greeting import text\n" })
  }
  /** The lines that are whole. */
  const calls = (): ReadonlyArray<Call> =>
    (existsSync(log) ? readFileSync(log, "utf8") : "")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const folder = join(root, "environments")
  const machine = { PATH: `${bin}:/usr/bin:/bin`, HOME: root }
  return {
    root,
    bin,
    wheels,
    folder,
    machine,
    calls,
    /** Puts uv or micromamba on the `PATH`; venv is there. */
    bring: (name: ProviderName) => {
      if (name === "venv") return
      Wheels.program(
        bin,
        name,
        `exec '${realPython}' -IS '${standIn}' '${Wheels.wheelpipFolder}' '${log}' ${name} "$@"`
      )
    },
    /** What installed packages: not the questions for versions. */
    installs: () => calls().filter(({ argv }) => argv.includes("install") || argv.includes("create")),
    environments: (settings: Settings = {}, limit?: number, path = machine.PATH) =>
      Builder.make({
        folder,
        machine: { ...machine, PATH: path },
        settings,
        ...(limit === undefined ? {} : { limit })
      }),
    /** The environments that are ready. */
    ready: () => numbered(folder).filter((path) => existsSync(join(path, "ready.json"))),
    numbered: () => numbered(folder),
    /** The processes of builds. */
    processes: () =>
      (existsSync("/proc") ? readdirSync("/proc") : []).filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`SIGNALBOX_RUN_FOLDER=${folder}`)
        } catch {
          return false
        }
      })
  }
}

/** Everything with a number, ready or not. */
const numbered = (folder: string) =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => !name.startsWith("."))
    .flatMap((digest) =>
      readdirSync(join(folder, digest))
        .filter((name) => /^\d+$/.test(name))
        .map((name) => join(folder, digest, name))
    )

/** The recipe of a `conda.yaml` with these lines for pip. */
export const recipe = (pip: ReadonlyArray<string>, more: Partial<Recipe.Recipe> = {}): Recipe.Recipe => ({
  python: minor,
  hasPip: false,
  pip,
  conda: [],
  channels: ["conda-forge"],
  postInstall: [],
  excludeNewer: null,
  pythonPath: [],
  project: null,
  source: "conda.yaml",
  ...more
})

/** Collects lines. */
export const console = () => {
  const lines: Array<string> = []
  return { lines, write: (more: ReadonlyArray<string>) => Effect.sync(() => void lines.push(...more)) }
}

/** Runs a line of Python in an environment. */
export const run = (built: Builder.Built, code: string) =>
  spawnSync(join(built.path[0] ?? "", "python"), ["-c", code])
    .stdout.toString()
    .trim()
