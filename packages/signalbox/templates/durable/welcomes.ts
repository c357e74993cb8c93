/** What the endpoints do, without a word of the server: from what a caller sent to a status and a body. */
import { sendOnce } from "@signalbox/api/Policy"
import * as Flow from "@signalbox/flows/Flow"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Process from "signalbox/Process"
import { approval, welcome } from "./flow.ts"
import { greetings } from "./process.ts"

export interface Answer {
  readonly status: number
  readonly body: object
}

/** The status of each error, by its tag: an error without a line here does not compile. */
const statuses = {
  // What the caller sent.
  InvalidInput: 400,
  InvalidSignal: 400,
  ExecutionNotFound: 404,
  ExecutionConflict: 409,
  SignalConflict: 409,
  FlowCancelled: 409,
  DeadlineExceeded: 504,
  FlowExpired: 410,
  // Business: the outcome of the flow.
  CustomerUnknown: 422,
  WelcomeDeclined: 422,
  // Services that are away, or that do not know this program.
  ControlRoomError: 503,
  NotDeployed: 503,
  FlowNotRegistered: 503,
  FlowDraining: 503,
  CustomersFailed: 502,
  StepTimeout: 504,
  // For operators: `signalbox flows show` says more.
  FlowHalted: 500,
  InvalidRequest: 500,
  NotFound: 500,
  Conflict: 500,
  NotStarted: 500,
  UploadSourceError: 500,
  InvalidPayload: 500,
  InvalidOutput: 500,
  RunUnresolved: 500
}

interface Failure {
  readonly _tag: keyof typeof statuses
  readonly message: string
  readonly path?: string
}

/** Messages of 5xx are for operators; callers get the tag. */
const refused = (error: Failure): Answer => {
  const { _tag: code, message, path } = error
  const status = statuses[code]
  if (status >= 500) return { status, body: { code } }
  return { status, body: { code, message, ...(path === undefined ? {} : { path }) } }
}

const answered = <R>(effect: Effect.Effect<Answer, Failure, R>) =>
  Effect.catch(effect, (error) => Effect.succeed(refused(error)))

/** How long a caller waits for an outcome, before it gets 202 and asks again later. */
const patience = "3 seconds"

const outcome = Effect.fnUntraced(function* (customer: string) {
  const { result } = yield* Flow.handle(welcome, customer)
  const ended = yield* Effect.timeoutOption(result, patience)
  return Option.match(ended, {
    onNone: (): Answer => ({ status: 202, body: { customer, state: "running" } }),
    onSome: (welcomed): Answer => ({ status: 200, body: { customer, state: "completed", ...welcomed } })
  })
})

/** `POST /welcomes`: starts the flow, or joins the one of this customer. While the control room is away, nothing is started. */
export const start = Effect.fn("welcomes.start")(function* (body: unknown) {
  // `submit` checks what was sent, and names the field that does not fit.
  const input = body as typeof welcome.input.Type
  yield* sendOnce(Process.id(greetings))
  yield* Flow.submit(welcome, input)
  return yield* outcome(input.customer)
}, answered)

/** `GET /welcomes/:customer`: the outcome, if there is one. */
export const find = Effect.fn("welcomes.find")(outcome, answered)

/** `POST /welcomes/:customer/approval`: the decision of a person. Your sign-in belongs before it. */
export const decide = Effect.fn("welcomes.decide")(function* (customer: string, body: unknown) {
  const handle = yield* Flow.handle(welcome, customer)
  // `signal` checks what was sent.
  yield* handle.signal(approval, body as Flow.Approval)
  return yield* outcome(customer)
}, answered)
