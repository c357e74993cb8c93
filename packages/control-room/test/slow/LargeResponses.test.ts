/** Limits of responses in bytes: of a page, and of all large responses of a process together. */
import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as ProcessRunsClient from "@signalbox/api/ProcessRuns"
import * as Processes from "@signalbox/api/Processes"
import * as WorkItemsClient from "@signalbox/api/WorkItems"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as SqlClient from "effect/sql/SqlClient"
import type { Socket } from "node:net"
import { Refusal } from "../../src/internal/edge/Failures.ts"
import { ResponseMemory } from "../../src/internal/edge/ResponseMemory.ts"
import { limits } from "../../src/internal/settings/Limits.ts"
import { WorkItems } from "../../src/internal/store/items/WorkItems.ts"
import { bodyAs } from "../support/Http.ts"
import { linkWorker, Service } from "../support/Service.ts"
import { quiet } from "../support/Seed.ts"
import { stalledAt } from "../support/Stalled.ts"

const Page = Schema.Struct({
  data: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
  has_more: Schema.Boolean,
  next: Schema.NullOr(Schema.String)
})

/** JSON of nearly as many bytes as a payload may have. */
const large = "x".repeat(limits.itemPayload - 100)

const makeProcess = Effect.gen(function* () {
  const name = `large ${crypto.randomUUID()}`
  const { id } = yield* Processes.create({ name, steps: [{ name: "s", task: { name } }] })
  return { id, task: name }
})

/** All pages of a list, each as received. */
const walk = Effect.fnUntraced(function* (path: string) {
  const { raw } = yield* Service
  const pages: Array<{ readonly bytes: number; readonly data: (typeof Page.Type)["data"]; readonly more: boolean }> = []
  for (let next: string | null = path; next !== null;) {
    const answer = yield* raw("GET", next)
    assert.strictEqual(answer.status, 200, answer.text.slice(0, 200))
    const page: typeof Page.Type = bodyAs(Page, answer)
    assert.strictEqual(page.has_more, page.next !== null)
    pages.push({ bytes: answer.bytes.length, data: page.data, more: page.has_more })
    next = page.next
  }
  return pages
})

const createItems = Effect.fnUntraced(function* (process: ProcessId, count: number) {
  const { workspaceId } = yield* Service
  const items = yield* WorkItems
  return yield* Effect.forEach(Array.from({ length: count }), () =>
    items.create(workspaceId, process, JSON.stringify(large))
  )
})

const started = Effect.fnUntraced(function* (process: ProcessId) {
  const run = yield* ProcessRunsClient.start(process)
  return run.started ? run.id : assert.fail("not started")
})

const idsOf = (pages: ReadonlyArray<{ readonly data: ReadonlyArray<Readonly<Record<string, unknown>>> }>) =>
  pages.flatMap(({ data }) => data.map(({ id }) => id))

/** Slightly more than the rows: brackets and the address of the next page. */
const pageBytes = 8 * 1024 * 1024 + 1024

