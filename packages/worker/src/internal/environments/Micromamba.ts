/**
 * Environments by micromamba, for whatever conda has.
 */
import type { Recipe } from "@signalbox/task-package/Recipe"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { join } from "node:path"
import type { Plan, Provider, Site } from "./Provider.ts"
import type { Settings } from "./Settings.ts"
import * as Indexes from "./Indexes.ts"
import type { Tools } from "./Tools.ts"

const pythonSpec = (python: string | null) =>
  python === null ? "python" : /^\d/.test(python) ? `python=${python}` : `python${python}`

/** The recipe as the `conda.yaml` that it was read from, without what others do; JSON is YAML. */
const condaYaml = (recipe: Recipe, settings: Settings, requirements: string) => {
  const channels = [...new Set([...(settings.channels ?? []), ...recipe.channels])]
  const { pip } = recipe
  const python = recipe.python !== null || recipe.hasPip || pip.length > 0 ? [pythonSpec(recipe.python)] : []
  return JSON.stringify({
    channels: channels.length === 0 ? ["conda-forge"] : channels,
    dependencies: [
      ...python,
      ...recipe.conda,
      ...(recipe.hasPip || pip.length > 0 ? ["pip"] : []),
      ...(pip.length === 0 ? [] : [{ pip: [`--requirement ${requirements}`] }])
    ]
  })
}

export const make = (tools: Tools, settings: Settings, caches: string): Provider => {
  const found = Effect.gen(function* () {
    const own = settings.tools?.micromamba
    return yield* tools.versioned(own === undefined ? yield* tools.find("micromamba") : [own], /^\d+\.\d+\S*/)
  })
  const build = Effect.fnUntraced(function* (micromamba: string, recipe: Recipe, site: Site) {
    const requirements = yield* site.write("requirements.txt", `${recipe.pip.join("\n")}\n`)
    const file = yield* site.write("conda.yaml", condaYaml(recipe, settings, requirements))
    const where = ["--root-prefix", join(caches, "micromamba"), "--prefix", site.prefix, "--file", file]
    const command = [micromamba, "create", "--yes", "--no-rc", ...where] as const
    yield* Indexes.runPip(site, command, Indexes.ofMicromamba(settings, caches, recipe))
  })
  return {
    name: "micromamba",
    detect: Effect.map(found, (micromamba) => (micromamba === null ? null : `micromamba ${micromamba.version}`)),
    accepts: Effect.fnUntraced(function* (recipe) {
      if (recipe.project !== null) return Result.fail("uv.lock needs uv; install uv")
      if (recipe.excludeNewer !== null && settings.wheels === undefined) {
        return Result.fail("excludeNewer of robot.yaml is not applied by micromamba; install uv")
      }
      const micromamba = yield* found
      if (micromamba === null) return Result.fail("micromamba not found on PATH; install it")
      const { program, version } = micromamba
      const plan: Plan = { context: [`micromamba ${version}`], build: (site) => build(program, recipe, site) }
      return Result.succeed(plan)
    }),
    variables: (prefix) => ({ CONDA_PREFIX: prefix, CONDA_DEFAULT_ENV: prefix })
  }
}
