/**
 * Environments by uv, which installs a Python where this machine has none that fits.
 */
import type { Recipe } from "@signalbox/task-package/Recipe"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { join } from "node:path"
import type { Variables } from "./Variables.ts"
import * as FromIndex from "./FromIndex.ts"
import { addPip, type Plan, type Provider, pythonOf, type Site } from "./Provider.ts"
import type { Settings } from "./Settings.ts"
import * as Indexes from "./Indexes.ts"
import type { Tools } from "./Tools.ts"

export const make = (tools: Tools, settings: Settings, caches: string): Provider => {
  const found = Effect.gen(function* () {
    const own = settings.tools?.uv
    return yield* tools.versioned(own === undefined ? yield* tools.find("uv") : [own], /^uv \S+/)
  })
  const offline = settings.wheels === undefined ? [] : ["--no-index", "--find-links", settings.wheels]

  /** A Python of the machine, else one that uv downloads, and says so. */
  const python = Effect.fnUntraced(function* (uv: string, wanted: string | null, { run }: Site, variables: Variables) {
    const request = wanted ?? "3"
    const local = run([uv, "python", "find", "--no-python-downloads", "--no-project", request], variables)
    yield* Effect.catch(local, () => run([uv, "python", "install", request], variables))
    return request
  })

  const install = Effect.fnUntraced(function* (uv: string, recipe: Recipe, site: Site) {
    const variables = Indexes.ofUv(settings, caches, recipe)
    const request = yield* python(uv, recipe.python, site, variables)
    const { project } = recipe
    if (project !== null) {
      yield* site.write("pyproject.toml", project.pyproject)
      const folder = join(yield* site.write("uv.lock", project.lock), "..")
      // The program itself is in the package: the environment is shared by all its versions.
      const sync = [uv, "sync", "--frozen", "--no-dev", "--no-install-project", "--python", request] as const
      return yield* site.run([...sync, "--project", folder], { ...variables, UV_PROJECT_ENVIRONMENT: site.prefix })
    }
    yield* site.run([uv, "venv", "--no-project", "--python", request, site.prefix], variables)
    if (recipe.hasPip) {
      yield* addPip(site, (file) =>
        site.run(
          [uv, "pip", "install", "--python", pythonOf(site.prefix), "--requirement", file, ...offline],
          variables
        )
      )
    }
    const requirements = FromIndex.requirementsOf(recipe)
    if (requirements.length === 0) return
    const file = yield* site.write("requirements.txt", `${requirements.join("\n")}\n`)
    const into = ["--python", pythonOf(site.prefix), "--requirement", file]
    yield* FromIndex.install(recipe, site, site.run([uv, "pip", "install", ...into, ...offline], variables))
  })

  return {
    name: "uv",
    detect: Effect.map(found, (uv) => uv?.version ?? null),
    accepts: Effect.fnUntraced(function* (recipe) {
      const refused = FromIndex.refusalOf(recipe)
      if (refused !== null) return Result.fail(refused)
      const uv = yield* found
      if (uv === null) return Result.fail("uv not found on PATH; install it")
      const plan: Plan = { context: [uv.version], build: (site) => install(uv.program, recipe, site) }
      return Result.succeed(plan)
    }),
    variables: (prefix) => ({ VIRTUAL_ENV: prefix })
  }
}
