/** Versions of task packages in use: what a step run gets, and what is kept because of that. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Assistants from "@signalbox/api/Assistants"
import type { TaskPackageId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as StepRuns from "@signalbox/api/StepRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import { keptVersions, PackageUses } from "../../src/internal/store/packages/PackageUses.ts"
import { PackageVersions } from "../../src/internal/store/packages/PackageVersions.ts"
import { Files } from "../../src/internal/store/files/Files.ts"
import { errorOf, send } from "../support/Http.ts"
import { layer, linkWorker, Service } from "../support/Service.ts"
import { zip, digestOf, upload, withVersions } from "../support/PackageVersions.ts"

/** A process of one step, and a run of it with this many items. */
const processOf = Effect.fnUntraced(function* (id: TaskPackageId, pin: number | null = null, max_parallel = 10) {
  const name = `process ${crypto.randomUUID()}`
  const steps = [{ name: "s", task: { name: "Run", package_id: id }, task_package_version: pin, max_parallel }]
  return yield* Processes.create({ name, steps })
})

const started = Effect.fnUntraced(function* (process: Processes.Process, items: number) {
  const run = yield* ProcessRuns.start(process.id, { payloads: Array.from({ length: items }, (_, n) => n) })
  return run.started ? run.id : assert.fail("not started")
})

