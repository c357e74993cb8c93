/**
 * The environment of a working copy: read, built or found, and reported in the log of the step run.
 */
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import * as Recipe from "@signalbox/task-package/Recipe"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Scope from "effect/Scope"
import { join, resolve, sep } from "node:path"
import * as Variables from "./Variables.ts"
import { machine, PackageFailure } from "../outcome/SetupFailure.ts"
import type { Reports } from "../agent/Reports.ts"
import type { BuildTime } from "../agent/TimeLimit.ts"
import type { Environments } from "./Builder.ts"

/** Bytes of a file that describes an environment; locks are the longest. */
const maxBytes = 16 * 1024 * 1024

/** Reads the environment that a folder describes; null where it describes none. */
export const recipeOf = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const root = resolve(folder)
  const text = Effect.fnUntraced(function* (name: string) {
    const path = join(root, name)
    if (!path.startsWith(root + sep)) return null
    const info = yield* Effect.option(fs.stat(path))
    if (info._tag === "None" || info.value.type !== "File") return null
    if (Number(info.value.size) > maxBytes) {
      return yield* new PackageFailure({
        code: "SETUP_FAILURE",
        message: `${name} has more than ${maxBytes} bytes; make it shorter`
      })
    }
    return yield* Effect.mapError(fs.readFileString(path), machine(`${name} cannot be read`))
  })
  return yield* Effect.catchTag(Recipe.read(text, process), "InvalidRecipe", ({ message }) =>
    Effect.fail(new PackageFailure({ code: "SETUP_FAILURE", message }))
  )
})

const seconds = (number: number) => `${number.toFixed(1)} s`

export interface Wanted {
  /** What the step says. */
  readonly environment: Lease["environment"]
  readonly reports: Pick<Reports, "write" | "event">
  readonly buildTime: BuildTime
}

/** What a package in this folder runs in. The time of a build is reported to `buildTime`. */
export const provide = Effect.fnUntraced(function* (
  environments: Environments,
  folder: string,
  { buildTime, environment, reports }: Wanted
): Effect.fn.Return<Variables.Built, PackageFailure, FileSystem.FileSystem | Scope.Scope> {
  if (environment !== null && environment !== "none") {
    return { ...(yield* environments.existing(environment.path)), pythonPath: [] }
  }
  const recipe = yield* recipeOf(folder)
  if (recipe === null) return Variables.unbuilt
  const { pythonPath } = recipe
  if (!environments.isEnabled || environment === "none") {
    yield* reports.write([
      `The environment of ${recipe.source} is not built: the task uses the programs of this machine.`
    ])
    return { ...Variables.unbuilt, pythonPath }
  }
  let isBuilding = false
  const onBuild = Effect.suspend(() => {
    if (isBuilding) return Effect.void
    isBuilding = true
    return buildTime.report("started")
  })
  const built = yield* environments.acquire(recipe, reports.write, onBuild)
  if (isBuilding) yield* buildTime.report("ended")
  const { cached, digest, provider } = built
  yield* reports.event("ENVIRONMENT", { digest, provider, cached, seconds: built.seconds })
  const how = cached ? "already built" : `built in ${seconds(built.seconds)}`
  yield* reports.write([`Environment ${digest.slice(0, 12)} of ${recipe.source} by ${provider}: ${how}.`])
  return { path: built.path, variables: built.variables, pythonPath }
})
