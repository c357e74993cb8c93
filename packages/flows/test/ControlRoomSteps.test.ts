/** What can be said without a control room; the steps are tested against a real one where there is one. */
import { assert, describe, expectTypeOf, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { ControlRoomError } from "@signalbox/api/ControlRoomError"
import { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type * as Outputs from "@signalbox/api/Outputs"
import { defaultPolicy, RetryPolicy } from "@signalbox/api/Policy"
import type * as ProcessRuns from "@signalbox/api/ProcessRuns"
import { UploadSourceError } from "@signalbox/api/Upload"
import type * as WorkItems from "@signalbox/api/WorkItems"
import * as Steps from "../src/ControlRoomSteps.ts"
import * as Flow from "../src/Flow.ts"

type ErrorOf<F> = F extends (...args: never) => Effect.Effect<infer _A, infer E, infer _R>
  ? E
  : F extends (...args: never) => Stream.Stream<infer _A, infer E, infer _R>
    ? E
    : never
type RequirementOf<F> = F extends (...args: never) => Effect.Effect<infer _A, infer _E, infer R> ? R : never

describe("the types of the steps", () => {
  it("each fails with exactly what its calls can fail with", () => {
    expectTypeOf<ErrorOf<typeof Steps.createWorkItem>>().toEqualTypeOf<ErrorOf<typeof WorkItems.create>>()
    expectTypeOf<ErrorOf<typeof Steps.attachFiles>>().toEqualTypeOf<ErrorOf<typeof WorkItems.attachFile>>()
    expectTypeOf<ErrorOf<typeof Steps.startRun>>().toEqualTypeOf<ErrorOf<typeof ProcessRuns.start> | Steps.NotStarted>()
    expectTypeOf<ErrorOf<typeof Steps.awaitCompletion>>().toEqualTypeOf<ErrorOf<typeof ProcessRuns.awaitEnd>>()
    expectTypeOf<ErrorOf<typeof Steps.collectOutputs>>().toEqualTypeOf<ErrorOf<typeof Outputs.stream>>()
    expectTypeOf<ErrorOf<typeof Steps.failedItems>>().toEqualTypeOf<ErrorOf<typeof WorkItems.stream>>()
    expectTypeOf<ErrorOf<typeof Steps.markDone>>().toEqualTypeOf<ErrorOf<typeof WorkItems.markAsDone>>()
    expectTypeOf<ErrorOf<typeof Steps.retryFailed>>().toEqualTypeOf<ErrorOf<typeof WorkItems.retry>>()
    expectTypeOf<ErrorOf<typeof Steps.stopRun>>().toEqualTypeOf<ErrorOf<typeof ProcessRuns.stop>>()
  })

  it("each needs the control room and nothing else", () => {
    type Needs = RequirementOf<(typeof Steps)[Exclude<keyof typeof Steps, "NotStarted">]>
    expectTypeOf<Needs extends Flow.FlowContext<infer R> ? R : never>().toEqualTypeOf<ControlRoom>()
  })
})

const item = WorkItemId.make("item")
const run = ProcessRunId.make("run")
const process = ProcessId.make("process")

/** The errors of all steps, and of nothing else. */
const anyError = Schema.Union([
  Steps.attachFiles.error,
  Steps.startRun.error,
  Steps.awaitCompletion.error,
  Steps.collectOutputs.error
])

const failureOf = <A>(step: Effect.Effect<A, typeof anyError.Type, Flow.FlowContext<ControlRoom>>) =>
  Effect.flip(
    Flow.run(
      Flow.make("test", {
        version: 1,
        input: Schema.Void,
        success: Schema.Void,
        error: anyError,
        idempotencyKey: () => "one",
        run: () => Effect.asVoid(step)
      }),
      undefined
    )
  )

// Port 1 of the loopback refuses connections.
const nobody = ControlRoom.layer({
  baseUrl: "http://127.0.0.1:1",
  apiKey: Redacted.make("key"),
  workspaceId: WorkspaceId.make("workspace")
}).pipe(Layer.merge(Layer.succeed(RetryPolicy, { ...defaultPolicy, attempts: 1 })))

layer(nobody, { excludeTestServices: true })("against an address that refuses connections", (it) => {
  it.effect("every step that calls fails with ControlRoomError", () =>
    Effect.gen(function* () {
      const calls = [
        Steps.createWorkItem({ process, payload: { a: 1 } }),
        Steps.startRun({ process, workItems: [item] }),
        Steps.awaitCompletion({ run }),
        Steps.awaitCompletion({ run, timeoutMillis: 60_000 }),
        Steps.collectOutputs({ run }),
        Steps.failedItems({ run }),
        Steps.markDone({ workItems: [item] }),
        Steps.retryFailed({ workItems: [item] }),
        Steps.stopRun({ run, terminate: true, reason: "over" })
      ]
      for (const call of calls) {
        const error = yield* failureOf(call)
        assert.instanceOf(error, ControlRoomError)
        if (error._tag === "ControlRoomError") assert.strictEqual(error.reason._tag, "Unreachable")
      }
    })
  )

  it.effect("attachFiles says so when it cannot read a path", () =>
    Effect.gen(function* () {
      const error = yield* failureOf(Steps.attachFiles({ workItem: item, files: ["a.csv"] }))
      assert.instanceOf(error, UploadSourceError)
      assert.strictEqual(error._tag === "UploadSourceError" ? error.name : "", "a.csv")
    })
  )

  it.effect("nothing to attach or to settle needs no call", () =>
    Effect.gen(function* () {
      const flow = Flow.make("test", {
        version: 1,
        input: Schema.Void,
        success: Schema.Array(Schema.Unknown),
        error: anyError,
        idempotencyKey: () => "one",
        run: () =>
          Flow.all("nothing", [
            Steps.attachFiles({ workItem: item, files: [] }),
            Effect.as(Steps.markDone({ workItems: [] }), "done"),
            Effect.as(Steps.retryFailed({ workItems: [] }), "retried")
          ])
      })
      assert.deepStrictEqual(yield* Flow.run(flow, undefined), [[], "done", "retried"])
    })
  )
})
