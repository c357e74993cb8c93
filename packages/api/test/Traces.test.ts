/** Which requests carry the trace of the program, against a server on a socket. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { WorkItemId } from "../src/contract/Ids.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { make, settle } from "./support/FaultServer.ts"
import { connect, good } from "./support/Retries.ts"

/** The trace of the request of a call within a span. */
const traceOf = Effect.fnUntraced(function* (span?: Tracer.AnySpan) {
  const server = yield* make
  server.script([good])
  const call = WorkItems.get(WorkItemId.make("item"))
  const within = span === undefined ? call : Effect.withParentSpan(call, span)
  yield* settle(server, Effect.provide(within, connect(server)), 500)
  return String(server.received()[0]?.headers["traceparent"]).split("-")[1]
})

const traceId = "0af7651916cd43dd8448eb211c80319c"

describe("traces", () => {
  it.effect("go on where somebody else has begun them", () =>
    Effect.gen(function* () {
      const span = Tracer.externalSpan({ traceId, spanId: "b7ad6b7169203331", sampled: true })
      assert.strictEqual(yield* traceOf(span), traceId)
    })
  )

  it.effect("go on where spans are exported", () =>
    Effect.gen(function* () {
      const tracer = Tracer.make({ span: (options) => new Tracer.NativeSpan(options) })
      assert.isString(yield* Effect.provideService(traceOf(), Tracer.Tracer, tracer))
    })
  )

  it.effect("are not sent where nobody sees them", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* traceOf())
    })
  )
})
