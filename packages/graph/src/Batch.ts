/**
 * Many calls in few requests: twenty at a time, each with its own result.
 */
import { mayRepeat } from "@signalbox/transport/Attempts"
import { pauseAfter } from "@signalbox/transport/Policy"
import { retryAfterMillis } from "@signalbox/transport/RetryAfter"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Graph } from "./Graph.ts"
import { GraphError, InvalidRequest, type RequestInfo, Unexpected } from "./GraphError.ts"
import { reasonOf } from "./internal/requests/Answer.ts"
import { decoder, json, unsent } from "./internal/requests/Call.ts"
import { acted } from "./internal/requests/Delivery.ts"
import { isRepeatable, type Method } from "./internal/requests/Transport.ts"
import { type Path, path, type Query, queryString, verbatim } from "./Path.ts"
import { GraphPolicy } from "./Policy.ts"

export interface PartCall {
  readonly method?: Method
  /** Below the version; a plain string is sent as it is. */
  readonly path: Path | string
  readonly query?: Query
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  /** The names of the parts that must have worked before this one is tried. */
  readonly dependsOn?: ReadonlyArray<string> | undefined
}

/** What came for a part. A file's content is a 302 with its `location`. */
export interface PartAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A call of a batch, and how its answer is read. */
export interface Part<A> {
  readonly call: PartCall
  readonly read: (answer: PartAnswer, request: RequestInfo) => Effect.Effect<A, GraphError>
}

/** A part whose answer is decoded by a schema. */
export const part = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
  schema: S,
  call: PartCall
): Part<S["Type"]> => {
  const decode = decoder(schema)
  return { call, read: (answer, request) => decode(answer.body, request) }
}

/** A part whose answer comes as it is. */
export const raw = (call: PartCall): Part<PartAnswer> => ({ call, read: Effect.succeed })

