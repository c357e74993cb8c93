/**
 * Environments of task packages, built ahead or looked at without running anything, and robots run on this machine without
 * a service.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as TaskPackage from "@signalbox/task-package/TaskPackage"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { join, resolve } from "node:path"
import * as Built from "./internal/environments/Builder.ts"
import * as OfPackage from "./internal/environments/OfPackage.ts"
import type { ProviderName } from "./internal/environments/ProviderOrder.ts"
import type { Settings } from "./internal/environments/Settings.ts"
import * as Variables from "./internal/environments/Variables.ts"
import * as TaskCommand from "./internal/packages/TaskCommand.ts"
import { unlimited } from "./internal/agent/TimeLimit.ts"

export type { ProviderName } from "./internal/environments/ProviderOrder.ts"
export { choices, type Choice, type Settings } from "./internal/environments/Settings.ts"

/** An environment cannot be read or built, or a robot not run. The message says why, and what to do. */
export class EnvironmentError extends TaggedError<EnvironmentError>()("EnvironmentError", {
  /** The code with which a step run would fail. */
  code: Schema.String,
  message: Schema.String
}) {}

export interface Options {
  /** The folder of environments, up to 20 GB; workers of this machine may share it. */
  readonly folder: string
  readonly settings?: Settings
  /** Gets what a build or a robot writes, line by line. */
  readonly write: (lines: ReadonlyArray<string>) => Effect.Effect<void>
}

/** What a tool says of an environment: `version` null where it is not on this machine, `refusal` null where it would build it. */
export interface Opinion {
  readonly provider: ProviderName
  readonly version: string | null
  readonly refusal: string | null
}

/** An environment that was built. */
export interface Prepared {
  readonly digest: string
  readonly provider: ProviderName
  /** Whether it was there already. */
  readonly cached: boolean
  /** How long its build took. */
  readonly seconds: number
  /** The file that describes it. */
  readonly source: string
}

const failedWith = ({ code, message }: { readonly code: string; readonly message: string }) =>
  new EnvironmentError({ code, message })
const unreadable = (path: string) => (error: { readonly message: string }) =>
  new EnvironmentError({ code: "START_FAILURE", message: `${path} cannot be used: ${error.message}` })

const open = ({ folder, settings }: Pick<Options, "folder" | "settings">) =>
  Effect.mapError(Built.make({ folder: resolve(folder), settings }), unreadable(folder))

/** The folder of a package; a zip is unpacked for as long as the scope. */
const folderOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if ((yield* fs.stat(path)).type === "Directory") return path
  const folder = join(yield* fs.makeTempDirectoryScoped({ prefix: "signalbox-" }), "package")
  yield* TaskPackage.unpack(path, folder)
  return folder
})

const recipeOf = Effect.fnUntraced(function* (path: string) {
  const folder = yield* Effect.mapError(folderOf(path), unreadable(path))
  return yield* Effect.mapError(OfPackage.recipeOf(folder), failedWith)
})

/**
 * Builds the environment of a package, a folder or a zip, unless it is there. Resolves to null when the package describes
 * none. Fails with `EnvironmentError`, whose message ends with the last lines of the tool.
 *
 * ```ts
 * import * as Environments from "@signalbox/worker/Environments"
 * import * as Console from "effect/Console"
 *
 * export const prepared = Environments.prepare("robots/invoices", {
 *   folder: ".signalbox-worker/environments",
 *   write: (lines) => Console.log(lines.join("\n"))
 * })
 * ```
 */
export const prepare = Effect.fn("Environments.prepare")(function* (path: string, options: Options) {
  const recipe = yield* recipeOf(path)
  if (recipe === null) return null
  const environments = yield* open(options)
  const built = yield* Effect.mapError(environments.acquire(recipe, options.write, Effect.void), failedWith)
  const { cached, digest, provider, seconds } = built
  const prepared: Prepared = { digest, provider, cached, seconds, source: recipe.source }
  return prepared
}, Effect.scoped)

