/**
 * Two nodes carry schedules out while one after the other is killed: each occurrence is there once, with one run or the
 * reason why not. Two kills in the short form, forty in the long one.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, it } from "@effect/vitest"
import type { ScheduleId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Schedules from "@signalbox/api/Schedules"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Child from "./support/Child.ts"
import { layerIn, temporaryFolder } from "./support/Service.ts"

const kills = sized(2, 40)
/** Occurrences between two kills. */
const between = 2

const second = 1000

const historyOf = (schedule: ScheduleId) =>
  Effect.map(Stream.runCollect(Schedules.occurrences(schedule, { limit: 500 })), (all) =>
    all.toSorted((a, b) => (a.at < b.at ? -1 : 1))
  )

it.live(
  "each occurrence is started once or skipped with the reason, while nodes are killed",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      let left = yield* Child.start(folder)
      const steps = [{ name: "only", task: { name: "nobody" } }]
      const made = yield* Effect.forEach(
        [
          { overlap: "allow", missed: "all" },
          { overlap: "stop", missed: "last" },
          { overlap: "skip", missed: "last" }
        ] as const,
        Effect.fnUntraced(function* (rules, n) {
          const { id } = yield* Processes.create({ name: `process ${n}`, steps })
          const schedule = yield* Schedules.create({ name: `s${n}`, process: { id }, every: "1 second", ...rules })
          return { schedule: schedule.id, process: id, first: schedule.next_at ?? "", ...rules }
        })
      ).pipe(Effect.provide(left.client))
      const [watched] = made
      if (watched === undefined) return assert.fail("there are three")
      const countOf = Effect.map(historyOf(watched.schedule), (all) => all.length)
      for (let kill = 0; kill < kills; kill++) {
        const [old, next] = [left, yield* Child.start(folder)]
        yield* Effect.gen(function* () {
          const before = yield* countOf
          yield* Effect.repeat(Effect.delay(countOf, "50 millis"), { until: (count) => count >= before + between })
          yield* old.kill
        }).pipe(Effect.provide(next.client))
        left = next
      }
      yield* left.kill
      yield* Effect.gen(function* () {
        for (const { first, missed, overlap, process, schedule } of made) {
          yield* Schedules.pause(schedule, "the end of the drill")
          const history = yield* historyOf(schedule)
          assert.isAbove(history.length, kills * between)
          assert.deepStrictEqual(
            history.map(({ at }) => Date.parse(at)),
            history.map((_, n) => Date.parse(first) + n * second),
            overlap
          )
          const started = history.filter(({ outcome }) => outcome === "started")
          for (const one of history) assert.strictEqual(one.process_run === null, one.why !== null)
          const others = history.filter(({ outcome, reason }) => outcome !== "started" && reason !== "paused")
          if (missed === "all") assert.deepStrictEqual(others, [])
          const runs = yield* Stream.runCollect(ProcessRuns.stream({ process, limit: 500 }))
          assert.sameMembers(
            runs.map(({ id }) => id),
            started.map(({ process_run }) => process_run?.id ?? "")
          )
          if (overlap === "stop") assert.isAtMost(runs.filter(({ state }) => state === "new").length, 1)
        }
      }).pipe(Effect.provide(layerIn(folder)))
    }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped),
  sized(240_000, 1_200_000)
)
