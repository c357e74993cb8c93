/**
 * The record of an execution on the wire and in exported histories: times in ISO 8601, names with underscores.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { isDay, Timestamp } from "@signalbox/api/contract/Common"
import { Failure } from "../../FlowEvents.ts"
import { entryKinds, entryStates, states } from "../model/Execution.ts"

/** The last moment that a date can hold. */
const lastMillis = 8.64e15

/** Milliseconds here, ISO 8601 on the wire. A wait without an end is due at the last moment that a date can hold. */
export const Time = Timestamp.check(
  Schema.makeFilter((text) =>
    Number.isNaN(Date.parse(text))
      ? "Expected a time in ISO 8601"
      : isDay(text.split("T")[0] ?? "")
        ? undefined
        : "Expected a time of a day that exists, such as 2026-11-20T08:15:30Z"
  )
).pipe(
  Schema.decodeTo(
    Schema.Finite,
    SchemaTransformation.transform({
      decode: (text) => {
        const millis = Date.parse(text)
        return millis < lastMillis ? millis : Number.MAX_SAFE_INTEGER
      },
      encode: (millis) => new Date(Math.min(millis, lastMillis)).toISOString()
    })
  )
)

export const listedFields = {
  id: Schema.String,
  flow: Schema.String,
  version: Schema.Finite,
  key: Schema.String,
  state: Schema.Literals(states),
  failure: Schema.NullOr(Failure),
  chapter: Schema.Finite,
  round: Schema.Finite,
  tags: Schema.Array(Schema.String),
  parent: Schema.NullOr(Schema.String),
  limits: Schema.Array(Schema.NullOr(Schema.String)).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  queuedAt: Schema.NullOr(Time).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  startsAt: Schema.NullOr(Time).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  priority: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
  deadlineAt: Schema.NullOr(Time).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  epoch: Schema.Finite,
  owner: Schema.NullOr(Schema.String),
  wakeAt: Schema.NullOr(Time),
  mail: Schema.Finite,
  startedAt: Time,
  changedAt: Time,
  endedAt: Schema.NullOr(Time)
}

export const listedKeys = {
  queuedAt: "queued_at",
  startsAt: "starts_at",
  deadlineAt: "deadline_at",
  wakeAt: "wake_at",
  startedAt: "started_at",
  changedAt: "changed_at",
  endedAt: "ended_at"
} as const

export const Execution = Schema.Struct({
  ...listedFields,
  input: Schema.Json,
  result: Schema.Json,
  error: Schema.Json
}).pipe(Schema.encodeKeys(listedKeys))

export const Stalled = Schema.Struct({ times: Schema.Finite, host: Schema.String, millis: Schema.Finite })

export const Entry = Schema.Struct({
  path: Schema.String,
  attempt: Schema.Finite,
  redo: Schema.Finite,
  name: Schema.String,
  kind: Schema.Literals(entryKinds),
  input: Schema.Json,
  state: Schema.Literals(entryStates),
  value: Schema.Json,
  failure: Schema.NullOr(Failure),
  begun: Schema.Finite,
  ended: Schema.NullOr(Schema.Finite),
  startedAt: Time,
  endedAt: Schema.NullOr(Time),
  due: Schema.NullOr(Time),
  subject: Schema.NullOr(Schema.String),
  host: Schema.NullOr(Schema.String),
  stalled: Schema.optionalKey(Schema.NullOr(Stalled)),
  details: Schema.optionalKey(Schema.Json)
}).pipe(Schema.encodeKeys({ startedAt: "started_at", endedAt: "ended_at" }))

export const Chapter = Schema.Struct({
  chapter: Schema.Finite,
  entries: Schema.Finite,
  startedAt: Time,
  endedAt: Time
}).pipe(Schema.encodeKeys({ startedAt: "started_at", endedAt: "ended_at" }))

export const Undo = Schema.Struct({
  path: Schema.String,
  redo: Schema.Finite,
  state: Schema.Literals(["pending", "done", "failed", "skipped"]),
  position: Schema.Finite,
  failure: Schema.NullOr(Failure)
})

export const Message = Schema.Struct({
  seq: Schema.Finite,
  kind: Schema.Literals(["signal", "inbox", "done", "cancel", "suspend"]),
  name: Schema.String,
  id: Schema.String,
  value: Schema.Json,
  at: Time
})

/** The longest wait of a request, in seconds: proxies end silent requests after thirty. */
export const longestWait = 25
