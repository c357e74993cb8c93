/** Webhooks of a test, and what their receivers got. */
import { assert } from "@effect/vitest"
import { WebhookId } from "@signalbox/api/contract/Ids"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { type Received, receiver, type Receiver } from "./Receiver.ts"
import { linkWorker } from "./Service.ts"

export const unknownId = "01900000-0000-7000-8000-000000000000"
export const everything = ["process_run.started", "process_run.completed", "process_run.unresolved"] as const
export const seconds = 1000
export const minutes = 60 * seconds
export const hours = 60 * minutes
export const days = 24 * hours

export const newProcess = Effect.fnUntraced(function* (step: object = {}) {
  const name = `webhooks ${crypto.randomUUID()}`
  const process = yield* Processes.create({ name, steps: [{ name: "only", task: { name }, ...step }] })
  return { process: process.id, name, tasks: [name] }
})

export const started = Effect.fnUntraced(function* (...args: Parameters<typeof ProcessRuns.start>) {
  const run = yield* ProcessRuns.start(...args)
  return run.started ? run.id : yield* Effect.die(new Error("not started"))
})

/** A run whose only item is done, or has failed. */
export const ended = Effect.fnUntraced(function* (
  { process, tasks }: Effect.Success<ReturnType<typeof newProcess>>,
  failed = false,
  options: Parameters<typeof ProcessRuns.start>[2] = {}
) {
  const worker = yield* linkWorker(tasks)
  const run = yield* started(process, undefined, options)
  const { lease } = yield* worker.take
  yield* worker.protocol.finish(lease, failed ? { code: "ROBOT_FAILURE", message: "exit 1" } : null)
  return run
})

/** A webhook of one process at a separate path. */
export const hookTo = Effect.fnUntraced(function* (
  target: Receiver,
  process: Effect.Success<ReturnType<typeof newProcess>> | null,
  events: ReadonlyArray<(typeof everything)[number]> = ["process_run.completed", "process_run.unresolved"]
) {
  const path = `/${crypto.randomUUID()}`
  const webhook = yield* Webhooks.create({
    endpoint: target.origin + path,
    events,
    ...(process === null ? {} : { process: process.process })
  })
  return { path, webhook, secret: webhook.secret }
})

export const read = (received: Received, secret: string | Redacted.Redacted | ReadonlyArray<Redacted.Redacted>) =>
  Webhooks.receive({ ...received, secret, scheme: "standard", toleranceSeconds: 30 * 24 * 3600 })

/** Checks both signatures under the secret; returns the event. */
export const genuine = Effect.fnUntraced(function* (
  received: Received | undefined,
  secret: string | Redacted.Redacted
) {
  if (received === undefined) return assert.fail("nothing was received")
  assert.strictEqual(received.method, "POST")
  assert.strictEqual(received.headers["content-type"], "application/json")
  assert.match(String(received.headers["x-rc-signature"]), /^[0-9a-f]{64}$/)
  yield* Webhooks.verify({ ...received, secret, scheme: "rc" })
  const event = yield* read(received, secret)
  assert.strictEqual(received.headers["webhook-id"], event.id)
  return event
})

export const deliveriesOf = (webhook: WebhookId) => Stream.runCollect(Webhooks.deliveries(webhook))

export const lastOf = Effect.fnUntraced(function* (webhook: WebhookId) {
  const [last] = yield* deliveriesOf(webhook)
  return last ?? assert.fail("no delivery")
})

/** The next poll, after a short pause, so that polling does not keep the service busy. */
export const soon = { while: (error: unknown) => error === "not yet", schedule: Schedule.spaced("20 millis") }

/** Waits until no delivery of the webhook is in progress or due. */
export const settled = (webhook: WebhookId, attempts: number) =>
  Effect.gen(function* () {
    const delivery = yield* lastOf(webhook)
    return delivery.attempts >= attempts ? delivery : yield* Effect.fail("not yet")
  }).pipe(Effect.retry(soon))

export const withReceiver = <A, E, R>(test: (target: Receiver) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(receiver, test))
