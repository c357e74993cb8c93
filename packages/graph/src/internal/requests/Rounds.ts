/**
 * The parts of a batch, sent in rounds of at most twenty until each has its outcome.
 */
import { mayRepeat } from "@signalbox/transport/Attempts"
import { pauseAfter } from "@signalbox/transport/Policy"
import { retryAfterMillis } from "@signalbox/transport/RetryAfter"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Graph } from "../../Graph.ts"
import {
  GraphError,
  NotSent,
  OutcomeUnknown,
  type Reason,
  type RequestInfo,
  transient,
  Unexpected
} from "../../GraphError.ts"
import { path, queryString } from "../../Path.ts"
import { GraphPolicy } from "../../Policy.ts"
import { reasonOf } from "./Answer.ts"
import { json } from "./Call.ts"
import { acted, mostParts } from "./Delivery.ts"
import { info, type PartAnswer, type Pending } from "./Parts.ts"
import { isRepeatable } from "./Transport.ts"

/** What the service answers to a batch. */
export const Answers = Schema.Struct({
  responses: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      status: Schema.Finite,
      headers: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.String))),
      body: Schema.optionalKey(Schema.Unknown)
    })
  )
})

const post = json(Answers)

/** After so many broken requests in a row the rest is not sent: each one more would leave twenty writes unknown. */
const mostBroken = 2

const failure = (part: Pending, reason: Reason, whole: Partial<RequestInfo> = {}) =>
  Result.fail(new GraphError({ reason, request: { ...info(part, null), ...whole } }))

const lower = (headers: Readonly<Record<string, string>> | null | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))

const toWire = (part: Pending, together: ReadonlySet<string>) => {
  const dependsOn = (part.call.dependsOn ?? []).filter((id) => together.has(id))
  return {
    id: part.id,
    method: part.method,
    url: part.path.encoded + queryString(part.call.query ?? {}),
    body: part.call.json,
    headers: {
      "Content-Type": part.call.json === undefined ? undefined : "application/json",
      ...part.call.headers
    },
    dependsOn: dependsOn.length === 0 ? undefined : dependsOn
  }
}

/** The result of a part: a response below 400, or why there is none. */
type Outcome = Result.Result<PartAnswer, GraphError>

const dependency = (part: Pending) =>
  failure(
    part,
    new NotSent({ codes: [], message: "a part that this one depends on has failed; this one was not tried" }),
    { status: 424 }
  )

const described = ({ reason }: GraphError): string => `${reason._tag}: ${reason.message}`

/** What a request that failed as a whole means for the parts in it. */
type Fate = "broken" | "notSent" | "refused"

const fateOf = (error: GraphError): Fate => {
  const { reason, request } = error
  if (reason._tag === "Malformed") return "broken"
  const again = transient(error)
  if (again === null) return "refused"
  if (again.acted === "maybe") return "broken"
  return request.status === null ? "notSent" : "refused"
}

/** Of a refusal, what the next request may do better: the parts of this one were what is wrong. */
const ofItsParts = ({ reason }: GraphError): boolean => reason._tag === "InvalidRequest"

