/** Callbacks: the events of one run to one caller; and addresses that a service does not send to. */
import { assert, layer as withLayer } from "@effect/vitest"
import type { ProcessRunId } from "@signalbox/api/contract/Ids"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { errorOf } from "./support/Http.ts"
import { type Receiver } from "./support/Receiver.ts"
import { layer, layerIn, Service, temporaryFolder } from "./support/Service.ts"
import {
  unknownId,
  everything,
  seconds,
  days,
  newProcess,
  ended,
  genuine,
  lastOf,
  soon,
  settled,
  withReceiver
} from "./support/Hooks.ts"

const callbackSecret = "a secret of the caller's own: ÄÖ✓"

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("callbacks", (it) => {
  const callbackTo = (target: Receiver, path: string, events: ReadonlyArray<ProcessRuns.ProcessRunAction>) => ({
    callback: { url: target.origin + path, secret: callbackSecret, events }
  })

  it.effect("send the events of one run to one caller, signed with the caller's secret", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const process = yield* newProcess()
        const path = `/${crypto.randomUUID()}`
        const run = yield* ended(process, false, callbackTo(target, path, ["started", "completed"]))
        yield* ended(process)
        const told = yield* target.take(path, 2)
        const events = []
        for (const received of told) events.push(yield* genuine(received, callbackSecret))
        assert.sameMembers(
          events.map(({ action }) => action),
          ["started", "completed"]
        )
        assert.deepStrictEqual([...new Set(events.map(({ payload }) => payload.processRunId))], [run])
        // It is not listed as a webhook of the workspace, and its secret cannot be read.
        assert.strictEqual((yield* raw("GET", "webhooks")).text, '{"data":[],"has_more":false,"next":null}')
        const stored = yield* rows
        assert.strictEqual(stored["webhook"]?.length, 1)
        assert.notInclude(JSON.stringify(stored), callbackSecret)
        const { id } = (stored["webhook"] as ReadonlyArray<{ readonly id: string }>)[0] ?? assert.fail()
        assert.strictEqual((yield* raw("GET", `webhooks/${id}`)).status, 404)
        assert.strictEqual((yield* raw("DELETE", `webhooks/${id}`)).status, 404)
      })
    )
  )

  it.effect("are delivered though the run was deleted, and deleted when nothing is pending", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn, rows } = yield* Service
        const process = yield* newProcess()
        const path = `/${crypto.randomUUID()}`
        yield* target.on(path, (received, index) => received.answer(index === 0 ? 500 : 200))
        const run: ProcessRunId = yield* ended(process, true, callbackTo(target, path, ["unresolved"]))
        yield* target.take(path, 1)
        yield* ProcessRuns.remove(run)
        yield* Effect.gen(function* () {
          yield* deliverIn(10 * seconds)
          if (target.at(path).length < 2) return yield* Effect.fail("not yet")
        }).pipe(Effect.retry(soon))
        assert.strictEqual((yield* genuine(target.at(path)[1], callbackSecret)).action, "unresolved")
        const ofRun = Effect.map(
          rows,
          (all) => JSON.stringify([all["webhook"], all["webhook_delivery"]]).split(run).length - 1
        )
        assert.isAbove(yield* ofRun, 0)
        yield* deliverIn(15 * days)
        assert.strictEqual(yield* ofRun, 0)
      })
    )
  )

  it.effect("are refused when they are not whole, and leave nothing behind when nothing starts", () =>
    Effect.gen(function* () {
      const { raw, rows } = yield* Service
      const { process } = yield* newProcess()
      const callback = { url: "http://127.0.0.1:9/", secret: "s", callback_events: ["started"] }
      const before = yield* rows
      const bad: ReadonlyArray<readonly [object, RegExp]> = [
        [{ ...callback, url: undefined }, /url/],
        [{ ...callback, secret: undefined }, /secret/],
        [{ ...callback, callback_events: undefined }, /callback_events/],
        [{ ...callback, callback_events: [] }, /callback_events/],
        [{ ...callback, callback_events: ["process_run.started"] }, /callback_events/],
        [{ ...callback, secret: "" }, /secret/],
        [{ ...callback, url: "javascript:alert(1)" }, /url/],
        [{ ...callback, url: "http://1.2.3.256/" }, /url/]
      ]
      for (const [given, says] of bad) {
        for (const input of [{}, { type: "with_payloads", payloads: [1] }, { type: "with_inputs" }]) {
          const answer = yield* raw("POST", `processes/${process}/process-runs`, {
            json: { ...input, callback: given }
          })
          assert.strictEqual(answer.status, 400, `${JSON.stringify(given)}: ${answer.text}`)
          assert.match(errorOf(answer).message, says)
        }
      }
      const none = yield* raw("POST", `processes/${process}/process-runs`, { json: { type: "with_inputs", callback } })
      assert.strictEqual(none.text, '{"started":false}')
      const taken = yield* raw("POST", `processes/${process}/process-runs`, {
        json: { type: "with_work_item_ids", work_item_ids: [unknownId], callback }
      })
      assert.strictEqual(taken.status, 409)
      assert.deepStrictEqual(yield* rows, before)
    })
  )
})

const guarded = Layer.unwrap(Effect.map(temporaryFolder, (folder) => layerIn(folder, { allowPrivateTargets: false })))

withLayer(guarded, { excludeTestServices: true, timeout: "4 minutes" })("a service that guards its network", (it) => {
  it.effect("refuses webhooks and callbacks whose address is private by its text", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const { process } = yield* newProcess()
      const made = yield* Webhooks.create({ endpoint: "http://public.example/", events: everything })
      for (const endpoint of ["http://127.0.0.1:9/", "http://2130706433/", "http://localhost./", "http://[::1]/"]) {
        const error = yield* Effect.flip(Webhooks.create({ endpoint, events: everything }))
        assert.strictEqual(error._tag, "InvalidRequest")
        assert.match(error.message, /endpoint: is /)
        assert.strictEqual((yield* Effect.flip(Webhooks.update(made.id, { endpoint })))._tag, "InvalidRequest")
        const callback = { url: endpoint, secret: "s", callback_events: ["started"] }
        const answer = yield* raw("POST", `processes/${process}/process-runs`, { json: { callback } })
        assert.strictEqual(answer.status, 400)
        assert.match(errorOf(answer).message, /callback\.url: is /)
      }
    })
  )

  it.effect("sends nothing to such an address, and records the refusal as a failed attempt", () =>
    withReceiver((target) =>
      Effect.gen(function* () {
        const { deliverIn } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const made = yield* Webhooks.create({ endpoint: "http://public.example/", events: everything })
        // As if it had been allowed when it was created.
        yield* sql`UPDATE webhook SET endpoint = ${target.origin + "/refused"} WHERE id = ${made.id}`
        yield* Webhooks.test(made.id)
        const refused = yield* settled(made.id, 1)
        assert.strictEqual(refused.state, "pending")
        assert.isNull(refused.response_status)
        assert.match(refused.error ?? "", /the endpoint is a loopback address/)
        yield* deliverIn(10 * seconds)
        assert.strictEqual((yield* lastOf(made.id)).attempts, 2)
        assert.strictEqual(target.at("/refused").length, 0)
      })
    )
  )
})