withLayer(quiet, { timeout: 60_000 })("a page", (it) => {
  it.effect("of items with their data ends at 8 MB, and the walk continues there", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      const created = yield* createItems(process.id, 18)
      const pages = yield* walk(`work-items?process_id=${process.id}&include_data=true&limit=500`)
      assert.deepStrictEqual(idsOf(pages), created.map((item) => item.id).toReversed())
      assert.deepStrictEqual(
        pages.map(({ data }) => data.length),
        [7, 7, 4]
      )
      for (const { bytes } of pages) assert.isAtMost(bytes, pageBytes)
      for (const { data } of pages) for (const item of data) assert.strictEqual(item["payload"], large)
    })
  )

  it.effect("has one row at least, however large that is", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const process = yield* makeProcess
      const created = yield* createItems(process.id, 3)
      const huge = JSON.stringify("y".repeat(limits.page + 1))
      yield* sql`UPDATE work_item SET payload = ${huge} WHERE id = ${created[1]?.id ?? ""}`
      const pages = yield* walk(`work-items?process_id=${process.id}&include_data=true`)
      assert.deepStrictEqual(
        pages.map(({ data }) => data.length),
        [1, 1, 1]
      )
      assert.deepStrictEqual(idsOf(pages), created.map((item) => item.id).toReversed())
    })
  )

  it.effect("of items without their data counts what they failed with", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const process = yield* makeProcess
      const created = yield* Effect.forEach([1, 2, 3], (payload) =>
        WorkItemsClient.create({ process: process.id, payload })
      )
      const exception = JSON.stringify({ code: "", type: "business", message: "m".repeat(3 * 1024 * 1024) })
      yield* sql`UPDATE work_item SET exception = ${exception} WHERE process_id = ${process.id}`
      const pages = yield* walk(`work-items?process_id=${process.id}`)
      assert.deepStrictEqual(
        pages.map(({ data }) => data.length),
        [2, 1]
      )
      assert.sameMembers(
        idsOf(pages),
        created.map((item) => item.id)
      )
    })
  )

  it.effect("of outputs ends at 8 MB", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      const run = yield* started(process.id)
      const worker = yield* linkWorker([process.task])
      const { lease, session } = yield* worker.take
      const made = yield* Effect.forEach(Array.from({ length: 9 }), () =>
        session.createOutput(lease.work_item_id, large)
      )
      yield* worker.protocol.finish(lease, null)
      const pages = yield* walk(`outputs?process_run_id=${run}`)
      assert.deepStrictEqual(idsOf(pages), made)
      assert.deepStrictEqual(
        pages.map(({ data }) => data.length),
        [7, 2]
      )
    })
  )

  it.effect("of console messages ends at 8 MB, as they are written in JSON", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const process = yield* makeProcess
      yield* started(process.id)
      const worker = yield* linkWorker([process.task])
      const { lease } = yield* worker.take
      // In JSON each of these characters has six bytes.
      const message = "\u0001".repeat(65_536)
      const messages = Array.from({ length: 20 }, (_, index) => ({
        timestamp: "2026-11-20T08:15:30.000Z",
        message: `${index} ${message}`.slice(0, 65_536)
      }))
      for (const offset of [0, 20]) {
        const sent = yield* raw("POST", `/worker-v1/step-runs/${lease.step_run_id}/console`, {
          key: null,
          headers: { authorization: `Bearer ${Redacted.value(worker.identity.token)}` },
          json: { lease_token: lease.lease_token, offset, messages }
        })
        assert.strictEqual(sent.status, 200, sent.text)
      }
      const pages = yield* walk(`step-runs/${lease.step_run_id}/console-messages`)
      for (const { bytes } of pages) assert.isAtMost(bytes, pageBytes)
      assert.deepStrictEqual(
        pages.flatMap(({ data }) => data.map((one) => Number.parseInt(String(one["message"])))),
        [...messages.keys(), ...messages.keys()]
      )
    })
  )

  it.effect("asks for memory before it reads long texts, and only for those that fit", () =>
    Effect.gen(function* () {
      const items = yield* WorkItems
      const { workspaceId } = yield* Service
      const process = yield* makeProcess
      yield* createItems(process.id, 10)
      const filter = { processId: process.id, processRunId: null, state: null }
      const asked: Array<number> = []
      const reserve = (bytes: number) => Effect.sync(() => void asked.push(bytes))
      const { rows } = yield* items.listWhole(workspaceId, filter, {
        after: null,
        limit: 500,
        reserve
      })
      assert.strictEqual(rows.length, 7)
      assert.strictEqual(asked.length, 1)
      assert.isAtMost(asked[0] ?? 0, limits.page)
      const refused = yield* Effect.exit(
        items.listWhole(workspaceId, filter, {
          after: null,
          limit: 500,
          reserve: () => Effect.die("no memory")
        })
      )
      assert.isTrue(Exit.isFailure(refused))
    })
  )

  it.effect("that is small asks for none", () =>
    Effect.gen(function* () {
      const items = yield* WorkItems
      const { workspaceId } = yield* Service
      const process = yield* makeProcess
      yield* Effect.forEach([1, 2, 3], () => WorkItemsClient.create({ process: process.id, payload: "x".repeat(1000) }))
      const filter = { processId: process.id, processRunId: null, state: null }
      const { rows } = yield* items.listWhole(workspaceId, filter, {
        after: null,
        limit: 100,
        reserve: () => Effect.die("asked for memory")
      })
      assert.strictEqual(rows.length, 3)
    })
  )
})

