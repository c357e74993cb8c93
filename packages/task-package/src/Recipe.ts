/**
 * What the environment of a task package is made of, read from the files of the package.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import type { InvalidRecipe } from "./InvalidRecipe.ts"
import * as Conda from "./internal/recipe/Conda.ts"
import { field, invalid, type Located, parse, texts, type Value } from "./internal/recipe/Located.ts"
import { type ReadText, read as readPip, readFile } from "./internal/recipe/Requirements.ts"
import { type Command, commandOf } from "./internal/recipe/Words.ts"
import * as Project from "./internal/recipe/Project.ts"
import { isMeantFor } from "./RobotYaml.ts"

/** What an environment consists of. */
export interface Recipe {
  /** As in `3.10.12`, `3.10`, `>=3.9`; null: any. */
  readonly python: string | null
  /** Whether pip itself is to be there, of any version: a list of conda names it. */
  readonly hasPip: boolean
  /** What pip installs, in its own notation: requirements, and options such as `--pre`. */
  readonly pip: ReadonlyArray<string>
  /** Packages of conda besides `python`, `pip` and `uv`. */
  readonly conda: ReadonlyArray<string>
  readonly channels: ReadonlyArray<string>
  /** Run once in the environment when it is built. */
  readonly postInstall: ReadonlyArray<Command>
  /** Folders of the package for `PYTHONPATH`. */
  readonly pythonPath: ReadonlyArray<string>
  /** A project with a lock of uv; its packages are in the lock alone. */
  readonly project: { readonly pyproject: string; readonly lock: string } | null
  /** Packages that were published after this are not installed: an ISO date or time; null: all are. */
  readonly excludeNewer: string | null
  /** The file that says so. */
  readonly source: string
}

/** The system and processor that the environment is for, as `process.platform` and `process.arch` name them. */
export interface Machine {
  readonly platform: string
  readonly arch: string
}

const empty: Omit<Recipe, "source"> = {
  python: null,
  hasPip: false,
  pip: [],
  conda: [],
  channels: [],
  postInstall: [],
  pythonPath: [],
  project: null,
  excludeNewer: null
}

const commands = (lines: ReadonlyArray<Located>): Result.Result<ReadonlyArray<Command>, InvalidRecipe> =>
  Result.gen(function* () {
    const all: Array<Command> = []
    for (const line of lines) {
      all.push(
        yield* Result.mapError(commandOf(line.text), (why) => invalid(line, `${JSON.stringify(line.text)}: ${why}`))
      )
    }
    return all
  })

const pipName = (line: string) => {
  const name = /^[A-Za-z0-9][A-Za-z0-9._-]*/.exec(line)?.[0]
  return name === undefined ? [] : [Conda.normalized(name)]
}

/** Splits `dependencies` of a `conda.yaml` into packages and the one list below `pip`. */
const dependenciesOf = (root: Value, file: string) =>
  Result.gen(function* () {
    const list = yield* field(root, "dependencies")
    if (list === null) {
      return yield* Result.fail(invalid({ file, line: null }, "has no list `dependencies`; add one"))
    }
    const conda: Array<Located> = []
    let pip: ReadonlyArray<Value> | null = null
    for (const item of yield* list.list()) {
      if (!item.isMapping) {
        conda.push(yield* item.text())
        continue
      }
      for (const [key, value] of yield* item.entries()) {
        if (key !== "pip") {
          return yield* Result.fail(
            invalid({ file, line: item.line }, `dependencies: ${key} has a list; only pip may have one`)
          )
        }
        if (pip !== null) {
          return yield* Result.fail(invalid({ file, line: item.line }, "pip: given twice; merge both lists"))
        }
        pip = yield* value.list()
      }
    }
    const lines: Array<Located> = []
    for (const item of pip ?? []) lines.push(yield* item.text())
    return { conda, pip: lines }
  })