/**
 * What each tool that may be used says of the environment of a package; without a package, whether it is there. The first
 * without a refusal builds it. Nothing is built. `source` is null for a package that describes none.
 *
 * ```ts
 * import * as Environments from "@signalbox/worker/Environments"
 *
 * export const opinions = Environments.inspect("robots/invoices", {
 *   folder: ".signalbox-worker/environments"
 * })
 * ```
 */
export const inspect = Effect.fn("Environments.inspect")(function* (
  path: string | null,
  options: Pick<Options, "folder" | "settings">
) {
  const recipe = path === null ? null : yield* recipeOf(path)
  const environments = yield* open(options)
  const opinions: ReadonlyArray<Opinion> = yield* environments.opinions(recipe)
  return { source: recipe?.source ?? null, opinions }
}, Effect.scoped)

/** An environment in the folder. */
export interface Stored {
  readonly digest: string
  readonly provider: string
  /** How long its build took. */
  readonly seconds: number
  readonly bytes: number
  /** ISO 8601. */
  readonly built_at: string
  /** ISO 8601. */
  readonly last_used_at: string
  /** Whether a step run is in it. */
  readonly in_use: boolean
  /** What is installed in it, as `name==version`. */
  readonly installed: ReadonlyArray<string>
}

/**
 * The environments in a folder, the last used first.
 *
 * ```ts
 * import * as Environments from "@signalbox/worker/Environments"
 *
 * export const stored = Environments.list({
 *   folder: ".signalbox-worker/environments"
 * })
 * ```
 */
export const list = Effect.fn("Environments.list")(function* (options: Pick<Options, "folder">) {
  const environments = yield* open(options)
  const found = (yield* environments.list).toSorted((a, b) => b.lastUsed - a.lastUsed)
  return found.map(({ digest, inUse, lastUsed, ready }): Stored => ({
    digest,
    provider: ready.provider,
    seconds: ready.seconds,
    bytes: ready.bytes,
    built_at: ready.built_at,
    last_used_at: new Date(lastUsed).toISOString(),
    in_use: inUse,
    installed: ready.installed
  }))
})

/** The newest environment whose digest begins so. */
const named = Effect.fnUntraced(function* (environments: Built.Environments, begin: string) {
  const found = (yield* environments.list).filter(({ digest }) => begin !== "" && digest.startsWith(begin))
  const [first] = found
  const fail = (message: string) => new EnvironmentError({ code: "START_FAILURE", message })
  if (first === undefined) {
    return yield* fail(`no environment ${begin}: see \`signalbox worker environments list\``)
  }
  if (found.some(({ digest }) => digest !== first.digest)) {
    return yield* fail(`several environments begin with ${begin}; use more characters of the digest`)
  }
  return first
})

/**
 * Removes an environment, named by its digest or how that begins: the next step run that needs it builds it. Resolves to the
 * digest. Fails with `EnvironmentError` when a step run is in it.
 *
 * ```ts
 * import * as Environments from "@signalbox/worker/Environments"
 *
 * export const removed = Environments.remove("3fa8c1", {
 *   folder: ".signalbox-worker/environments"
 * })
 * ```
 */
export const remove = Effect.fn("Environments.remove")(function* (digest: string, options: Pick<Options, "folder">) {
  const environments = yield* open(options)
  const found = yield* named(environments, digest)
  yield* Effect.mapError(environments.remove(found.digest), failedWith)
  return found.digest
})

/**
 * Builds an environment anew, named by its digest or how that begins. New step runs take the new one, and those that run keep
 * theirs. Fails with `EnvironmentError`, also where the settings are not those that it was built with.
 *
 * ```ts
 * import * as Environments from "@signalbox/worker/Environments"
 * import * as Console from "effect/Console"
 *
 * export const rebuilt = Environments.rebuild("3fa8c1", {
 *   folder: ".signalbox-worker/environments",
 *   write: (lines) => Console.log(lines.join("\n"))
 * })
 * ```
 */
