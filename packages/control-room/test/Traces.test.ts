/** A run and its leases belong to the trace of what has started the run. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Schedules from "@signalbox/api/Schedules"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import * as HttpClient from "effect/http/HttpClient"
import { newProcess } from "./support/Hooks.ts"
import { layer, linkWorker, Service } from "./support/Service.ts"

const trace = "0af7651916cd43dd8448eb211c80319c"
const span = "b7ad6b7169203331"

/** The `traceparent` of the lease of a run that was started by a request with this one. */
const leasedAfter = Effect.fnUntraced(
  function* (traceparent: string | null) {
    const { raw } = yield* Service
    const { process, tasks } = yield* newProcess()
    const headers = traceparent === null ? {} : { traceparent }
    const { status, text } = yield* raw("POST", `processes/${process}/process-runs`, { json: {}, headers })
    assert.strictEqual(status, 200, text)
    const worker = yield* linkWorker(tasks)
    return (yield* worker.lease).traceparent ?? null
  },
  Effect.provideService(HttpClient.TracerPropagationEnabled, false)
)

/** Collects spans, as an exporter does. */
const collecting = Layer.sync(Tracer.Tracer, () => Tracer.make({ span: (options) => new Tracer.NativeSpan(options) }))

const options = { excludeTestServices: true, timeout: "4 minutes" } as const

withLayer(Layer.provideMerge(layer, collecting), options)("a run, in a room that collects spans,", (it) => {
  it.effect("is in the trace of its request, below the span of the room", () =>
    Effect.gen(function* () {
      const leased = yield* leasedAfter(`00-${trace}-${span}-01`)
      assert.match(leased ?? "", new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
      assert.notInclude(leased ?? "", span)
    })
  )

  it.effect("is in a new trace when its request has none, or one that cannot be read", () =>
    Effect.gen(function* () {
      for (const given of [null, "nonsense", `00-${"0".repeat(32)}-${span}-01`]) {
        const leased = yield* leasedAfter(given)
        assert.match(leased ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
        assert.notInclude(leased ?? "", "0".repeat(32))
      }
    })
  )

  it.effect("is in none when its request is not sampled", () =>
    Effect.gen(function* () {
      assert.isNull(yield* leasedAfter(`00-${trace}-${span}-00`))
    })
  )

  it.effect("that a schedule has started is in a trace of its own", () =>
    Effect.gen(function* () {
      const { scheduleIn } = yield* Service
      const all = yield* Effect.forEach(["a", "b"], () => newProcess())
      for (const { name, process } of all) yield* Schedules.create({ name, process: { id: process }, every: "1 hour" })
      yield* scheduleIn(3_700_000)
      const traces: Array<string> = []
      for (const { tasks } of all) {
        const [, id = ""] = ((yield* (yield* linkWorker(tasks)).lease).traceparent ?? "").split("-")
        assert.match(id, /^[0-9a-f]{32}$/)
        traces.push(id)
      }
      assert.notStrictEqual(traces[0], traces[1])
    })
  )
})

withLayer(layer, options)("a run, in a room that collects no spans,", (it) => {
  it.effect("is in no trace, whatever its request says", () =>
    Effect.gen(function* () {
      assert.isNull(yield* leasedAfter(`00-${trace}-${span}-01`))
    })
  )
})
