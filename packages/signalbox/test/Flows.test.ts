/** `signalbox flows`, in processes of its own, against a program with durable flows. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as FlowExecutions from "@signalbox/flows/FlowExecutions"
import * as FlowManagement from "@signalbox/flows/FlowManagement"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import { createServer } from "node:http"
import { signalbox, succeed } from "./support/Cli.ts"

const token = "a token of some length"

class TooMuch extends Schema.TaggedError<TooMuch>()("TooMuch", { message: Schema.String }) {}

let limit = 100
const check = Flow.step("check", {
  input: Schema.Struct({ amount: Schema.Finite }),
  success: Schema.Struct({ amount: Schema.Finite }),
  error: TooMuch,
  run: (input) =>
    input.amount > limit ? Effect.fail(new TooMuch({ message: `more than ${limit}` })) : Effect.succeed(input)
})

const payment = Flow.make("payment", {
  version: 3,
  input: Schema.Finite,
  success: Schema.String,
  error: TooMuch,
  idempotencyKey: String,
  run: Effect.fnUntraced(function* (amount) {
    yield* check({ amount })
    const { approved, by } = yield* Flow.awaitApproval("approval")
    const day = yield* Flow.awaitSignal("day", Schema.String)
    return `${approved ? "paid" : "refused"} by ${by} on ${day}`
  })
})

const program = HttpRouter.serve(FlowManagement.layerRoutes({ token: Redacted.make(token) }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Flow.layer(payment)),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory))
)

const environment = Effect.map(HttpServer.HttpServer, ({ address }) => ({
  SIGNALBOX_FLOWS_URL: HttpServer.formatAddress(address),
  SIGNALBOX_FLOWS_TOKEN: token
}))

/** Runs a command that must exit with 0, against the program. */
const flows = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const env = yield* environment
  return yield* Effect.promise(() => succeed(["flows", ...args], { env }))
})

const failing = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const env = yield* environment
  const ended = yield* Effect.promise(() => signalbox(["flows", ...args], { env }))
  assert.notStrictEqual(ended.status, 0, ended.stdout)
  return ended
})

const stateOf = (id: string) => Effect.map(FlowExecutions.get(id), ({ state }) => state)
const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (holds) =>
    holds ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(condition))
  )
const awaits = (id: string, path: string) =>
  until(Effect.map(FlowExecutions.inspect(id), ({ waits }) => waits.some((wait) => wait.path === path)))
const isIn = (id: string, state: FlowExecutions.ExecutionState) =>
  until(Effect.map(stateOf(id), (now) => now === state))

const decodeListed = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ id: Schema.String, state: Schema.String, started_at: Schema.String }))
)

describe("signalbox flows", () => {
  it.live("follows a payment from a failure to its end", () =>
    Effect.gen(function* () {
      const id = yield* Flow.submit(payment, 500)
      yield* isIn(id, "failed")

      const [listed = ""] = (yield* flows("list", "--state", "failed", "--flow", "payment", "--json")).lines
      assert.propertyVal(decodeListed(listed), "id", id)
      assert.match((yield* flows("list")).stdout, new RegExp(`^${id} +failed +payment@3 .*more than 100`))
      assert.strictEqual((yield* flows("list", "--flow-version", "4")).stdout, "")

      const failed = (yield* flows("show", id)).stdout
      assert.match(failed, /^step +kind +attempt +state +started +took +failure$/m)
      assert.match(failed, /^check +step +1 +failed .*more than 100$/m)
      assert.match((yield* flows("show", id, "--step", "check")).stdout, /"input":\{"amount":500\}/)
      assert.match((yield* flows("show", id, "--mermaid")).stdout, /^flowchart TD\n/)

      limit = 1_000
      const next = (yield* flows("resume", id, "--json")).stdout
      const again = decodeId(next).id
      yield* awaits(again, "approval")
      assert.match((yield* flows("show", again)).stdout, /^waits for a signal at approval$/m)

      const undecided = yield* failing("signal", again, "approval")
      assert.strictEqual(undecided.status, 2)
      assert.match(undecided.stderr, /expected one of --approve, --reject and --value/)
      assert.match((yield* failing("signal", again, "approval", "--approve")).stderr, /--by: expected who decides/)
      const typo = yield* failing("signal", again, "aproval", "--reject", "--by", "ann")
      assert.match(typo.stderr, /awaits no signal aproval; it awaits approval/)

      yield* flows("signal", again, "approval", "--approve", "--by", "ann", "--comment", "as agreed")
      yield* awaits(again, "day")
      yield* flows("signal", again, "day", "--value", '"monday"')
      yield* isIn(again, "completed")
      assert.match((yield* flows("show", again)).stdout, /^result "paid by ann on monday"$/m)

      const third = decodeId((yield* flows("retry", again, "--from", "approval", "--json")).stdout).id
      yield* awaits(third, "approval")
      assert.match((yield* failing("retry", third)).stderr, /is under way: cancel it first/)
      yield* flows("cancel", third)
      yield* isIn(third, "canceled")
    }).pipe(Effect.provide(program))
  )

  it.live("says what is missing or wrong, without the token", () =>
    Effect.gen(function* () {
      const { SIGNALBOX_FLOWS_URL: url } = yield* environment
      const run = (args: ReadonlyArray<string>, env: Record<string, string>) =>
        Effect.promise(() => signalbox(["flows", ...args], { env }))
      const noUrl = yield* run(["list"], { SIGNALBOX_FLOWS_TOKEN: token })
      assert.strictEqual(noUrl.status, 2)
      assert.match(noUrl.stderr, /--url: expected the address .* or set SIGNALBOX_FLOWS_URL/)
      assert.match((yield* run(["list", "--url", url], {})).stderr, /set SIGNALBOX_FLOWS_TOKEN/)
      const wrong = yield* run(["list", "--url", url], { SIGNALBOX_FLOWS_TOKEN: "wrong-secret" })
      assert.strictEqual(wrong.status, 1)
      assert.match(wrong.stderr, /Expected the token of this program/)
      assert.notInclude(wrong.stderr, "wrong-secret")
      assert.match((yield* failing("show", "nobody")).stderr, /there is no execution nobody/)
    }).pipe(Effect.provide(program))
  )
})

const decodeId = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ id: Schema.String })))