const ofConda = Effect.fnUntraced(function* <E, R>(file: string, content: string, text: ReadText<E, R>) {
  const root = yield* Effect.fromResult(parse(file, content))
  if (root.isEmpty) return { ...empty, source: file }
  const listed = yield* Effect.fromResult(dependenciesOf(root, file))
  const { channels, hasPip, python, rest } = yield* Effect.fromResult(Conda.read(listed.conda))
  const named = (yield* Effect.fromResult(texts(root, "channels"))).map(({ text }) => text)
  const postInstall = yield* Effect.fromResult(Result.flatMap(texts(root, "rccPostInstall"), commands))
  const pip = yield* readPip(listed.pip, text)
  const both = new Set(pip.flatMap(pipName))
  const recipe: Recipe = {
    ...empty,
    python,
    hasPip,
    pip,
    // pip would put its own over that of conda.
    conda: rest.filter((spec) => !both.has(Conda.normalized(Conda.nameOf(spec)))),
    channels: [...new Set([...named, ...channels])],
    postInstall,
    source: file
  }
  return recipe
})

/** In `package.yaml` one `=` stands for `==`. */
const exactly = (line: Located): Located => ({
  ...line,
  text: line.text.replace(/^([A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\])?\s*)=(?!=)\s*/, "$1==")
})

const ofPackageYaml = Effect.fnUntraced(function* <E, R>(file: string, content: string, text: ReadText<E, R>) {
  const read = Result.gen(function* () {
    const root = yield* parse(file, content)
    const dependencies = yield* field(root, "dependencies")
    const conda: Array<Located> = []
    const pip: Array<Located> = []
    const channels: Array<string> = []
    for (const [section, value] of dependencies === null ? [] : yield* dependencies.entries()) {
      const target = section === "pypi" ? pip : conda
      for (const item of yield* value.list()) target.push(yield* item.text())
      if (section !== "pypi") channels.push(section)
    }
    return {
      pip,
      channels,
      packages: yield* Conda.read(conda),
      postInstall: yield* Result.flatMap(texts(root, "post-install"), commands),
      pythonPath: yield* texts(root, "pythonpath")
    }
  })
  const { channels, packages, pip, postInstall, pythonPath } = yield* Effect.fromResult(read)
  const lines = yield* readPip(pip.map(exactly), text)
  const both = new Set(lines.flatMap(pipName))
  const recipe: Recipe = {
    ...empty,
    python: packages.python,
    hasPip: packages.hasPip,
    pip: lines,
    conda: packages.rest.filter((spec) => !both.has(Conda.normalized(Conda.nameOf(spec)))),
    channels: [...new Set([...channels, ...packages.channels])],
    postInstall,
    pythonPath: pythonPath.map(({ text }) => text),
    source: file
  }
  return recipe
})

/** Whether a file of `environmentConfigs` is for the machine; one that is frozen is for the machine that it names alone. */
const fits = (name: string, { arch, platform }: Machine) => {
  const namesBoth = /windows|darwin|linux/i.test(name) && /amd64|arm64/i.test(name)
  return isMeantFor(name, platform, arch) && (namesBoth || !/freeze/i.test(name))
}

const isoTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?$/

const timeOf = (line: Located): Result.Result<string, InvalidRecipe> =>
  // A 30th of February is parsed as a day of March.
  isoTime.test(line.text) && new Date(line.text.slice(0, 10)).getUTCDate() === Number(line.text.slice(8, 10))
    ? Result.succeed(line.text)
    : Result.fail(
        invalid(
          line,
          `excludeNewer: expected a date such as 2026-11-20, or a time such as 2026-11-20T08:00:00Z, not ${JSON.stringify(line.text)}`
        )
      )

/** What `robot.yaml` says of the environment. */
const ofRobotYaml = (content: string | null, machine: Machine) =>
  Result.gen(function* () {
    if (content === null) return { configs: [], conda: null, excludeNewer: null }
    const root = yield* parse("robot.yaml", content)
    const conda = yield* field(root, "condaConfigFile")
    const configs = (yield* texts(root, "environmentConfigs")).filter(({ text }) => fits(text, machine))
    const newest = yield* field(root, "excludeNewer")
    return {
      configs,
      conda: conda === null ? null : yield* conda.text(),
      excludeNewer: newest === null ? null : yield* Result.flatMap(newest.text(), timeOf)
    }
  })

const isEmpty = ({ conda, pip, postInstall, project, python }: Recipe) =>
  python === null && project === null && conda.length + pip.length + postInstall.length === 0

type Named = Result.Result.Success<ReturnType<typeof ofRobotYaml>>

