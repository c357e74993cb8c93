/**
 * No secrets in errors, logs or spans: a program fails in every possible way, and all its traces are searched for the
 * key, the payload, the signature of an address and the content of a file.
 */
import { assert, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { inspect } from "node:util"
import { ProcessId, WorkItemId, WorkspaceId } from "../src/contract/Ids.ts"
import { ControlRoom } from "../src/ControlRoom.ts"
import * as Files from "../src/Files.ts"
import { defaultPolicy, RetryPolicy } from "../src/Policy.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { answer, type Fault, make } from "./support/FaultServer.ts"

const secrets = ["KEYSECRET", "PAYLOADSECRET", "SIGNATURESECRET", "ANSWERSECRET", "FILESECRET"]

const faults: ReadonlyArray<Fault> = [
  ...[400, 401, 403, 404, 409, 413, 429, 500, 503].map((status) => answer(status)),
  answer(500, "<html>ANSWERSECRET</html>"),
  answer(200, "ANSWERSECRET"),
  answer(200, { id: "x", payload: "ANSWERSECRET", state: 5 }),
  { _tag: "Reset" },
  { _tag: "Half", body: '{"payload":"ANSWERSECRET' }
]

it.live("a key, a payload, a signature or a response appears nowhere", () =>
  Effect.gen(function* () {
    const server = yield* make
    const left: Array<string> = []
    const keep = (value: unknown) => {
      left.push(inspect(value, { depth: 20, showHidden: true }), String(value), JSON.stringify(value) ?? "")
    }
    const logger = Logger.make((options) => {
      left.push(Logger.formatJson.log(options), inspect(options.message, { depth: 20 }))
    })
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        keep(options.name)
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          keep(Object.fromEntries(span.attributes))
          keep(span.events)
          if (exit._tag === "Failure") keep(Cause.pretty(exit.cause))
          end(time, exit)
        }
        return span
      }
    })
    const calls = [
      WorkItems.create({ process: ProcessId.make("p"), payload: { token: "PAYLOADSECRET" } }),
      WorkItems.get(WorkItemId.make("item")),
      WorkItems.attachFile(WorkItemId.make("item"), { name: "f.txt", bytes: new TextEncoder().encode("FILESECRET") }),
      Stream.runDrain(Files.download({ download: { url: `${server.origin}/files/1?signature=SIGNATURESECRET` } }))
    ]
    const connection = Layer.provide(
      ControlRoom.layerHttpClient({
        baseUrl: server.origin,
        apiKey: Redacted.make("KEYSECRET"),
        workspaceId: WorkspaceId.make("w")
      }),
      NodeHttpClient.layerUndici
    )
    const form = { url: `${server.origin}/up`, form_data: { policy: "x", signature: "SIGNATURESECRET" } }
    for (const fault of faults) {
      for (const first of [undefined, answer(200, { upload: form })]) {
        for (const call of calls) {
          server.script(first === undefined ? [fault] : [first, fault])
          const exit = yield* Effect.exit(call).pipe(
            Effect.tap((result) => Effect.logError("a call ended", result)),
            Effect.provideService(RetryPolicy, { ...defaultPolicy, attempts: 2, baseMillis: 1 }),
            Effect.provide([connection, Logger.layer([logger])]),
            Effect.provideService(References.MinimumLogLevel, "All"),
            Effect.provideService(Tracer.Tracer, tracer)
          )
          keep(exit)
          if (exit._tag === "Failure") keep(Cause.squash(exit.cause))
        }
      }
    }
    // Some traces must exist, or the search proves nothing.
    assert.isAbove(left.length, 1000)
    for (const proof of ["told to fail", "a call ended", "url.full", "WorkItems.create"]) {
      assert.isTrue(
        left.some((text) => text.includes(proof)),
        proof
      )
    }
    for (const secret of secrets) {
      const found = left.find((text) => text.includes(secret))
      assert.isUndefined(found, `${secret} is in ${found?.slice(0, 2000)}`)
    }
  }).pipe(Effect.scoped)
)
