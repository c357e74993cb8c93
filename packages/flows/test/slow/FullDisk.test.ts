/**
 * A disk that fills up under SQLite, again and again: with free space all executions continue automatically, and none fails. The disk
 * is a real file system of a few megabytes.
 */
import { assert, describe, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { spawnSync } from "node:child_process"
import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import * as Effects from "../support/drills/Effects.ts"
import { expected, kindOf } from "../support/drills/Family.ts"
import * as Processes from "../support/drills/Processes.ts"
import { temporaryFolder } from "../support/drills/Stores.ts"
import { drawn, statesOf, verdict } from "../support/drills/Verdict.ts"

const times = sized(3, 30)
const executionsBetween = 40

/** Whether this machine lets a process mount a disk. */
const disksOfTheirOwn =
  spawnSync("unshare", ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0

const onDisk = (folder: string, megabytes: number) => [
  "unshare",
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && exec "$@"`,
  folder
]

const fill = (folder: string) =>
  Effect.sync(() => {
    const file = openSync(join(folder, "filler"), "a")
    for (const size of [65_536, 512]) {
      const chunk = Buffer.alloc(size)
      try {
        while (writeSync(file, chunk) > 0);
      } catch {
        // Full.
      }
    }
    closeSync(file)
  })

describe.skipIf(!disksOfTheirOwn)("on a full disk", () => {
  it.live(`filled ${times} times, executions wait and continue automatically`, () =>
    Effect.gen(function* () {
      const effects = yield* Effects.start
      const folder = yield* temporaryFolder
      const plan = Processes.planOf({ store: { file: join(folder, "flows.db") }, effects: effects.url })
      const process = yield* Processes.start(plan, onDisk(folder, 24))
      // The folder, as the process sees it.
      const seen = `/proc/${process.pid}/root${folder}`
      const anyone = () => process
      let total = 0
      let waited = 0
      for (let time = 0; time < times; time++) {
        const first = total
        total += executionsBetween
        const submitting = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: executionsBetween }, (_, index) => first + index),
            (n) =>
              Effect.gen(function* () {
                yield* process.ask({ do: "submit", n, kind: kindOf(n) })
                if (kindOf(n) === "signal") yield* process.ask({ do: "signal", n, value: `value ${n}` })
              }).pipe(Effect.delay(`${(n % 8) * 30} millis`)),
            { concurrency: "unbounded", discard: true }
          )
        )
        yield* Effect.sleep(`${40 * (1 + (time % 5))} millis`)
        yield* fill(seen)
        yield* Effect.sleep("700 millis")
        const states = [...(yield* statesOf(anyone)).values()]
        waited += states.filter(({ state }) => !["completed", "failed"].includes(state)).length
        assert.deepStrictEqual(
          states.filter(({ state }) => state === "halted"),
          []
        )
        rmSync(join(seen, "filler"))
        yield* Fiber.join(submitting)
      }
      yield* verdict({ name: "disk full", effects, anyone, total, expectedOf: (n) => expected[kindOf(n)] })
      assert.deepStrictEqual(yield* drawn(effects, anyone, total), [])
      assert.isAbove(waited, 0)
      assert.isFalse(process.isGone())
      yield* Effect.logInfo(`full ${times} times; ${waited} executions waited for room`)
    }).pipe(Effect.scoped)
  )
})
