/**
 * Steps that keep the event loop of their process, beside others.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import type { BusyOrder, BusyPlan } from "./Busy.ts"
import * as Processes from "./Processes.ts"
import { postgres } from "./Stores.ts"

const script = fileURLToPath(new URL("busy-process.ts", import.meta.url))

const Inspected = Schema.fromJsonString(
  Schema.Struct({
    state: Schema.String,
    summary: Schema.String,
    remedy: Schema.NullOr(Schema.String),
    failure: Schema.NullOr(Schema.Struct({ tag: Schema.NullOr(Schema.String), message: Schema.String })),
    steps: Schema.Array(
      Schema.Struct({
        path: Schema.String,
        attempt: Schema.Finite,
        stalled: Schema.optionalKey(Schema.Struct({ times: Schema.Finite }))
      })
    )
  })
)

export const start = (plan: Pick<BusyPlan, "url" | "schema"> & Partial<BusyPlan>) =>
  Processes.startScript<BusyOrder>(script, {
    stallLimitMillis: 120_000,
    thread: "usual",
    idle: false,
    ...plan
  })

export type Busy = Effect.Success<ReturnType<typeof start>>

/** Starts so many processes on one store, and one that runs nothing, from which they are seen. */
export const fleet = Effect.fnUntraced(function* (count: number, plan: Partial<BusyPlan> = {}) {
  const store = yield* postgres
  const all = yield* Effect.all(
    Array.from({ length: count }, () => start({ ...store, ...plan })),
    { concurrency: count }
  )
  const watcher = yield* start({ ...store, ...plan, idle: true })
  return { store, all, watcher }
})

export const inspect = (process: Busy, n: number) =>
  Effect.flatMap(process.ask({ do: "inspect", n }), Schema.decodeUnknownEffect(Inspected))

/** Waits until an inspection satisfies the condition. */
export const until = Effect.fnUntraced(function* (
  process: Busy,
  n: number,
  condition: (inspected: typeof Inspected.Type) => boolean
) {
  for (;;) {
    const inspected = yield* inspect(process, n)
    if (condition(inspected)) return inspected
    yield* Effect.sleep("200 millis")
  }
})

/** How often the step of an execution was begun, in all processes. */
export const begun = (all: ReadonlyArray<Busy>, n: number): number =>
  all
    .map(
      (process) =>
        process
          .output()
          .split("\n")
          .filter((line) => line === `begun ${n}`).length
    )
    .reduce((a, b) => a + b, 0)

/** Waits until a process has printed a line with this text. */
export const printed = Effect.fnUntraced(function* <P extends Pick<Busy, "output">>(
  all: ReadonlyArray<P>,
  text: string
) {
  for (;;) {
    const found = all.find((process) => process.output().includes(text))
    if (found !== undefined) return found
    yield* Effect.sleep("50 millis")
  }
})

/** Returns the lines of a process with this text. */
export const linesWith = (process: Busy, text: string) =>
  process
    .output()
    .split("\n")
    .filter((line) => line.includes(text))

/** A step of so long a computation ends once, as does a neighbour that waits meanwhile. */
export const endsOnce = Effect.fnUntraced(function* (millis: number) {
  const { all, watcher } = yield* fleet(3)
  const [owner = assert.fail()] = all
  yield* owner.ask({ do: "submit", n: 2, how: "idle", millis: 1_000 })
  yield* owner.ask({ do: "submit", n: 1, how: "sync", millis })
  yield* until(watcher, 1, ({ state }) => state === "completed")
  yield* until(watcher, 2, ({ state }) => state === "completed")
  assert.deepStrictEqual([begun(all, 1), begun(all, 2)], [1, 1])
  yield* printed([owner], "was blocked for")
  const warnings = linesWith(owner, "was blocked for")
  assert.lengthOf(warnings, 1)
  assert.match(warnings[0] ?? "", /in the step pay of the execution/)
})

/** A step that never ends is halted after its third process, and costs its neighbours only time. */
export const isHalted = Effect.fnUntraced(function* (stallLimitMillis: number) {
  const { all, watcher } = yield* fleet(4, { stallLimitMillis })
  const [owner = assert.fail()] = all
  yield* owner.ask({ do: "submit", n: 1, how: "later", millis: 3_600_000 })
  yield* owner.ask({ do: "submit", n: 2, how: "idle", millis: 1_000 })
  const halted = yield* until(watcher, 1, ({ state }) => state === "halted")
  assert.strictEqual(halted.failure?.tag, "StepStalled")
  assert.match(
    halted.failure?.message ?? "",
    /the step pay blocked the event loop .*, 3 times; the last time on .* for \d+ s/
  )
  assert.match(halted.remedy ?? "", /worker thread or in smaller pieces/)
  assert.strictEqual(begun(all, 1), 3)
  const neighbour = yield* until(watcher, 2, ({ state }) => state === "completed")
  assert.strictEqual(neighbour.steps[0]?.attempt, 1)
  const next = yield* printed(all, "it runs again here")
  assert.match(linesWith(next, "it runs again here")[0] ?? "", /the step pay of the execution .* on .* for \d+ s/)
})
