/** `signalbox flows fork --sandbox`: a failure of a program, debugged on one's desk. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { createServer } from "node:http"
import { join } from "node:path"
import { payment } from "../support/checked/deployed.ts"
import { away } from "../support/checked/room.ts"
import { signalbox } from "../support/Cli.ts"

const token = "a token of some length"

const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Layer.merge(Flow.layer(payment), Flow.layer(away))),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory))
)

const file = (name: string) => join(import.meta.dirname, "..", "support", "checked", `${name}.ts`)

const sandbox = Effect.fnUntraced(function* (id: string, ...args: ReadonlyArray<string>) {
  const { address } = yield* HttpServer.HttpServer
  const env = { SIGNALBOX_FLOWS_URL: HttpServer.formatAddress(address), SIGNALBOX_FLOWS_TOKEN: token }
  // In another folder it is the command as it is published, in a process of its own.
  return yield* Effect.promise(() => signalbox(["flows", "fork", id, ...args], { env, cwd: import.meta.dirname }))
})

const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) =>
    holds ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(condition))
  )

describe("signalbox flows fork --sandbox", () => {
  it.live("runs the step that failed again, with a room and a graph of its own, and leaves the program alone", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(away, "boxes")
      yield* until(Effect.map(FlowExecutions.get(id), ({ state }) => state === "failed"))
      const { status, stderr, stdout } = yield* sandbox(id, "--from", "look", "--sandbox", file("desk"))
      assert.strictEqual(status, 0, stderr)
      const lines = stdout.trimEnd().split("\n")
      assert.match(lines[0] ?? "", /Z {2}look {2}started$/)
      assert.match(lines[1] ?? "", /Z {2}look {2}succeeded$/)
      assert.match(lines[2] ?? "", /Z {2}listFolder {2}started$/)
      assert.match(lines[4] ?? "", /^completed/)
      assert.match(lines[5] ?? "", /^result "boxes counted, default, \d+ files"$/)
      assert.lengthOf((yield* FlowExecutions.list()).executions, 1)
    }).pipe(Effect.provide(program))
  )

  it.live("ends where the fork waits for a person, and says for what", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 5)
      yield* until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length === 1))
      const { status, stderr, stdout } = yield* sandbox(id, "--from", "check", "--sandbox", file("added"), "--json")
      assert.strictEqual(status, 0, stderr)
      const last: unknown = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")
      assert.deepInclude(last, { state: "waiting", result: null, remedy: null })
      assert.match(JSON.stringify(last), /approval/)
    }).pipe(Effect.provide(program))
  )

  it.live("says what the file does not have", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 6)
      yield* until(Effect.map(FlowExecutions.inspect(id), ({ now }) => now.length === 1))
      const missing = yield* sandbox(id, "--from", "check", "--sandbox", file("desk"))
      assert.strictEqual(missing.status, 1)
      assert.match(missing.stderr, /desk\.ts exports no version 3 of payment: export the flow of the execution/)
      const unknown = yield* sandbox(id, "--from", "pay", "--sandbox", file("deployed"))
      assert.match(unknown.stderr, /from: the execution \S+ has recorded no step pay/)
    }).pipe(Effect.provide(program))
  )
})