export const rebuild = Effect.fn("Environments.rebuild")(function* (digest: string, options: Options) {
  const environments = yield* open(options)
  const found = yield* named(environments, digest)
  const built = yield* Effect.mapError(environments.rebuild(found, options.write), failedWith)
  return { digest: built.digest, provider: built.provider, seconds: built.seconds }
}, Effect.scoped)

/** What a robot on this machine gets of the environment of the process besides what every task gets. */
const isForRobots = (name: string) => /^(RC|RPA)_/.test(name) || name === "SIGNALBOX_ASSETS"

/** A list of items as local files have it, or the payload of one. */
const itemsOf = Effect.fnUntraced(function* (file: string, temporary: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(file), unreadable(file))
  const json = yield* Effect.mapError(
    Schema.decodeEffect(Schema.fromJsonString(Schema.Json))(text),
    () => new EnvironmentError({ code: "START_FAILURE", message: `${file} is not JSON` })
  )
  if (Array.isArray(json)) return resolve(file)
  const path = join(temporary, "workitems.json")
  // The text as it is: a number of the robot may be one that JavaScript does not have.
  yield* Effect.mapError(fs.writeFileString(path, `[{"payload":${text}}]`), unreadable(path))
  return path
})

/**
 * Runs a task of the robot in a folder, in its environment and in that folder, with work items from local files and no
 * service. `item` is a JSON file: a list of items (`[{"payload": …, "files": {"name": "path"}}]`), or the payload of one.
 * The outputs are in `output/work-items-out/workitems.json` unless `RC_WORKITEM_OUTPUT_PATH` says otherwise.
 *
 * Fails with `EnvironmentError`, also when the task does not end with 0.
 *
 * ```ts
 * import * as Environments from "@signalbox/worker/Environments"
 * import * as Console from "effect/Console"
 *
 * export const ran = Environments.runRobot("robots/invoices", {
 *   folder: ".signalbox-worker/environments",
 *   write: (lines) => Console.log(lines.join("\n")),
 *   task: "Read",
 *   item: "invoice.json"
 * })
 * ```
 */
export const runRobot = Effect.fn("Environments.runRobot")(function* (
  path: string,
  options: Options & {
    /** May be left out where there is only one. */
    readonly task?: string
    readonly item?: string
  }
) {
  const fs = yield* FileSystem.FileSystem
  const root = resolve(path)
  const { item, task = null, write } = options
  const robot = yield* Effect.mapError(TaskCommand.read(root, task), failedWith)
  const environments = yield* open(options)
  const reports = { write, event: () => Effect.void }
  const built = yield* Effect.mapError(
    OfPackage.provide(environments, root, { environment: null, reports, buildTime: unlimited }),
    failedWith
  )
  const temporary = yield* Effect.mapError(
    fs.makeTempDirectoryScoped({ prefix: "signalbox-robot-" }),
    unreadable("the temporary folder")
  )
  const output = join(root, robot.artifactsFolder, "work-items-out", "workitems.json")
  yield* Effect.mapError(fs.makeDirectory(join(output, ".."), { recursive: true }), unreadable(output))
  const input = item === undefined ? null : yield* itemsOf(item, temporary)
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && isForRobots(name) ? [[name, value] as const] : []
  )
  const step = {
    RC_WORKITEM_ADAPTER: "FileAdapter",
    RPA_WORKITEMS_ADAPTER: "RPA.Robocorp.WorkItems.FileAdapter",
    RC_WORKITEM_OUTPUT_PATH: output,
    RPA_OUTPUT_WORKITEM_PATH: output,
    ...Object.fromEntries(own),
    ...defined({ RC_WORKITEM_INPUT_PATH: input ?? undefined, RPA_INPUT_WORKITEM_PATH: input ?? undefined })
  }
  const inherited = Variables.inheritedFrom(process.env)
  const env = Variables.make({ step, service: {}, root, robot, machine: inherited, built })
  const child = { folder: temporary, cwd: root, env, write }
  const error = yield* Effect.mapError(TaskCommand.run(robot, child, reports), failedWith)
  if (error !== null) return yield* failedWith(error)
}, Effect.scoped)
