/**
 * Triggers: conditions under which runs of a process start, and addresses whose requests become work items. An extension.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Deleted, listQuery, Name, NamedRef, OpenEnum, Page, Ref, Text, Timestamp } from "../../contract/Common.ts"
import { ProcessId, ProcessRunId, TriggerId, WorkspaceId } from "../../contract/Ids.ts"
import {
  ConflictResponse,
  ForbiddenResponse,
  InvalidRequestResponse,
  NotFoundResponse
} from "../../contract/Responses.ts"
import * as Endpoint from "./Endpoint.ts"
import { Struct } from "./Endpoint.ts"

export const triggerHandshakes = ["asana", "slack", "microsoft-graph"] as const
export type TriggerHandshake = (typeof triggerHandshakes)[number]
export const signatureTypes = ["standard_webhooks", "hmac", "slack"] as const

/** A JSON pointer (RFC 6901) into the body of a request; the empty one is the whole body. */
export const Pointer = Text.check(
  Schema.isMaxLength(1024),
  Schema.isPattern(/^(?:\/(?:[^~/]|~[01])*)*$/, {
    message: "Expected a JSON pointer such as /order/id, or an empty text for the whole body"
  })
)

const HeaderName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, {
    message: "Expected the name of a header, such as X-Hub-Signature-256"
  })
)

const Count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/**
 * When a run starts with all items that wait in the queue of the process: when at least `at_least` wait, or the oldest
 * has waited for `oldest_seconds`; while fewer than `max_runs` (default 1) runs of this trigger have not ended.
 */
export const TriggerStart = Schema.Struct({
  at_least: Schema.optionalKey(Count(1_000_000)),
  oldest_seconds: Schema.optionalKey(Count(31_536_000)),
  max_runs: Schema.optionalKey(Count(1000))
}).check(
  Schema.makeFilter(({ at_least, oldest_seconds }) =>
    at_least === undefined && oldest_seconds === undefined
      ? { path: ["at_least"], issue: "Expected at_least or oldest_seconds: without them nothing would ever start" }
      : undefined
  )
)

const secret = { secret: Schema.optionalKey(Schema.RedactedFromValue(Text.check(Schema.isBetweenLength(1, 1024)))) }

/**
 * How requests are signed: by Standard Webhooks, as Slack does (`X-Slack-Signature` of the body and of
 * `X-Slack-Request-Timestamp`), or by a header with the hexadecimal HMAC-SHA256 of the body, after `prefix` (default none;
 * GitHub's is `sha256=`). The secret is needed when a trigger is created, and kept by a change
 * without one.
 */
export const TriggerSignature = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["standard_webhooks", "slack"]), ...secret }),
  Schema.Struct({
    type: Schema.Literal("hmac"),
    header: HeaderName,
    prefix: Schema.optionalKey(Text.check(Schema.isMaxLength(100))),
    ...secret
  })
])
export type TriggerSignature = typeof TriggerSignature.Type

/** Where the id of an event is: the same id makes one item within 7 days. */
export const TriggerEventId = Schema.Union([Schema.Struct({ header: HeaderName }), Schema.Struct({ pointer: Pointer })])
export type TriggerEventId = typeof TriggerEventId.Type

/** What of the body is the payload: one part of it, or an object of several. Default: the whole body. */
export const TriggerPayload = Schema.Union([Pointer, Schema.Record(Name, Pointer)])
export type TriggerPayload = typeof TriggerPayload.Type

/** The settings of an address. Without `event_id`, Standard Webhooks has it in `webhook-id`, and Slack in the body at
 * `/event_id`. */
export class TriggerWebhook extends Struct<TriggerWebhook>()({
  signature: Schema.optionalKey(TriggerSignature),
  handshake: Schema.optionalKey(Schema.Literals(triggerHandshakes)),
  payload: Schema.optionalKey(TriggerPayload),
  event_id: Schema.optionalKey(TriggerEventId),
  /** Requests are refused with a 429 while so many items wait in the queue of the process; default 1000. */
  max_waiting: Schema.optionalKey(Count(1_000_000))
}) {}

