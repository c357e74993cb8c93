/** Tests in memory and in virtual time: pauses between attempts, and the days in which a person may decide, take no time. */
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Flow from "@signalbox/flows/Flow"
import { FlowEngine } from "@signalbox/flows/FlowEngine"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as TestClock from "effect/testing/TestClock"
import * as Process from "signalbox/Process"
import * as Testing from "signalbox/Testing"
import { expect, it } from "vitest"
import { welcome } from "./flow.ts"
import { greetings } from "./process.ts"
import { tasks } from "./tasks.ts"
import * as Welcomes from "./welcomes.ts"

/** A service that gives these responses one after another. */
const service = (responses: ReadonlyArray<Response>) => {
  const left = [...responses]
  return Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) =>
      Effect.sync(() => HttpClientResponse.fromWeb(request, left.shift() ?? new Response(null, { status: 500 })))
    )
  )
}

const busy = () => new Response(null, { status: 503, headers: { "retry-after": "600" } })
const ada = () => Response.json({ name: "Ada" })
const unknown = () => new Response(null, { status: 404 })

/** Runs a test with the flow, a control room that has the process, and a service of customers. */
const run = <A>(
  test: Effect.Effect<A, unknown, FlowEngine | ControlRoom | Testing.Testing>,
  responses: ReadonlyArray<Response>
) =>
  Effect.andThen(Process.deploy(greetings), test).pipe(
    Effect.provide(
      Flow.layer(welcome).pipe(
        Layer.provide(service(responses)),
        Layer.provideMerge(Layer.merge(Layer.fresh(FlowEngine.layerMemory), Testing.layer({ tasks }))),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ CUSTOMERS_URL: "http://customers.test" }))),
        Layer.provideMerge(TestClock.layer())
      )
    ),
    Effect.runPromise
  )

const approve = Welcomes.decide("ada", { approved: true, by: "ann", comment: null })

it("greets a customer once a person agrees, and waits as long as a busy service asks", async () => {
  const answers = Effect.gen(function* () {
    const started = yield* Testing.elapse(Welcomes.start({ customer: "ada" }))
    yield* Testing.advance("30 minutes")
    return [started, yield* Testing.elapse(approve)]
  })
  expect(await run(answers, [busy(), busy(), ada()])).toEqual([
    { status: 202, body: { customer: "ada", state: "running" } },
    { status: 200, body: { customer: "ada", state: "completed", approvedBy: "ann", greetings: ["Hello, Ada"] } }
  ])
})

it("declines for a person who does not decide within two days", async () => {
  const outcome = Effect.gen(function* () {
    yield* Testing.elapse(Welcomes.start({ customer: "ada" }))
    yield* Testing.advance("2 days")
    return yield* Testing.elapse(Welcomes.find("ada"))
  })
  expect(await run(outcome, [ada()])).toEqual({
    status: 422,
    body: { code: "WelcomeDeclined", message: "the welcome was declined by the deadline" }
  })
})

it("answers 400 with the path for what does not fit, and 422 for a customer that does not exist", async () => {
  const answers = Effect.all([
    Welcomes.start({ customer: "" }),
    Testing.elapse(Welcomes.start({ customer: "nobody" })),
    Welcomes.decide("nobody", { approved: "yes" }),
    Welcomes.find("another")
  ])
  expect(await run(answers, [unknown()])).toMatchObject([
    { status: 400, body: { code: "InvalidInput", path: "customer" } },
    { status: 422, body: { code: "CustomerUnknown", message: "there is no customer nobody" } },
    { status: 400, body: { code: "InvalidSignal" } },
    { status: 404, body: { code: "ExecutionNotFound" } }
  ])
})

it("answers 503 while the control room is away, and starts nothing", async () => {
  const away = ControlRoom.layerHttpClient({
    baseUrl: "http://room.test",
    workspaceId: WorkspaceId.make("0199a1b2-0000-7000-8000-000000000000"),
    apiKey: Redacted.make("key")
  }).pipe(Layer.provide(service([new Response(null, { status: 503 })])))
  const answers = Effect.all([Effect.provide(Welcomes.start({ customer: "ada" }), away), Welcomes.find("ada")])
  expect(await run(answers, [])).toMatchObject([
    { status: 503, body: { code: "ControlRoomError" } },
    { status: 404, body: { code: "ExecutionNotFound" } }
  ])
})
