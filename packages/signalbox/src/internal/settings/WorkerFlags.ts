/**
 * What a worker on this machine offers and allows: labels, how it ends, and the limits of its tasks, by flags and variables.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import { Label } from "@signalbox/api/contract/Common"
import type { Limits } from "@signalbox/worker/Limits"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { orVariable } from "./FlagValues.ts"
import * as FlagValues from "./FlagValues.ts"

/** A flag is missing or cannot be used. */
export class WorkerFlagError extends TaggedError<WorkerFlagError>()("WorkerFlagError", {
  message: Schema.String
}) {}

export const labelFlag = Flag.String("label").pipe(
  Flag.withDescription(
    "What this worker has, for steps that ask for it; may be repeated. Default: SIGNALBOX_LABELS, separated by spaces"
  ),
  Flag.withMetavar("LABEL"),
  Flag.atLeast(0)
)

export const endingFlags = {
  once: Flag.Boolean("once").pipe(
    Flag.withDescription(
      "Take one step run and end with it, by the codes 0 completed, 3 stopped, 4 none taken, 5 failed"
    ),
    Flag.withDefault(false)
  ),
  unlink: Flag.Boolean("unlink").pipe(
    Flag.withDescription("Remove the worker from its workspace when it ends, as in a container that is thrown away"),
    Flag.withDefault(false)
  ),
  drainSeconds: FlagValues.text(
    "drain-seconds",
    "How long step runs may take to end after SIGTERM or Ctrl-C; default: SIGNALBOX_DRAIN_SECONDS, else as long as they take",
    "N"
  )
}

export const limitFlags = {
  limitCpu: FlagValues.text("limit-cpu", "CPU time of each process of a task; default: SIGNALBOX_LIMIT_CPU", "SECONDS"),
  limitOpenFiles: FlagValues.text(
    "limit-open-files",
    "Open files of each process of a task; default: SIGNALBOX_LIMIT_OPEN_FILES",
    "N"
  ),
  limitFileSize: FlagValues.text(
    "limit-file-size",
    "The size of each file that a task writes, such as 500MB; default: SIGNALBOX_LIMIT_FILE_SIZE",
    "SIZE"
  ),
  limitMemory: FlagValues.text(
    "limit-memory",
    "The memory of all processes of a task together, such as 2GB; default: SIGNALBOX_LIMIT_MEMORY",
    "SIZE"
  )
}

const units: Readonly<Record<string, number>> = { "": 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** A whole number above 0, with one of these units. */
const amount = Effect.fnUntraced(function* (
  flag: Option.Option<string>,
  name: string,
  units: Readonly<Record<string, number>>,
  example: string
) {
  const given = yield* orVariable(flag, `SIGNALBOX_${name.toUpperCase().replaceAll("-", "_")}`)
  if (given === null) return undefined
  const [, number = "", unit = ""] = /^(\d{1,12})\s*([a-z]*)$/i.exec(given.trim()) ?? []
  const size = units[unit.toLowerCase()]
  if (number !== "" && Number(number) > 0 && size !== undefined) return Number(number) * size
  return yield* new WorkerFlagError({ message: `--${name}: expected ${example}, got ${given}` })
})

const seconds = { "": 1, s: 1 }

/** The labels in force, each once. */
export const labelsOf = Effect.fnUntraced(function* (given: ReadonlyArray<string>) {
  const variable = (yield* orVariable(Option.none(), "SIGNALBOX_LABELS")) ?? ""
  const labels = [...new Set(given.length > 0 ? given : variable.split(/\s+/).filter((word) => word !== ""))]
  const wrong = labels.find((label) => !Schema.is(Label)(label))
  if (wrong !== undefined) {
    const message = `--label: expected letters, digits and . _ - = : / that begin with a letter or digit, got ${JSON.stringify(wrong)}`
    return yield* new WorkerFlagError({ message })
  }
  if (labels.length > 32) return yield* new WorkerFlagError({ message: "--label: a worker has at most 32 labels" })
  return labels
})

type GivenOf<F> = { readonly [Name in keyof F]: F[Name] extends Flag.Flag<infer A> ? A : never }

/** How long step runs may take to end, for `Worker.run`. */
export const drainOf = Effect.fnUntraced(function* (given: Pick<GivenOf<typeof endingFlags>, "drainSeconds">) {
  const drain = yield* amount(given.drainSeconds, "drain-seconds", seconds, "a number of seconds, such as 30")
  return drain === undefined ? "Infinity" : (`${drain} seconds` as const)
})

/** The limits in force. */
export const limitsOf = Effect.fnUntraced(function* (given: GivenOf<typeof limitFlags>) {
  const cpuSeconds = yield* amount(given.limitCpu, "limit-cpu", seconds, "a number of seconds, such as 600")
  const openFiles = yield* amount(given.limitOpenFiles, "limit-open-files", { "": 1 }, "a number, such as 256")
  const fileBytes = yield* amount(given.limitFileSize, "limit-file-size", units, "a size, such as 500MB")
  const memoryBytes = yield* amount(given.limitMemory, "limit-memory", units, "a size, such as 2GB")
  const limits: Limits = {
    ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
    ...(openFiles === undefined ? {} : { openFiles }),
    ...(fileBytes === undefined ? {} : { fileBytes }),
    ...(memoryBytes === undefined ? {} : { memoryBytes })
  }
  return limits
})
