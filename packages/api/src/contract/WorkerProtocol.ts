/**
 * The interface of workers, `/worker-v1`: link, lease step runs, report them. The bearer is the worker's token, and
 * calls about a step run also carry its lease token.
 */
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Audited, inEvents } from "./Auditing.ts"
import { TokenAuthorization } from "./Authorization.ts"
import { SentAsStored } from "./Responses.ts"
import { endpoint, type EndpointBehind, type EndpointOf } from "../internal/endpoints/HttpApi.ts"
import * as declared from "../internal/endpoints/WorkerProtocol.ts"

export * from "../internal/endpoints/WorkerProtocol.ts"

/**
 * Exchanges a link token for an identity. A worker's link token can be used once, a group's until it expires or is
 * deleted.
 */
export const link: EndpointOf<typeof declared.link> = endpoint(
  declared.link,
  "Link a worker to the workspace"
).annotate(Audited, inEvents)

/** Waits for up to `wait_seconds` and responds earlier when work arrives. */
export const lease: EndpointBehind<TokenAuthorization, typeof declared.lease> = endpoint(
  declared.lease,
  "Wait for step runs and lease them"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

/**
 * Keeps the worker and its step runs alive; returns which of them must stop and which it no longer owns. `starting`: this is
 * the first of a worker that was started, so that it no longer drains. `drain`: end when the step runs have ended.
 */
export const heartbeat: EndpointBehind<TokenAuthorization, typeof declared.heartbeat> = endpoint(
  declared.heartbeat,
  "Keep a worker and its step runs alive"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

export const start: EndpointBehind<TokenAuthorization, typeof declared.start> = endpoint(
  declared.start,
  "Report that a leased step run starts"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

/**
 * Reports that a started step run builds the environment of its package, or has built it. The time that the step has begins
 * at the end of the build; while it is built there is no limit but the worker's own.
 */
export const build: EndpointBehind<TokenAuthorization, typeof declared.build> = endpoint(
  declared.build,
  "Report that an environment is built"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

/**
 * Settles items of several step runs of one run, and reserves the next for each: in one call and one transaction. For a
 * step run that settles nothing, the response has its reserved item; one that settles its item reserves the oldest
 * waiting one, unless `reserve` is false. Each step run has a separate result, in the order of the request: an item,
 * null when none is reserved, or an error, in which case nothing of that step run was changed. A repetition changes
 * nothing and returns the reserved items.
 */
export const nextItems: EndpointBehind<TokenAuthorization, typeof declared.nextItems> = endpoint(
  declared.nextItems,
  "Settle the reserved work items and reserve the next"
)
  .middleware(TokenAuthorization)
  .annotate(SentAsStored, true)
  .annotate(Audited, inEvents)

/** `error` null: the task succeeded. An item still reserved is settled by the result of the task. */
export const finish: EndpointBehind<TokenAuthorization, typeof declared.finish> = endpoint(
  declared.finish,
  "Report that a step run has ended"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

/** Removes the worker from the workspace; its token is then refused. 409 while it holds a lease. */
export const unlink: EndpointBehind<TokenAuthorization, typeof declared.unlink> = endpoint(
  declared.unlink,
  "Remove a worker from the workspace"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

/** Lines of the console, in order. A message has at most 65,536 characters: split longer ones. */
export const sendConsole: EndpointBehind<TokenAuthorization, typeof declared.sendConsole> = endpoint(
  declared.sendConsole,
  "Send console messages of a step run"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

/** Events of the worker, in order; they appear among those of the service in `/step-runs/{id}/events`. */
export const sendEvents: EndpointBehind<TokenAuthorization, typeof declared.sendEvents> = endpoint(
  declared.sendEvents,
  "Send events of a step run"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

/**
 * Creates the form with which one artifact is uploaded. It is listed once it is complete; the same name replaces it.
 */
export const createArtifact: EndpointBehind<TokenAuthorization, typeof declared.createArtifact> = endpoint(
  declared.createArtifact,
  "Get the form with which an artifact is uploaded"
)
  .middleware(TokenAuthorization)
  .annotate(Audited, inEvents)

export const WorkerProtocol: HttpApiGroup.HttpApiGroup<
  "workerProtocol",
  | typeof link
  | typeof lease
  | typeof heartbeat
  | typeof start
  | typeof build
  | typeof nextItems
  | typeof finish
  | typeof unlink
  | typeof sendConsole
  | typeof sendEvents
  | typeof createArtifact
> = /* @__PURE__ */ HttpApiGroup.make("workerProtocol").add(
  link,
  lease,
  heartbeat,
  start,
  build,
  nextItems,
  finish,
  unlink,
  sendConsole,
  sendEvents,
  createArtifact
)
