/**
 * The environments of a machine: which tool builds what, and what a program needs to run in one.
 */
import * as Recipe from "@signalbox/task-package/Recipe"
import type { Command } from "@signalbox/task-package/RobotYaml"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { delimiter, isAbsolute, join, sep } from "node:path"
import * as Child from "../process/Child.ts"
import * as Variables from "./Variables.ts"
import { PackageFailure } from "../outcome/SetupFailure.ts"
import * as Micromamba from "./Micromamba.ts"
import { binariesOf, BuildFailure, type Plan, type Provider, type Site } from "./Provider.ts"
import { orderFor, type ProviderName } from "./ProviderOrder.ts"
import type { Settings } from "./Settings.ts"
import * as Indexes from "./Indexes.ts"
import * as Store from "./Store.ts"
import * as Tools from "./Tools.ts"
import * as Uv from "./Uv.ts"
import * as Venv from "./Venv.ts"

/** An environment that is ready, for as long as the scope. */
export interface Built {
  readonly digest: string
  readonly provider: ProviderName
  /** Whether it was there already. */
  readonly cached: boolean
  /** How long its build took, whenever that was. */
  readonly seconds: number
  readonly folder: string
  /** Folders for `PATH`. */
  readonly path: ReadonlyArray<string>
  readonly variables: Variables.Variables
}

/** What a tool says of an environment. */
export interface Opinion {
  readonly provider: ProviderName
  /** Null where the tool is not on this machine. */
  readonly version: string | null
  /** Why it would not build it; null where it would. */
  readonly refusal: string | null
}

export interface Environments {
  /** Whether the worker builds any. */
  readonly isEnabled: boolean
  /** The environment that a step names by its path. Fails with `SETUP_FAILURE` unless the worker allows it. */
  readonly existing: (path: string) => Effect.Effect<Pick<Built, "path" | "variables">, PackageFailure>
  /** What each tool that may be used says; of no recipe only whether it is there. The first without refusal builds. */
  readonly opinions: (recipe: Recipe.Recipe | null) => Effect.Effect<ReadonlyArray<Opinion>>
  /**
   * Builds the environment unless it is there, and keeps it in use until the scope closes. What the build writes goes to
   * `write`. Fails with `SETUP_FAILURE`, whose message ends with the last lines.
   */
  readonly acquire: (
    recipe: Recipe.Recipe,
    write: (lines: ReadonlyArray<string>) => Effect.Effect<void>,
    /** Run before a build, and before another's is waited for. */
    onBuild: Effect.Effect<void>
  ) => Effect.Effect<Built, PackageFailure, Scope.Scope>
  /** Those that are ready. */
  readonly list: Effect.Effect<ReadonlyArray<Stored>>
  /** Removes those of a digest. Fails when a step run is in one. */
  readonly remove: (digest: string) => Effect.Effect<void, PackageFailure>
  /** Builds that of a digest anew: new step runs take it, and those that run keep theirs. */
  readonly rebuild: (
    stored: Stored,
    write: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  ) => Effect.Effect<Built, PackageFailure, Scope.Scope>
}

/** What is stored of an environment. */
export type Stored = Effect.Success<Store.Store["list"]>[number]

/** As `Recipe`, in the file of an environment. */
const StoredRecipe = Schema.Struct({
  python: Schema.NullOr(Schema.String),
  hasPip: Schema.Boolean,
  pip: Schema.Array(Schema.String),
  conda: Schema.Array(Schema.String),
  channels: Schema.Array(Schema.String),
  postInstall: Schema.Array(Schema.NonEmptyArray(Schema.String)),
  pythonPath: Schema.Array(Schema.String),
  project: Schema.NullOr(Schema.Struct({ pyproject: Schema.String, lock: Schema.String })),
  // Files of older versions have none.
  excludeNewer: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  source: Schema.String
})
const decodeRecipe = Schema.decodeUnknownEffect(StoredRecipe)

/** How long a build may take. */
const patience = "15 minutes"
/** Lines of a tool that a failure ends with, and their characters. */
const lastLines = 5
const maxFailure = 1500

const encode = Schema.encodeUnknownSync(Schema.fromJsonString(Schema.Unknown))
const decodeJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

const failure = (message: string) => new PackageFailure({ code: "SETUP_FAILURE", message })