/** Of a worker that takes packages alone. */
const worker = Effect.gen(function* () {
  const { origin } = yield* Service
  const { identity, protocol, session } = yield* linkWorker([])
  const { nextItems } = yield* WorkerProtocol.makeItems(origin, identity)
  const lease = (free: number) => protocol.lease({ free, tasks: [], packages: true, waitSeconds: 0 })
  return { protocol, session, lease, nextItems }
})

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("versions of task packages in use", (it) => {
  it.effect("stay with what is in hand; what is given out from then on has the current one", () =>
    Effect.gen(function* () {
      const { origin, tickIn } = yield* Service
      const id = yield* withVersions("good", "bad")
      const [good, bad] = [yield* zip("good"), yield* zip("bad")]
      const run = yield* started(yield* processOf(id), 3)
      const { lease, protocol } = yield* worker
      const [held = assert.fail("no lease")] = yield* lease(1)
      assert.strictEqual(held.package?.digest, digestOf(bad.bytes))
      yield* protocol.start(held)
      const [unstarted = assert.fail("no lease")] = yield* lease(1)
      assert.strictEqual(unstarted.package?.digest, digestOf(bad.bytes))
      yield* TaskPackages.rollback(id)
      const [next = assert.fail("no lease")] = yield* lease(1)
      assert.strictEqual(next.package?.digest, digestOf(good.bytes))
      // The address that the first one got has the bytes that it was promised.
      const fetched = yield* send(origin, "GET", (held.package?.url ?? "").slice(origin.length))
      assert.isTrue(fetched.bytes.equals(bad.bytes))
      const shown = Effect.map(StepRuns.list(run), ({ data }) =>
        data.toReversed().map(({ task_package }) => task_package?.version ?? null)
      )
      assert.deepStrictEqual(yield* shown, [2, 2, 1])
      assert.deepStrictEqual((yield* StepRuns.get(held.step_run_id)).task_package, {
        id,
        version: 2,
        digest: digestOf(bad.bytes)
      })
      yield* protocol.start(next)
      for (const one of [held, next]) yield* protocol.finish(one, null)
      // A lease that was never started has begun nothing.
      yield* tickIn(31_000)
      assert.strictEqual((yield* StepRuns.get(unstarted.step_run_id)).task_package, null)
      const [again = assert.fail("no lease")] = yield* lease(1)
      assert.strictEqual(again.step_run_id, unstarted.step_run_id)
      assert.strictEqual(again.package?.digest, digestOf(good.bytes))
      yield* protocol.start(again)
      yield* protocol.finish(again, null)
      assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed")
      assert.deepStrictEqual(yield* shown, [2, 1, 1])
    })
  )

  it.effect("take no further item after they were rolled back: the rest is for the version before", () =>
    Effect.gen(function* () {
      for (const way of ["robot", "worker"] as const) {
        for (const pin of [null, 2]) {
          const what = `${way}, ${pin}`
          const id = yield* withVersions("good", "bad")
          const run = yield* started(yield* processOf(id, pin, 1), 3)
          const { lease, nextItems, protocol, session } = yield* worker
          const [held = assert.fail("no lease")] = yield* lease(1)
          yield* protocol.start(held)
          const robot = yield* session(held)
          const next = Effect.fnUntraced(function* (item: typeof held.work_item_id) {
            if (way === "robot") {
              yield* robot.release(item, { state: "COMPLETED" })
              return yield* robot.reserveNext
            }
            const settled = { work_item_id: item, attempt: 1, state: "COMPLETED" } as const
            const [answer] = yield* nextItems(run, [{ lease: held, settled, reserve: true }])
            return answer?.item?.work_item_id ?? null
          })
          const second = (yield* next(held.work_item_id)) ?? assert.fail(`${what}: no item`)
          // A newer version is no reason to stop.
          yield* upload(id, "newer")
          yield* TaskPackages.promote(id, 1)
          const third = yield* next(second)
          assert.strictEqual(third !== null, pin !== null, what)
          if (third !== null) yield* next(third)
          yield* protocol.finish(held, null)
          if (pin === null) {
            const [fresh = assert.fail(`${what}: no lease`)] = yield* lease(1)
            assert.strictEqual(fresh.package?.digest, digestOf((yield* zip("good")).bytes), what)
            yield* protocol.start(fresh)
            yield* protocol.finish(fresh, null)
          }
          assert.strictEqual((yield* ProcessRuns.get(run)).state, "completed", what)
        }
      }
    })
  )

  it.effect("are what a step names, whatever is current, also for its runs of before", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const id = yield* withVersions("a", "b")
      yield* TaskPackages.upload(id, yield* zip("c", "Other"))
      const digests = [digestOf((yield* zip("a")).bytes), digestOf((yield* zip("b")).bytes)]
      const step = (given: object, task: object = { name: "Run", package_id: id }) => ({
        name: `p ${crypto.randomUUID()}`,
        steps: [{ name: "s", task, ...given }]
      })
      const before = yield* rows
      for (const [json, says] of [
        [step({ task_package_version: 4 }), /steps\.0\.task_package_version: the package has no version 4/],
        [step({ task_package_version: 3 }), /steps\.0\.task_package_version: version 3 .* no task "Run"/],
        [step({ task_package_version: 1 }, { name: "own" }), /steps\.0\.task_package_version: the task is not one of/],
        [step({ task_package_version: 0 }), /task_package_version/],
        [step({ task_package_version: "latest" }), /task_package_version/]
      ] as const) {
        const answer = yield* raw("POST", "processes", { json })
        assert.strictEqual(answer.status, 400, answer.text)
        assert.match(errorOf(answer).message, says)
      }
      assert.deepStrictEqual(yield* rows, before)
      // The current version has no such task, and the named one has.
      const process = yield* processOf(id, 1)
      const first = yield* started(process, 1)
      const definition = yield* Processes.getDefinition(process.id)
      assert.strictEqual(definition.steps[0]?.task_package_version, 1)
      const moved = definition.steps.map((one) => ({ ...one, task_package_version: 2 }))
      yield* Processes.update(process.id, { name: definition.name, steps: moved })
      const second = yield* started(process, 1)
      const { lease, protocol } = yield* worker
      for (const run of [first, second]) {
        const [given = assert.fail("no lease")] = yield* lease(1)
        assert.strictEqual(given.process_run_id, run)
        assert.strictEqual(given.package?.digest, digests[run === first ? 0 : 1])
        yield* protocol.start(given)
        yield* protocol.finish(given, null)
      }
      const follows = definition.steps.map((one) => ({ ...one, task_package_version: null }))
      yield* Processes.update(process.id, { name: definition.name, steps: follows })
      const lacking = yield* Effect.flip(ProcessRuns.start(process.id))
      assert.match(lacking.message, /no task "Run"; it has "Other"/)
    })
  )

  it.effect(
    "are kept: the newest, the current one, those that steps name, and those in hand; others go with their bytes",
    () =>
      Effect.gen(function* () {
        const { blobs, retainIn } = yield* Service
        const id = yield* withVersions("1", "2", "3", "4", "5", "6")
        const before = (yield* blobs).kept.length
        const pinned = yield* processOf(id, 1)
        const { lease, protocol } = yield* worker
        // A run keeps the version that its process named, until it is completed.
        const moved = yield* processOf(id, 2)
        const unfinished = yield* started(moved, 1)
        yield* Processes.update(moved.id, { name: moved.name, steps: [] })
        yield* TaskPackages.promote(id, 3)
        const following = yield* started(yield* processOf(id), 1)
        const [first, held] = yield* lease(2)
        if (first === undefined || held === undefined) return assert.fail("no lease")
        assert.strictEqual(held.process_run_id, following)
        yield* protocol.start(held)
        yield* TaskPackages.promote(id, 4)
        const assistant = yield* Assistants.create({ name: crypto.randomUUID(), task: "Run", taskPackage: id })
        const helping = yield* Assistants.startRun(assistant.id)
        for (let n = 7; n <= keptVersions + 6; n++) yield* upload(id, `${n}`)
        yield* TaskPackages.promote(id, 5)
        yield* retainIn(0)
        const left = Effect.map(Stream.runCollect(TaskPackages.streamVersions(id)), (all) =>
          all.map(({ version }) => version).toReversed()
        )
        const newest = Array.from({ length: keptVersions }, (_, n) => n + 7)
        assert.deepStrictEqual(yield* left, [1, 2, 3, 4, 5, ...newest])
        assert.strictEqual((yield* blobs).kept.length, before + keptVersions - 1)
        // One after the other is let go.
        yield* Processes.remove(pinned.id)
        yield* retainIn(0)
        assert.deepStrictEqual(yield* left, [2, 3, 4, 5, ...newest])
        yield* protocol.start(first)
        yield* protocol.finish(first, null)
        assert.strictEqual((yield* ProcessRuns.get(unfinished)).state, "completed")
        yield* protocol.finish(held, null)
        yield* Assistants.completeRun(helping.id)
        yield* retainIn(0)
        assert.deepStrictEqual(yield* left, [5, ...newest])
        // What a step run had is known when the version is gone.
        assert.strictEqual((yield* StepRuns.get(held.step_run_id)).task_package?.version, 3)
        yield* TaskPackages.promote(id, 26)
        yield* retainIn(0)
        assert.deepStrictEqual(yield* left, newest)
      })
  )

  it.effect("that are used or current are never deleted, whatever happens in which order", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const versions = yield* PackageVersions
      const uses = yield* PackageUses
      const files = yield* Files
      const sql = yield* SqlClient.SqlClient
      const process = yield* Processes.create({ name: `model ${crypto.randomUUID()}`, steps: [] })
      const by = { type: "api_key", id: "k", name: "n" } as const
      let seed = 20
      const below = (limit: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
        return Math.floor((seed / 2_147_483_648) * limit)
      }
      const pick = (all: Iterable<number>) => {
        const known = [...all]
        return known[below(known.length)]
      }
      for (let round = 0; round < sized(2, 100); round++) {
        const { id } = yield* TaskPackages.create(`model ${crypto.randomUUID()}`)
        const there = new Set<number>()
        const pins = new Set<number>()
        const back = new Set<number>()
        let current = 0
        let newest = 0
        const moveTo = (version: number) => {
          for (const one of there) if (one > version && one <= current) back.add(one)
          back.delete(version)
          current = version
        }
        const put = Effect.gen(function* () {
          newest++
          const content = { tasks: ["Run"], digest: `sha256:${round} ${newest}`, size: 1, blob: crypto.randomUUID() }
          yield* versions.put(workspaceId, id, { type: "zip", content, by, note: null, how: "asked" })
          there.add(newest)
          current = newest
        })
        const moves: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          put,
          put,
          put,
          Effect.gen(function* () {
            const version = pick(there)
            if (version === undefined) return
            yield* versions.promote(workspaceId, id, version, by)
            moveTo(version)
          }),
          Effect.gen(function* () {
            const before = [...there].filter((one) => one < current && !back.has(one)).at(-1)
            const went = yield* Effect.option(versions.rollback(workspaceId, id, null, by))
            assert.strictEqual(went._tag === "Some" ? went.value : undefined, before)
            if (before !== undefined) moveTo(before)
          }),
          Effect.gen(function* () {
            const version = pick(there)
            if (version === undefined || pins.size > 4) return
            const row = { process_id: process.id, step_id: "s", package_id: id, package_version: version }
            if (!pins.has(version)) yield* sql`INSERT INTO process_step ${sql.insert(row)}`
            pins.add(version)
          }),
          Effect.gen(function* () {
            const version = pick(pins)
            if (version === undefined) return
            yield* sql`DELETE FROM process_step WHERE package_id = ${id} AND package_version = ${version}`
            pins.delete(version)
          }),
          Effect.gen(function* () {
            yield* uses.removeOld(workspaceId, id)
            const kept = new Set([...there].sort((a, b) => b - a).slice(0, keptVersions))
            for (const one of there) if (!kept.has(one) && !pins.has(one) && one !== current) there.delete(one)
          })
        ]
        for (let step = 0; step < 120; step++) {
          yield* moves[below(moves.length)] ?? Effect.void
        }
        const found = yield* versions.list(workspaceId, id, { after: null, limit: 500 })
        assert.deepStrictEqual(
          found.rows.map(({ version }) => version).toReversed(),
          [...there].sort((a, b) => a - b)
        )
        const current_ = found.rows.find(({ state }) => state === "current")?.version ?? 0
        assert.strictEqual(current_, current)
        const owners = yield* versions.owners(workspaceId, id)
        assert.lengthOf(yield* files.ofOwners(owners), there.size)
      }
    })
  )

  it.effect("are either named by a step or deleted, when both happen at once", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Service
      const versions = yield* PackageVersions
      const uses = yield* PackageUses
      const old = [1, 2, 3, 4, 5]
      for (let round = 0; round < sized(2, 60); round++) {
        const id = yield* withVersions()
        for (let n = 1; n <= keptVersions + old.length; n++) {
          const content = { tasks: ["Run"], digest: `sha256:${n}`, size: 1, blob: crypto.randomUUID() }
          yield* versions.put(workspaceId, id, { type: "zip", content, by: null, note: null, how: "asked" })
        }
        const pinning = Effect.forEach(old, (version) => Effect.result(processOf(id, version)), {
          concurrency: "unbounded"
        })
        const deleting = Effect.delay(uses.removeOld(workspaceId, id), `${2 * round} millis`)
        const [pinned] = yield* Effect.all([pinning, deleting], { concurrency: "unbounded" })
        yield* uses.removeOld(workspaceId, id)
        for (const [index, result] of pinned.entries()) {
          const found = yield* versions.get(workspaceId, id, index + 1)
          assert.strictEqual(found !== null, Result.isSuccess(result), `${round}: ${index + 1}`)
          if (Result.isFailure(result)) assert.strictEqual(result.failure._tag, "InvalidRequest")
        }
      }
    })
  )
})