const Answers = Schema.Struct({
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

/** The service takes no more in one request. */
const most = 20

/** A part on its way. */
interface Pending {
  readonly id: string
  readonly call: PartCall
  readonly path: Path
  readonly method: Method
  attempts: number
  /** Not sent again before. */
  notBefore: number
}

const info = (part: Pending, answer: PartAnswer | null): RequestInfo => ({
  ...unsent(part.method, part.path.shown),
  attempts: part.attempts,
  status: answer?.status ?? null,
  requestId: answer?.headers["request-id"] ?? null,
  clientRequestId: answer?.headers["client-request-id"] ?? null
})

const failure = (part: Pending, message: string) =>
  new GraphError({ reason: new InvalidRequest({ codes: [], message }), request: info(part, null) })

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
  new GraphError({
    reason: new Unexpected({
      codes: [],
      message: "a part that this one depends on has failed; this one was not tried"
    }),
    request: { ...info(part, null), status: 424 }
  })

/** Sends all parts, those that are throttled or failed for a moment again, until each has its outcome. */
const deliverAll = Effect.fnUntraced(function* (
  parts: ReadonlyArray<Pending>
): Effect.fn.Return<ReadonlyMap<string, Outcome>, GraphError, Graph> {
  const policy = yield* GraphPolicy
  const outcomes = new Map<string, Outcome>()
  let waiting = [...parts]
  const settle = (part: Pending, outcome: Outcome) => {
    outcomes.set(part.id, outcome)
    waiting = waiting.filter((other) => other !== part)
  }

  /** Parts that may go now, in their order, with the parts that they depend on before them. */
  const choose = (now: number): ReadonlyArray<Pending> => {
    const chosen = new Set<string>()
    return waiting.filter((part) => {
      const free = (part.call.dependsOn ?? []).every((id) => outcomes.has(id) || chosen.has(id))
      if (chosen.size >= most || part.notBefore > now || !free) return false
      chosen.add(part.id)
      return true
    })
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

  while (waiting.length > 0) {
    for (const part of waiting) {
      const failed = part.call.dependsOn?.some((id) => {
        const outcome = outcomes.get(id)
        return outcome !== undefined && Result.isFailure(outcome)
      })
      if (failed === true) settle(part, Result.fail(dependency(part)))
    }
    const now = yield* Clock.currentTimeMillis
    const round = choose(now)
    if (round.length === 0) {
      if (waiting.length === 0) break
      yield* Effect.sleep(
        Math.max(1, Math.min(...waiting.map((part) => part.notBefore).filter((at) => at > now)) - now)
      )
      continue
    }
    const together = new Set(round.map(({ id }) => id))
    const answers = yield* post({
      method: "POST",
      path: path`/$batch`,
      json: { requests: round.map((part) => toWire(part, together)) },
      // What only reads may be asked for twice.
      repeatable: round.every(({ method }) => method === "GET")
    })
    for (const part of round) {
      const found = answers.responses.find(({ id }) => id === part.id)
      const answer: PartAnswer = {
        status: found?.status ?? 0,
        headers: lower(found?.headers),
        body: found?.body ?? null
      }
      if (found === undefined) {
        const reason = new Unexpected({ codes: [], message: "the answer to the batch has none to this part" })
        settle(part, Result.fail(new GraphError({ reason, request: info(part, null) })))
        continue
      }
      // Not tried, since a part before it failed in this round: it waits until that one is settled.
      const waits = found.status === 424 && part.call.dependsOn?.some((id) => together.has(id)) === true
      if (!waits) yield* take(part, answer)
    }
  }
  return outcomes
})

/** Why these parts can't be a batch. */
const problemOf = (parts: ReadonlyArray<Pending>): GraphError | undefined => {
  const ids = new Set(parts.map(({ id }) => id))
  for (const part of parts) {
    if (part.path.problem !== null) return failure(part, `${part.id}: ${part.path.problem}`)
    const unknown = part.call.dependsOn?.find((id) => !ids.has(id))
    if (unknown !== undefined) return failure(part, `${part.id} depends on ${unknown}, which is no part of this batch`)
  }
  const free = new Set<string>()
  for (let left = parts; left.length > 0;) {
    const next = left.filter(({ call }) => (call.dependsOn ?? []).every((id) => free.has(id)))
    const [stuck] = left
    if (next.length === 0 && stuck !== undefined) return failure(stuck, `${stuck.id} depends on itself, in a circle`)
    for (const { id } of next) free.add(id)
    left = left.filter(({ id }) => !free.has(id))
  }
  return undefined
}

/** What the parts give, under their names. */
export type Results<P extends Readonly<Record<string, Part<unknown>>>> = {
  readonly [K in keyof P]: Result.Result<P[K] extends Part<infer A> ? A : never, GraphError>
}

/**
 * Sends named parts, in requests of at most twenty. A part that is throttled is sent again by itself, when its own answer
 * says; the others are not held up by it. Fails only when a request as a whole does.
 *
 * ```ts
 * import * as Batch from "@signalbox/graph/Batch"
 * import { Drive } from "@signalbox/graph/model/Drive"
 * import { User } from "@signalbox/graph/model/User"
 *
 * export const start = Batch.send({
 *   me: Batch.part(User, { path: "/me" }),
 *   drive: Batch.part(Drive, { path: "/me/drive" })
 * })
 * ```
 */
export const send = Effect.fn("Batch.send")(function* <P extends Readonly<Record<string, Part<unknown>>>>(
  parts: P
): Effect.fn.Return<Results<P>, GraphError, Graph> {
  const pending = Object.entries(parts).map(([id, { call }]): Pending => ({
    id,
    call,
    path: typeof call.path === "string" ? verbatim(call.path) : call.path,
    method: call.method ?? "GET",
    attempts: 0,
    notBefore: 0
  }))
  const problem = problemOf(pending)
  if (problem !== undefined) return yield* problem
  const outcomes = yield* deliverAll(pending)
  const results = yield* Effect.forEach(pending, (part) => {
    const outcome = outcomes.get(part.id)
    const { read } = parts[part.id] ?? raw(part.call)
    if (outcome === undefined) return Effect.succeed([part.id, Result.fail(dependency(part))] as const)
    const value = Result.isFailure(outcome)
      ? Effect.fail(outcome.failure)
      : read(outcome.success, info(part, outcome.success))
    return Effect.map(Effect.result(value), (result) => [part.id, result] as const)
  })
  return Object.fromEntries(results) as Results<P> // each was read by the part of its name
})
