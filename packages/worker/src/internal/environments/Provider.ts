/**
 * What a tool that builds environments has to offer.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import type { Recipe } from "@signalbox/task-package/Recipe"
import type { Command } from "@signalbox/task-package/RobotYaml"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Variables } from "./Variables.ts"
import * as Windows from "../process/Windows.ts"
import type { ProviderName } from "./ProviderOrder.ts"

/** An environment cannot be built. The message ends with the last lines of the tool. */
export class BuildFailure extends TaggedError<BuildFailure>()("BuildFailure", { message: Schema.String }) {}

/** Where an environment is built. */
export interface Site {
  /** The environment; the provider creates it, and it stays where it is. */
  readonly prefix: string
  /** A folder for files that are needed during the build only. */
  readonly work: string
  /** Runs a program there, its output being that of the build, with these variables besides those of the machine. */
  readonly run: (command: Command, variables: Variables) => Effect.Effect<void, BuildFailure>
  /** A line of the build's own in its output. */
  readonly say: (line: string) => Effect.Effect<void>
  /** The text of a file in `work`, empty where there is none. */
  readonly read: (name: string) => Effect.Effect<string>
  /** Writes a file into `work`, and returns its path. */
  readonly write: (name: string, content: string) => Effect.Effect<string, BuildFailure>
}

/** How a provider would build a recipe. */
export interface Plan {
  /** Whatever, besides the recipe, decides what is built: versions of tools and of Python. */
  readonly context: ReadonlyArray<string>
  readonly build: (site: Site) => Effect.Effect<void, BuildFailure>
}

export interface Provider {
  readonly name: ProviderName
  /** The version of the tool, null where it is not on this machine. */
  readonly detect: Effect.Effect<string | null>
  /** How it would build the recipe, or why it cannot; asked only where the tool was detected. */
  readonly accepts: (recipe: Recipe) => Effect.Effect<Result.Result<Plan, string>>
  /** What a program needs to find the environment, besides `binariesOf`. */
  readonly variables: (prefix: string) => Variables
}

/** The folders of an environment for `PATH`. */
export const binariesOf = (prefix: string) => Windows.binariesOf(prefix, process.platform)

/** The Python of a virtual environment. */
export const pythonOf = (prefix: string) => Windows.pythonOf(prefix, process.platform)

/**
 * Installs pip itself for programs that call it, as environments of conda have it. That is no reason to fail: nearly every
 * `conda.yaml` lists it, and few programs call it.
 */
export const addPip = Effect.fnUntraced(function* (
  site: Site,
  install: (requirements: string) => Effect.Effect<void, BuildFailure>
) {
  const file = yield* site.write("pip.txt", "pip\n")
  yield* Effect.catch(install(file), () =>
    site.say("pip is a dependency, but could not be installed; calls of pip in this environment fail")
  )
})
