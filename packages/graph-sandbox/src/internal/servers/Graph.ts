/**
 * The graph: which handler serves the first segment of an address, and what each request costs.
 */
import * as Effect from "effect/Effect"
import * as Address from "../requests/Address.ts"
import * as Batch from "../requests/Batch.ts"
import * as Drives from "../drive/Drives.ts"
import * as Failure from "../model/Failure.ts"
import type { Answer, GraphRequest, IncomingRequest, Reply } from "../requests/GraphRequest.ts"
import { groups } from "../directory/Groups.ts"
import * as Permissions from "./Permissions.ts"
import * as Sites from "../lists/Sites.ts"
import * as Subscriptions from "./Subscriptions.ts"
import { Tokens } from "../login/Tokens.ts"
import { altered, masked, refusal, rememberedHeaders, throttled, Traffic } from "./Traffic.ts"
import { me, users } from "../directory/Users.ts"

const roots: Readonly<Record<string, (rest: ReadonlyArray<Address.Segment>, request: GraphRequest) => Answer>> = {
  me,
  users,
  groups,
  drive: (rest, request) => me([Address.segment("drive"), ...rest], request),
  drives: (rest, request) => {
    const [key] = rest
    if (key === undefined) return Effect.fail(Failure.invalidRequest("The id of a drive must be given."))
    return Drives.byId(key.text, rest.slice(1), request)
  },
  sites: Sites.sites,
  shares: Sites.shares
}

const walk = (incoming: IncomingRequest, [first, ...rest]: ReadonlyArray<Address.Segment>): Answer => {
  const name = first?.text.toLowerCase() ?? ""
  const root = Object.hasOwn(roots, name) ? roots[name] : undefined
  return root === undefined
    ? Effect.fail(Failure.unknownSegment(first?.text ?? ""))
    : root(rest, { ...incoming, at: (segments) => walk(incoming, segments) })
}

const route = Effect.fnUntraced(function* (request: IncomingRequest) {
  const { settings } = yield* Tokens
  const segments = yield* Effect.fromResult(Address.parse(request.path))
  if (settings.enforceScopes) yield* Permissions.check(request, segments)
  const [first, ...rest] = segments
  if (first?.text.toLowerCase() !== "subscriptions") return yield* walk(request, segments)
  const at = (segments: ReadonlyArray<Address.Segment>) => walk(request, segments)
  return yield* Subscriptions.handle(rest, { ...request, at }, (path, permitted) =>
    Effect.gen(function* () {
      const resource = yield* Effect.fromResult(Address.parse(path))
      if (settings.enforceScopes) yield* Permissions.check({ ...request, method: permitted }, resource)
      return yield* walk({ ...request, method: "GET", path, query: "", options: new Map() }, resource)
    })
  )
})

/** Resource units of a call. */
const cost = ({ method, path }: IncomingRequest): number => {
  if (/\/(?:permissions|invite|createLink)\b/i.test(path)) return 5
  if (method !== "GET") return 2
  if (/[?&]token=|\/delta/i.test(path)) return 1
  return /\/(?:children|items|drives|lists|users|members|search\([^)]*\)|columns)$/i.test(path) ? 2 : 1
}

/** The headers that tell an app how much of its budget is left; they appear when four fifths are spent. */
const budgetHeaders = (budget: { readonly limit: number; readonly left: number; readonly reset: number } | null) =>
  budget === null || budget.left > budget.limit / 5
    ? {}
    : {
        "ratelimit-limit": String(budget.limit),
        "ratelimit-remaining": String(Math.max(0, budget.left)),
        "ratelimit-reset": String(budget.reset)
      }

export interface Ids {
  readonly requestId: string
  readonly clientRequestId: string
}

/** A refusal as an answer. */
export const refuse = (failure: Failure.Failure, ids: Ids, now: number): Reply => ({
  status: failure.status,
  body:
    failure.html === true ? `<html><body><h1>${failure.message}</h1></body></html>` : Failure.body(failure, ids, now),
  headers: failure.html === true ? { ...failure.headers, "content-type": "text/html" } : failure.headers
})

/** Answers one request, in a batch or on its own, and never fails. */
const answerWith = (run: typeof route, ids: Ids) =>
  Effect.fnUntraced(function* (request: IncomingRequest, failed?: Failure.Failure) {
    const traffic = yield* Traffic
    const budget = failed === undefined ? traffic.spend(cost(request), request.now) : null
    const failure = failed ?? (budget !== null && budget.left < 0 ? throttled(String(budget.reset)) : undefined)
    const reply = yield* (failure === undefined ? run(request) : Effect.fail(failure)).pipe(
      Effect.catch((failure) => Effect.succeed(refuse(failure, ids, request.now)))
    )
    return { ...reply, headers: { ...budgetHeaders(budget), ...reply.headers } }
  })

/** A part of a batch meets the faults on its own, and is in the record of requests as one. */
const part = (ids: Ids, hostHeader: string) =>
  Effect.fnUntraced(function* (request: IncomingRequest) {
    const traffic = yield* Traffic
    const { headers, method, now, path, query } = request
    const url = `${path}${query === "" ? "" : `?${query}`}`
    const rules = traffic.meet({ host: "graph", method, url })
    const answered = yield* answerWith(route, ids)(request, refusal(rules, now))
    const reply = { ...answered, body: altered(rules, answered.body) }
    traffic.record({
      host: "graph",
      method,
      url: masked(url),
      status: reply.status,
      authorization: true,
      hostHeader,
      headers: rememberedHeaders(headers),
      batched: true,
      faults: rules.map(({ fault }) => fault),
      at: now
    })
    return reply
  })

/** Answers a request whose sender is known. */
export const answer = (request: IncomingRequest, ids: Ids) => {
  if (!/^\/+\$batch$/i.test(request.path)) return answerWith(route, ids)(request)
  if (request.method !== "POST") return Effect.succeed(refuse(Failure.methodNotAllowed(), ids, request.now))
  return Batch.handle(part(ids, request.headers["host"] ?? ""))(request).pipe(
    Effect.catch((failure) => Effect.succeed(refuse(failure, ids, request.now)))
  )
}
