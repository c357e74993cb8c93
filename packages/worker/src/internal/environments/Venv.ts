/**
 * Environments by the `venv` of a Python that is on this machine, filled by pip.
 */
import type { Command } from "@signalbox/task-package/RobotYaml"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as FromIndex from "./FromIndex.ts"
import { addPip, type Plan, type Provider, pythonOf } from "./Provider.ts"
import * as Python from "./Python.ts"
import type { Settings } from "./Settings.ts"
import * as Indexes from "./Indexes.ts"
import type { Tools } from "./Tools.ts"

const Probe = Schema.Struct({
  version: Schema.String,
  program: Schema.String,
  venv: Schema.Boolean,
  ensurepip: Schema.Boolean
})
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Probe))

/** Debian splits both off its Python; `ensurepip` may be there without what it installs. */
const probe = `
import importlib.util as u, json, sys, os
def pip():
    try:
        import ensurepip
        return bool(ensurepip.version())
    except Exception:
        return False
print(json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "program": os.path.realpath(sys.executable),
  "venv": u.find_spec("venv") is not None, "ensurepip": pip()}))`

interface Found extends Schema.Schema.Type<typeof Probe> {
  readonly command: string
}

/** The names under which a fitting Python may be on `PATH`, the likeliest first. */
const candidates = (wanted: string | null): ReadonlyArray<string> => {
  const minor = Python.minorOf(wanted)
  if (minor !== null && process.platform !== "win32") return [`python${minor}`, "python3", "python"]
  const named = [14, 13, 12, 11, 10, 9, 8, 7].map((number) => `python3.${number}`)
  return ["python3", "python", ...named]
}

export const make = (tools: Tools, settings: Settings, caches: string): Provider => {
  const inspect = Effect.fnUntraced(function* (name: string) {
    const own = settings.tools?.python
    const found: Array<Found> = []
    for (const command of own === undefined ? yield* tools.find(name) : [own]) {
      const answer = decode(yield* tools.output([command, "-c", probe]))
      if (answer._tag === "Some") found.push({ ...answer.value, command })
    }
    return found
  })

  const findPython = Effect.fnUntraced(function* (wanted: string | null) {
    let unfit: Found | null = null
    for (const name of candidates(wanted)) {
      for (const found of yield* inspect(name)) {
        if (found.venv && Python.fits(found.version, wanted)) return { found, unfit }
        unfit ??= found
      }
    }
    return { found: null, unfit }
  })

  const installerOf = Effect.fnUntraced(function* ({ ensurepip }: Found) {
    if (ensurepip) return { context: "ensurepip", pip: null }
    const own = settings.tools?.pip
    const programs = own === undefined ? [...(yield* tools.find("pip3")), ...(yield* tools.find("pip"))] : [own]
    const found = yield* tools.versioned(programs, /^pip \S+/)
    return found === null ? null : { context: found.version, pip: found.program }
  })

  const why = (wanted: string | null, unfit: Found | null) => {
    const name = `Python ${wanted ?? "3"}`
    if (unfit === null) return `${name} not found on PATH; install it`
    if (!unfit.venv)
      return `${unfit.command} has no venv; install the package python${Python.minorOf(unfit.version)}-venv`
    return `${name} not found on PATH, only ${unfit.version}; install it`
  }

  return {
    name: "venv",
    detect: Effect.map(findPython(null), ({ found }) => (found === null ? null : `Python ${found.version}`)),
    accepts: Effect.fnUntraced(function* (recipe) {
      if (recipe.project !== null) return Result.fail("uv.lock needs uv; install uv")
      const refused = FromIndex.refusalOf(recipe)
      if (refused !== null) return Result.fail(refused)
      const { found, unfit } = yield* findPython(recipe.python)
      if (found === null) return Result.fail(why(recipe.python, unfit))
      const installer = yield* installerOf(found)
      const requirements = FromIndex.requirementsOf(recipe)
      const isEmpty = requirements.length === 0
      if (installer === null && !(isEmpty && !recipe.hasPip)) {
        const minor = Python.minorOf(found.version) ?? "3"
        return Result.fail(
          `${found.command} has no ensurepip, and pip was not found on PATH; install the package python${minor}-venv or python3-pip`
        )
      }
      const young = isEmpty
        ? null
        : Indexes.pipRefusal(settings, recipe, installer?.pip == null ? null : installer.context)
      if (young !== null) return Result.fail(young)
      const plan: Plan = {
        context: [`venv ${found.version} ${found.program}`],
        build: Effect.fnUntraced(function* (site) {
          const python = pythonOf(site.prefix)
          yield* site.run([found.command, "-m", "venv", "--without-pip", site.prefix], {})
          if (isEmpty && !recipe.hasPip) return
          const variables = Indexes.ofPip(settings, caches, recipe)
          if (installer?.pip == null) yield* site.run([python, "-m", "ensurepip", "--default-pip"], variables)
          const pip: Command = installer?.pip == null ? [python, "-m", "pip"] : [installer.pip, "--python", python]
          const install = (file: string) => Indexes.runPip(site, [...pip, "install", "--requirement", file], variables)
          if (recipe.hasPip && installer?.pip != null) yield* addPip(site, install)
          if (isEmpty) return
          const file = yield* site.write("requirements.txt", `${requirements.join("\n")}\n`)
          yield* FromIndex.install(recipe, site, install(file))
        })
      }
      return Result.succeed(plan)
    }),
    variables: (prefix) => ({ VIRTUAL_ENV: prefix })
  }
}
