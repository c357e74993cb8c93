/** A program with durable flows and their management, on its own port. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createServer } from "node:http"
import * as Flow from "../../src/Flow.ts"
import { FlowEngine } from "../../src/FlowEngine.ts"
import * as FlowManagement from "../../src/FlowManagement.ts"

export const token = "a token of some length"
/** A token that may start the flow `orders` and read its executions. */
export const limitedToken = "a token for a web application"

/** What steps did, in their order. */
export class Diary extends Context.Service<Diary, Ref.Ref<ReadonlyArray<string>>>()("test/Diary") {
  static readonly layer = Layer.effect(Diary, Ref.make<ReadonlyArray<string>>([]))
  static readonly read = Effect.flatMap(Diary, (diary) => Ref.get(diary))
}

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

const note = Flow.step("note", {
  input: Schema.String,
  success: Schema.Finite,
  error: Schema.Never,
  run: (text) =>
    Effect.flatMap(Diary, (diary) =>
      Effect.as(
        Ref.update(diary, (lines) => [...lines, text]),
        text.length
      )
    )
})

const approval = Flow.approval("approval")
const mail = Flow.inbox("mail", Schema.Struct({ text: Schema.String }))

export const orders = Flow.make("orders", {
  version: 1,
  input: Schema.String,
  success: Schema.String,
  error: Refused,
  idempotencyKey: (key) => key,
  signals: [approval, mail],
  tags: (key) => [`tag ${key}`],
  run: Effect.fnUntraced(function* (key) {
    yield* Flow.compensate(note(key), () => note(`${key} undone`))
    const { by } = yield* approval.receive()
    if (by === "nobody") return yield* new Refused({ why: "nobody decided" })
    return by
  })
})

/** The old version of `orders`, which the program does not have any more. */
export const oldOrders = Flow.make("orders", {
  version: 0,
  input: Schema.String,
  success: Schema.String,
  error: Schema.Never,
  idempotencyKey: (key) => key,
  run: () => Effect.as(Flow.sleep("nap", "1 day"), "old")
})

const routes = Layer.mergeAll(
  FlowManagement.layerRoutes({
    token: Redacted.make(token),
    tokens: [{ token: Redacted.make(limitedToken), flows: ["orders"], verbs: ["start", "read"] }]
  }),
  HttpRouter.add("GET", "/", HttpServerResponse.text("the program's own"))
)

/** Listens on a free port. */
export const layer = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(Flow.layer(orders)),
  Layer.provideMerge(Layer.fresh(FlowEngine.layerMemory)),
  Layer.provideMerge(Layer.fresh(Diary.layer))
)

export const address = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))
