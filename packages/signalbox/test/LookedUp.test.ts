/** Creating a work item once, against a service without idempotency keys. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Steps from "@signalbox/flows/ControlRoomSteps"
import * as Flow from "@signalbox/flows/Flow"
import * as Testing from "../src/Testing.ts"

const making = Flow.make("making", {
  version: 1,
  input: Schema.Struct({ process: ProcessId, order: Schema.Finite, lookup: Schema.optionalKey(Schema.String) }),
  success: WorkItemId,
  error: Steps.createWorkItem.error,
  idempotencyKey: ({ order }) => `${order}`,
  run: ({ order, process, ...options }) => Steps.createWorkItem({ process, payload: { order, note: "x" }, ...options })
})

/** A service without idempotency keys, whose response to the first POSTs is lost. */
const forgetful = (lost: number) => {
  let posts = 0
  return Layer.unwrap(
    Effect.map(Testing.Testing, ({ apiKey, httpClient, origin, workspaceId }) => {
      const client = HttpClient.transform(httpClient, (response, request) =>
        Effect.flatMap(response, (answer) =>
          request.method === "POST" && ++posts <= lost
            ? Effect.fail(new HttpClientError({ reason: new TransportError({ request, description: "lost" }) }))
            : Effect.succeed(answer)
        )
      )
      return ControlRoom.layerHttpClient({ apiKey, baseUrl: origin, workspaceId, idempotency: "ignored" }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
      )
    })
  )
}

const test = <E>(
  title: string,
  lost: number,
  body: (process: ProcessId) => Effect.Effect<void, E, ControlRoom | Testing.Testing>
) =>
  it.effect(title, () =>
    Effect.gen(function* () {
      const { id } = yield* Processes.put({ name: "orders", steps: [{ name: "order", task: { name: "order" } }] })
      yield* Effect.provide(body(id), forgetful(lost))
    }).pipe(Effect.provide(Layer.fresh(Testing.layer())))
  )

const count = (process: ProcessId) => Stream.runCount(WorkItems.stream({ process }))

describe("createWorkItem, where keys are ignored", () => {
  test("fails without a response, and creates a second item when it is run again", 1, (process) =>
    Effect.gen(function* () {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Testing.elapse(Flow.run(making, { process, order: 7 })))))
      yield* Flow.run(making, { process, order: 7 })
      assert.strictEqual(yield* count(process), 2)
    })
  )

  test("with lookup finds the item that was created without a response", 1, (process) =>
    Effect.gen(function* () {
      const item = yield* Testing.elapse(Flow.run(making, { process, order: 7, lookup: "order" }))
      assert.strictEqual(yield* count(process), 1)
      assert.strictEqual((yield* WorkItems.get(item)).id, item)
    })
  )

  test("with lookup finds the item that an earlier run has created", 0, (process) =>
    Effect.gen(function* () {
      const first = yield* Flow.run(making, { process, order: 7, lookup: "order" })
      const other = yield* Flow.run(making, { process, order: 8, lookup: "order" })
      assert.strictEqual(yield* Flow.run(making, { process, order: 7, lookup: "order" }), first)
      assert.notStrictEqual(other, first)
      assert.strictEqual(yield* count(process), 2)
    })
  )

  test("needs a member of the payload for the lookup", 0, (process) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Flow.run(making, { process, order: 7, lookup: "customer" }))
      assert.match(String(exit), /Expected the name of a member of the payload/)
      assert.strictEqual(yield* count(process), 0)
    })
  )
})