/** A trigger as it is written; replaces the whole trigger. One of `start` and `webhook` is given, or both. */
export class TriggerDefinition extends Struct<TriggerDefinition>()({
  name: Name,
  process: Ref(ProcessId),
  enabled: Schema.optionalKey(Schema.Boolean),
  start: Schema.optionalKey(TriggerStart),
  webhook: Schema.optionalKey(TriggerWebhook)
}) {}

const fields = {
  id: TriggerId,
  name: Schema.String,
  process: NamedRef(ProcessId),
  created_at: Timestamp,
  enabled: Schema.Boolean,
  start: Schema.NullOr(
    Schema.Struct({
      at_least: Schema.NullOr(Schema.Int),
      oldest_seconds: Schema.NullOr(Schema.Int),
      max_runs: Schema.Int
    })
  ),
  /** Without the secret. */
  webhook: Schema.NullOr(
    Schema.Struct({
      signature: Schema.NullOr(
        Schema.Struct({
          type: OpenEnum(signatureTypes),
          header: Schema.NullOr(Schema.String),
          prefix: Schema.NullOr(Schema.String)
        })
      ),
      handshake: Schema.NullOr(OpenEnum(triggerHandshakes)),
      payload: Schema.NullOr(Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.String)])),
      event_id: Schema.NullOr(
        Schema.Struct({ header: Schema.NullOr(Schema.String), pointer: Schema.NullOr(Schema.String) })
      ),
      max_waiting: Schema.Int
    })
  ),
  /** Why no run can start, since when; null when nothing is wrong. */
  problem: Schema.NullOr(Schema.Struct({ since: Timestamp, message: Schema.String })),
  /** Requests to its address whose signature was wrong: how many since it was changed, and why the last one was refused. */
  refused_requests: Schema.NullOr(
    Schema.Struct({ count: Schema.Int, last_at: Timestamp, message: Schema.String })
  ).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}

export class TriggerListed extends Struct<TriggerListed>("TriggerListed")(fields) {}

/** A trigger with its runs that have not ended. */
export class Trigger extends Struct<Trigger>("Trigger")({ ...fields, running: Schema.Array(Ref(ProcessRunId)) }) {}

/** `url` is returned only here: anyone who knows it may send requests. Null without `webhook`. */
export class TriggerCreated extends Struct<TriggerCreated>("TriggerCreated")({
  ...fields,
  running: Schema.Array(Ref(ProcessRunId)),
  url: Schema.NullOr(Schema.RedactedFromValue(Schema.String))
}) {}

const params = { workspace_id: WorkspaceId, trigger_id: TriggerId }
const path = "/workspaces/:workspace_id/triggers"
const one = `${path}/:trigger_id` as const

export const get = /* @__PURE__ */ Endpoint.get("getTrigger", one, () => ({
  extension: true,
  params,
  success: Trigger,
  error: NotFoundResponse
}))

export const list = /* @__PURE__ */ Endpoint.get("listTriggers", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  query: { ...listQuery, process_id: Schema.optional(ProcessId) },
  success: Page(TriggerListed),
  error: InvalidRequestResponse
}))

const written = [InvalidRequestResponse, NotFoundResponse, ConflictResponse, ForbiddenResponse] as const

export const create = /* @__PURE__ */ Endpoint.post("createTrigger", path, () => ({
  extension: true,
  params: { workspace_id: WorkspaceId },
  payload: TriggerDefinition,
  success: TriggerCreated,
  error: written
}))

export const update = /* @__PURE__ */ Endpoint.post("updateTrigger", one, () => ({
  extension: true,
  params,
  payload: TriggerDefinition,
  success: TriggerCreated,
  error: written
}))

export const rotate = /* @__PURE__ */ Endpoint.post("rotateTriggerUrl", `${one}/rotate-url`, () => ({
  extension: true,
  params,
  success: TriggerCreated,
  error: [NotFoundResponse, ConflictResponse]
}))

export const remove = /* @__PURE__ */ Endpoint.delete("deleteTrigger", one, () => ({
  extension: true,
  params,
  success: Deleted(TriggerId),
  error: NotFoundResponse
}))