/** `folder` is created; several workers of one machine may share it. `limit` is in bytes; default 20 GB. */
export const make = Effect.fnUntraced(function* (options: {
  readonly folder: string
  readonly limit?: number | undefined
  readonly settings?: Settings | undefined
  /** What tools see of the environment of this process. */
  readonly machine?: Variables.Variables
}) {
  const { machine = Variables.inheritedFrom(process.env), settings = {} } = options
  const fs = yield* FileSystem.FileSystem
  const services = Context.pick(
    FileSystem.FileSystem,
    ChildProcessSpawner
  )(yield* Effect.context<FileSystem.FileSystem | ChildProcessSpawner>())
  const tools = yield* Tools.make(machine)
  const store = yield* Store.make({ folder: options.folder, limit: options.limit ?? 20 * 1024 ** 3 })
  const redact = Indexes.redactor(settings)

  const providers: Readonly<Record<ProviderName, Provider>> = {
    micromamba: Micromamba.make(tools, settings, store.caches),
    uv: Uv.make(tools, settings, store.caches),
    venv: Venv.make(tools, settings, store.caches)
  }
  const choice = settings.provider ?? "auto"

  const inTurn = (recipe: Recipe.Recipe | null) =>
    orderFor(recipe)
      .filter((name) => choice === "auto" || choice === name)
      .map((name) => providers[name])

  const ask = Effect.fnUntraced(function* (provider: Provider, recipe: Recipe.Recipe | null) {
    const version = yield* provider.detect
    if (recipe === null) return { version, plan: null }
    const refused = Indexes.refusalOf(settings, recipe)
    const plan = refused === null ? yield* provider.accepts(recipe) : Result.fail(refused)
    return { version, plan }
  })

  const choose = Effect.fnUntraced(function* (recipe: Recipe.Recipe) {
    const refusals: Array<string> = []
    for (const provider of inTurn(recipe)) {
      const { plan } = yield* ask(provider, recipe)
      if (plan !== null && Result.isSuccess(plan)) return { provider, plan: plan.success }
      if (plan !== null) refusals.push(`${provider.name}: ${plan.failure}`)
    }
    return yield* failure(`no tool of this worker builds the environment of ${recipe.source}: ${refusals.join("; ")}`)
  })

  /** Runs a build in a place, its output going to `write`. */
  const build = (
    recipe: Recipe.Recipe,
    { provider, plan }: { readonly provider: Provider; readonly plan: Plan },
    write: (lines: ReadonlyArray<string>) => Effect.Effect<void>,
    /** Gets the last lines of the tool that runs. */
    tail: Array<string>
  ) =>
    Effect.fnUntraced(function* (place: Store.Place) {
      const work = join(place.folder, `work-${crypto.randomUUID()}`)
      yield* fs.makeDirectory(work, { mode: 0o700 })
      const say = (lines: ReadonlyArray<string>) => {
        const shown = lines.map(redact)
        tail.push(...shown.filter((line) => line.trim() !== ""))
        tail.splice(0, tail.length - lastLines)
        return write(shown)
      }
      const run = Effect.fnUntraced(function* (command: Command, variables: Variables.Variables) {
        tail.length = 0
        yield* write([redact(`$ ${command.join(" ")}`)])
        const env = { ...machine, ...variables }
        const ended = yield* Effect.mapError(
          Effect.scoped(Child.run(command, { folder: work, cwd: work, env, write: say })),
          ({ reason }) => new BuildFailure({ message: `cannot start ${command[0]}: ${reason.message}` })
        )
        if ("exitCode" in ended && ended.exitCode === 0) return
        const message = [`${command[0]} ${Child.describe(ended)}`, ...tail].join("\n").slice(0, maxFailure)
        return yield* new BuildFailure({ message })
      }, Effect.provideContext(services))
      const site: Site = {
        prefix: place.prefix,
        work,
        run,
        say: (line) => write([redact(line)]),
        read: (name) =>
          Effect.map(
            Effect.orElseSucceed(fs.readFileString(join(work, name)), () => ""),
            redact
          ),
        write: Effect.fnUntraced(
          function* (name, content) {
            yield* fs.writeFileString(join(work, name), content)
            return join(work, name)
          },
          Effect.mapError(({ message }) => new BuildFailure({ message }))
        )
      }
      yield* plan.build(site)
      const variables = {
        ...provider.variables(place.prefix),
        PATH: [...binariesOf(place.prefix), machine["PATH"] ?? ""].join(delimiter)
      }
      for (const command of recipe.postInstall) yield* run(command, variables)
      yield* fs.remove(work, { recursive: true, force: true })
      return { recipe: decodeJson(encode(recipe)), provider: provider.name }
    })

  const acquire = Effect.fnUntraced(function* (
    recipe: Recipe.Recipe,
    write: (lines: ReadonlyArray<string>) => Effect.Effect<void>,
    onBuild: Effect.Effect<void>,
    /** The digest that is built anew, whatever is there. */
    anew: string | null = null
  ) {
    const chosen = yield* choose(recipe)
    const tail: Array<string> = []
    const builder = build(recipe, chosen, write, tail)
    const context = [...chosen.plan.context, process.platform, process.arch, ...Indexes.contextOf(settings)]
    const digest = Recipe.digestOf(recipe, context)
    if (anew !== null && anew !== digest) {
      return yield* failure(
        `the environment ${anew.slice(0, 12)} was built with other tools or sources; use the flags of its worker, such as --index-url, or remove it`
      )
    }
    const found = yield* store
      .acquire(
        digest,
        { isPinned: Recipe.isPinned(recipe), fresh: anew !== null },
        {
          wait: Effect.andThen(onBuild, write(["Another step run builds this environment; waiting for it."])),
          build: (place) => Effect.andThen(onBuild, builder(place)),
          stale: ({ message }) => write([`The environment is a week old, and cannot be rebuilt: ${message}`])
        }
      )
      .pipe(
        Effect.timeoutOrElse({
          duration: patience,
          orElse: () =>
            Effect.fail(
              new BuildFailure({
                message: [`the build exceeded ${patience}`, ...tail].join("\n").slice(0, maxFailure)
              })
            )
        }),
        Effect.mapError(({ message }) => failure(`the environment of ${recipe.source} cannot be built: ${message}`))
      )
    const { folder, prefix, ready } = found.place
    const built: Built = {
      digest,
      provider: chosen.provider.name,
      cached: found.cached,
      seconds: ready.seconds,
      folder,
      path: binariesOf(prefix),
      variables: { ...chosen.provider.variables(prefix), PYTHONNOUSERSITE: "1" }
    }
    return built
  }, Effect.provideContext(services))

  const environments: Environments = {
    isEnabled: choice !== "none",
    existing: Effect.fnUntraced(function* (path) {
      const allowed = settings.allowEnvironments ?? []
      const real = (path: string) => Effect.orElseSucceed(fs.realPath(path), () => null)
      const target = yield* real(path)
      if (target === null || !isAbsolute(path)) {
        return yield* failure(
          `environment.path: ${path} is not a folder on the machine of the worker; build the environment there`
        )
      }
      const folders = yield* Effect.forEach(allowed, real)
      if (!folders.some((folder) => folder !== null && target.startsWith(folder + sep))) {
        return yield* failure(
          `environment.path: ${path} is not below an allowed folder of this worker; start the worker with --allow-environment`
        )
      }
      return { path: binariesOf(target), variables: { VIRTUAL_ENV: target, PYTHONNOUSERSITE: "1" } }
    }),
    opinions: (recipe) =>
      Effect.forEach(inTurn(recipe), (provider) =>
        Effect.map(ask(provider, recipe), ({ plan, version }) => {
          const missing = version === null ? "not found on this machine" : null
          const refusal = plan === null ? missing : Result.isFailure(plan) ? plan.failure : null
          return { provider: provider.name, version, refusal }
        })
      ),
    acquire: (recipe, write, onBuild) => acquire(recipe, write, onBuild),
    list: Effect.provideContext(store.list, services),
    remove: Effect.fnUntraced(function* (digest) {
      const cannot = (why: string) => failure(`the environment ${digest.slice(0, 12)} cannot be removed: ${why}`)
      const removed = yield* Effect.mapError(store.remove(digest), ({ message }) => cannot(message))
      if (!removed) return yield* cannot("in use by a step run, or being built; wait until this has ended")
    }, Effect.provideContext(services)),
    rebuild: Effect.fnUntraced(function* ({ digest, ready }, write) {
      const recipe = yield* Effect.mapError(decodeRecipe(ready.recipe), () =>
        failure(`the environment ${digest.slice(0, 12)} was built by another version of the worker; remove it`)
      )
      return yield* acquire(recipe, write, Effect.void, digest)
    })
  }
  return environments
})
