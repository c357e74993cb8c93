/**
 * The events for webhooks and callbacks, and their signatures. Each event is created once; every attempt sends the same
 * bytes with the same `webhook-id`. Delivered at least once, in no guaranteed order: ignore a known `id`, and an event
 * of a run with a lower `seqNo` than one already seen.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { OpenEnum, Timestamp } from "./Common.ts"
import { EventId, ProcessId, ProcessRunId, WorkspaceId } from "./Ids.ts"
import { pauseActions, Paused } from "../internal/endpoints/Pauses.ts"
import { processRunActions, processRunStates } from "../internal/endpoints/ProcessRuns.ts"
import { Struct } from "../internal/endpoints/Endpoint.ts"

const orNull = <S extends Schema.Codec<unknown, unknown>>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

/** A pause in an event: of the process, or of this step of it. */
const Pause = Schema.Struct({ step: Schema.NullOr(Schema.String), ...Paused.fields })

/**
 * The body of a delivery. The events of `process` are extensions: it, or a step of it, was `paused` or `resumed`, which
 * is then their `state`; their run is the one whose failure has paused it, else no run, as in a test event. The action `test` is the test event of a webhook: its ids belong to no process and no run.
 * Fields with a default are missing in deliveries of the hosted service, and always present in ours.
 */
export class WebhookEvent extends Struct<WebhookEvent>("WebhookEvent")({
  id: EventId,
  /** When the event happened. */
  webhookEventTimestamp: Timestamp,
  event: OpenEnum(["process_run", "process"]),
  action: OpenEnum([...processRunActions, ...pauseActions, "test"]),
  payload: Schema.Struct({
    workspaceId: WorkspaceId,
    processId: ProcessId,
    processName: orNull(Schema.String),
    processRunId: ProcessRunId,
    state: OpenEnum([...processRunStates, ...pauseActions]),
    /** Increases with each event of a run, from 1; 0 in events of no run. */
    seqNo: orNull(Schema.Int),
    startedAt: orNull(Timestamp),
    endedAt: orNull(Timestamp),
    /** Seconds. */
    duration: orNull(Schema.Finite),
    /** `error` when the run is `unresolved`, null until it has ended. */
    result: orNull(OpenEnum(["success", "error"])),
    /** The code of the exception of the item that failed last. */
    errorCode: orNull(Schema.String),
    /** Of a `paused` process. */
    pause: orNull(Pause)
  })
}) {}