const find = Effect.fnUntraced(function* <E, R>(
  text: ReadText<E, R>,
  named: Named
): Effect.fn.Return<Recipe | null, InvalidRecipe | E, R> {
  for (const { text: file } of named.configs) {
    const content = yield* text(file)
    if (content !== null) return yield* ofConda(file, content, text)
  }
  if (named.conda !== null) {
    const content = yield* text(named.conda.text)
    if (content !== null) return yield* ofConda(named.conda.text, content, text)
    return yield* invalid(named.conda, `condaConfigFile: ${named.conda.text} does not exist in the package`)
  }
  const packageYaml = yield* text("package.yaml")
  if (packageYaml !== null) return yield* ofPackageYaml("package.yaml", packageYaml, text)
  const lock = yield* text("uv.lock")
  const pyproject = lock === null ? null : yield* text("pyproject.toml")
  if (lock !== null && pyproject !== null) {
    const python = yield* Effect.fromResult(Project.pythonOf(pyproject))
    return { ...empty, python, project: { pyproject, lock }, source: "pyproject.toml" }
  }
  const requirements = yield* text("requirements.txt")
  if (requirements === null) return null
  return { ...empty, pip: yield* readFile("requirements.txt", requirements, text), source: "requirements.txt" }
})

/**
 * Reads the environment of a package: the first file of `environmentConfigs` in `robot.yaml` that exists and is for the
 * machine, else `condaConfigFile`, `package.yaml`, `pyproject.toml` with `uv.lock`, `requirements.txt`. Resolves to null
 * when none of them lists anything. `excludeNewer` of `robot.yaml` holds for each of them. `text` returns the text of a file of the package, null where there is none.
 *
 * Fails with `InvalidRecipe`, which names the file and the line, and with whatever `text` fails with.
 *
 * ```ts
 * import * as Recipe from "@signalbox/task-package/Recipe"
 * import * as Effect from "effect/Effect"
 *
 * const files: Readonly<Record<string, string>> = {
 *   "requirements.txt": "robocorp==2.1.3"
 * }
 *
 * export const recipe = Recipe.read(
 *   (path) => Effect.succeed(files[path] ?? null),
 *   { platform: "linux", arch: "x64" }
 * )
 * ```
 */
export const read = <E, R>(
  text: ReadText<E, R>,
  machine: Machine
): Effect.Effect<Recipe | null, InvalidRecipe | E, R> =>
  Effect.gen(function* () {
    const named = yield* Effect.fromResult(ofRobotYaml(yield* text("robot.yaml"), machine))
    const recipe = yield* find(text, named)
    return recipe === null || isEmpty(recipe) ? null : { ...recipe, excludeNewer: named.excludeNewer }
  })

/**
 * Whether the version of every listed package is exact, so that a build tomorrow gives what one today gave.
 *
 * ```ts
 * import * as Recipe from "@signalbox/task-package/Recipe"
 *
 * export const age = (recipe: Recipe.Recipe) =>
 *   Recipe.isPinned(recipe) ? "for ever" : "for a week"
 * ```
 */
export const isPinned = ({ conda, pip, project, python }: Recipe): boolean =>
  project !== null ||
  (python !== null &&
    /^\d+\.\d+\.\d+$/.test(python) &&
    pip.every(
      (line) => line.startsWith("-") || /[^=!<>~]==(?!=)[^*,]+$| @ |^[a-z0-9+]+:\/\//.test(line.split(";")[0] ?? "")
    ) &&
    conda.every((spec) => /==[^*]+$|=[^=*]+=[^=*]+$/.test(spec)))

/**
 * The digest of an environment: SHA-256, in hexadecimal, of what is listed and of `context`, which is whatever else decides
 * what is installed. Comments, order and the file that lists it make no difference.
 *
 * ```ts
 * import * as Recipe from "@signalbox/task-package/Recipe"
 *
 * export const digest = (recipe: Recipe.Recipe) =>
 *   Recipe.digestOf(recipe, ["uv 0.9.1", "linux", "x64"])
 * ```
 */
export const digestOf = (
  { channels, conda, excludeNewer, hasPip, pip, postInstall, project, python }: Recipe,
  context: ReadonlyArray<string>
): string => {
  const listed = {
    python,
    hasPip,
    pip: pip.toSorted(),
    conda: conda.toSorted(),
    channels,
    postInstall,
    project,
    context,
    // Left out where there is none, so that environments of before keep their digest.
    excludeNewer: excludeNewer ?? undefined
  }
  return createHash("sha256").update(JSON.stringify(listed)).digest("hex")
}