withLayer(quiet, { timeout: 60_000 })("clients that do not read", (it) => {
  it.effect("delay large responses of others until they are sent, and no small ones", () =>
    Effect.gen(function* () {
      const { key, origin, raw, workspaceId } = yield* Service
      const process = yield* makeProcess
      yield* createItems(process.id, 7)
      const path = `/api/v1/workspaces/${workspaceId}/work-items?process_id=${process.id}&include_data=true`
      const stalled: Array<Socket> = []
      // Nine of 7 MB leave no memory for a tenth.
      for (let n = 0; n < 9; n++) stalled.push(yield* stalledAt(origin, path, key))
      const answer = yield* Effect.forkChild(raw("GET", path))
      for (let n = 0; n < 40; n++) {
        const other = yield* raw("GET", "work-items?limit=1")
        assert.strictEqual(other.status, 200)
      }
      assert.isUndefined(answer.pollUnsafe())
      for (const socket of stalled) socket.destroy()
      const { bytes, status } = yield* Fiber.join(answer)
      assert.strictEqual(status, 200)
      assert.isAbove(bytes.length, 7 * large.length)
    })
  )
})

const refusal = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error instanceof Refusal ? { status: error.status, retryAfter: error.headers?.["retry-after"] } : exit
}

describe("the memory for large responses", () => {
  it.effect("is waited for, and a 503 says to come back when it does not come free in 10 s", () =>
    Effect.gen(function* () {
      const { reserve } = yield* ResponseMemory
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      yield* reserve(limits.responses, first)
      const waiting = yield* Effect.forkChild(Effect.exit(reserve(limits.page, second)))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(refusal(yield* Fiber.join(waiting)), { status: 503, retryAfter: "1" })
    }).pipe(Effect.provide(ResponseMemory.layer))
  )

  it.effect("is released when a response was sent", () =>
    Effect.gen(function* () {
      const { reserve } = yield* ResponseMemory
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      const got = yield* Deferred.make<void>()
      yield* reserve(limits.responses, first)
      yield* Effect.forkChild(Effect.andThen(reserve(limits.page, second), Deferred.succeed(got, undefined)))
      yield* TestClock.adjust("1 second")
      yield* Scope.close(first, Exit.void)
      yield* Deferred.await(got)
    }).pipe(Effect.provide(ResponseMemory.layer))
  )

  it.effect("is counted once for a request that asks twice", () =>
    Effect.gen(function* () {
      const { reserve } = yield* ResponseMemory
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      yield* reserve(limits.responses / 2, first)
      yield* reserve(limits.responses / 2, first)
      yield* reserve(limits.responses / 2, second)
    }).pipe(Effect.provide(ResponseMemory.layer))
  )

  it.effect("refuses immediately when too many wait already", () =>
    Effect.gen(function* () {
      const { reserve } = yield* ResponseMemory
      const scopes = yield* Effect.forEach([1, 2, 3], () => Scope.make())
      const [first, second, third] = scopes
      if (first === undefined || second === undefined || third === undefined) return assert.fail("no scopes")
      yield* reserve(limits.responses, first)
      yield* Effect.forkChild(reserve(limits.responses, second))
      yield* Effect.yieldNow
      assert.deepStrictEqual(refusal(yield* Effect.exit(reserve(1, third))), { status: 503, retryAfter: "1" })
    }).pipe(Effect.provide(ResponseMemory.layer))
  )

  it.effect("has a pace after a burst, also where what was before has been sent", () =>
    Effect.gen(function* () {
      const { reserve } = yield* ResponseMemory
      const sent = Effect.flatMap(Scope.make(), (scope) =>
        Effect.andThen(reserve(limits.page, scope), Scope.close(scope, Exit.void))
      )
      const burst = Effect.repeat(sent, { times: limits.responses / limits.page - 1 })
      const within = yield* Effect.forkChild(burst, { startImmediately: true })
      assert.isDefined(within.pollUnsafe())
      const after = yield* Effect.forkChild(sent, { startImmediately: true })
      assert.isUndefined(after.pollUnsafe())
      yield* Fiber.join(after)
    }).pipe(Effect.provide(ResponseMemory.layer))
  )
})