/** Sends all parts, those that are throttled or failed for a moment again, until each has its outcome. */
export const deliverAll = Effect.fnUntraced(function* (
  parts: ReadonlyArray<Pending>
): Effect.fn.Return<ReadonlyMap<Pending, Outcome>, never, Graph> {
  const policy = yield* GraphPolicy
  const outcomes = new Map<Pending, Outcome>()
  const worked = new Map<string, boolean>()
  const waiting = new Set(parts)
  const linked = parts.some(({ call }) => call.dependsOn !== undefined)
  let broken = 0
  const settle = (part: Pending, outcome: Outcome) => {
    outcomes.set(part, outcome)
    worked.set(part.id, Result.isSuccess(outcome))
    waiting.delete(part)
  }

  /** Parts that may go now, in their order, with the parts that they depend on before them. */
  const choose = (now: number): ReadonlyArray<Pending> => {
    const chosen = new Map<string, Pending>()
    for (const part of waiting) {
      if (chosen.size >= mostParts) break
      const free = (part.call.dependsOn ?? []).every((id) => worked.has(id) || chosen.has(id))
      if (part.notBefore <= now && free) chosen.set(part.id, part)
    }
    return [...chosen.values()]
  }

  const take = Effect.fnUntraced(function* (part: Pending, answer: PartAnswer) {
    part.attempts++
    if (answer.status < 400) return settle(part, Result.succeed(answer))
    const now = yield* Clock.currentTimeMillis
    const hint = retryAfterMillis(answer.headers, now)
    const again =
      part.attempts < policy.attempts &&
      (hint ?? 0) <= policy.maxRetryAfterMillis &&
      mayRepeat(acted(answer.status, hint), isRepeatable(part.method, part.call.headers ?? {}))
    if (again) {
      part.notBefore = now + (hint ?? (yield* pauseAfter(policy, part.attempts)))
      return
    }
    const reason = reasonOf(answer.status, answer.headers, answer.body, now)
    settle(part, Result.fail(new GraphError({ reason, request: info(part, answer) })))
  })

  /** No answer came for a part that was sent: a read is sent again by the policy, of a write nobody knows. */
  const lose = Effect.fnUntraced(function* (part: Pending, why: Reason, attempts: number) {
    part.attempts += attempts
    if (part.method !== "GET" && part.method !== "HEAD") {
      const message = `sent, and no answer came (${why._tag}: ${why.message}): the service may have acted; look whether it did before you send this again`
      return settle(part, failure(part, new OutcomeUnknown({ codes: [], message })))
    }
    if (part.attempts >= policy.attempts) return settle(part, failure(part, why))
    part.notBefore = (yield* Clock.currentTimeMillis) + (yield* pauseAfter(policy, part.attempts))
  })

  const leave = (part: Pending, error: GraphError) => {
    const message = `not sent, since a request of this batch failed (${described(error)}); send it again`
    settle(part, failure(part, new NotSent({ codes: [], message })))
  }

  /** A request failed as a whole: decides about its parts, and whether the rest is sent. */
  const failed = Effect.fnUntraced(function* (round: ReadonlyArray<Pending>, error: GraphError) {
    const { request } = error
    const fate = fateOf(error)
    const { clientRequestId, requestId, status } = request
    for (const part of round) {
      if (fate === "broken") yield* lose(part, error.reason, Math.max(1, request.attempts))
      else if (fate === "notSent") leave(part, error)
      else {
        part.attempts += request.attempts
        settle(part, failure(part, error.reason, { clientRequestId, requestId, status }))
      }
    }
    if (fate === "broken" ? ++broken < mostBroken : fate === "refused" && ofItsParts(error)) {
      return yield* Effect.sleep(yield* pauseAfter(policy, Math.max(1, broken)))
    }
    for (const part of waiting) leave(part, error)
  })

  const skipUnmet = () => {
    for (const part of waiting) {
      if (part.call.dependsOn?.some((id) => worked.get(id) === false) === true) settle(part, dependency(part))
    }
  }

  while (waiting.size > 0) {
    if (linked) skipUnmet()
    const now = yield* Clock.currentTimeMillis
    const round = choose(now)
    if (round.length === 0) {
      let next = Number.POSITIVE_INFINITY
      for (const { notBefore } of waiting) if (notBefore > now) next = Math.min(next, notBefore)
      if (waiting.size > 0) yield* Effect.sleep(Number.isFinite(next) ? next - now : 1)
      continue
    }
    const together = new Set(round.map(({ id }) => id))
    const sent = yield* Effect.result(
      post({
        method: "POST",
        path: path`/$batch`,
        json: { requests: round.map((part) => toWire(part, together)) },
        // What only reads may be asked for twice.
        repeatable: round.every(({ method }) => method === "GET")
      })
    )
    if (Result.isFailure(sent)) {
      yield* failed(round, sent.failure)
      continue
    }
    broken = 0
    const answers = new Map(sent.success.responses.map((answer) => [answer.id, answer]))
    for (const part of round) {
      const found = answers.get(part.id)
      if (found === undefined) {
        const message = "the answer to the batch has none to this part"
        yield* lose(part, new Unexpected({ codes: [], message }), 1)
        continue
      }
      // Not tried, since a part before it failed in this round: it waits until that one is settled.
      const waits = found.status === 424 && part.call.dependsOn?.some((id) => together.has(id)) === true
      if (waits) continue
      yield* take(part, { status: found.status, headers: lower(found.headers), body: found.body ?? null })
    }
  }
  return outcomes
})
