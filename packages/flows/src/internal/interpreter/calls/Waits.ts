/**
 * Waits: sleeps, signals, messages of an inbox, and patches, which only mark a place in the record.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FlowSignals } from "../../../FlowSignals.ts"
import type { Place, Received } from "../../body/Position.ts"
import { type Codec, decodeRecorded, readRecorded } from "../../model/Values.ts"
import type { Caller } from "./Caller.ts"
import { wait } from "./Spec.ts"
import { step } from "./Steps.ts"

export const sleep = ({ branch, services }: Caller, place: Place, millis: number): Effect.Effect<void> =>
  services.park<void, never>(
    branch,
    wait(place, "sleep", {
      // JSON has no infinity.
      input: Number.isFinite(millis) ? millis : null,
      dueMillis: Math.max(millis, 0),
      resultOf: () => Effect.void
    })
  )

/** In a script, a signal is a step that receives it: no message of a journal ends it. */
const receive = <S extends Codec>(caller: Caller, { name, path }: Place, schema: S): Effect.Effect<S["Type"]> =>
  Effect.flatMap(FlowSignals, (signals) =>
    step(caller, {
      path,
      name,
      input: null,
      inputSchema: Schema.Null,
      numbered: null,
      success: schema,
      error: Schema.Never,
      execute: Effect.flatMap(signals.receive({ executionId: caller.services.id, path }), (value) =>
        decodeRecorded(schema, value, `the signal ${path}`)
      ),
      retry: () => Effect.succeed(null),
      transient: null,
      repeatable: true
    })
  )

/** Waits for a signal, or for the next message of an inbox. */
export const message = <S extends Codec>(
  caller: Caller,
  kind: "signal" | "inbox",
  place: Place,
  address: string,
  schema: S
): Effect.Effect<S["Type"]> => {
  const { durable, id, park } = caller.services
  if (!durable) return receive(caller, place, schema)
  return park<S["Type"], never>(
    caller.branch,
    wait(place, kind, {
      address,
      resultOf: (entry) => readRecorded(id, schema, entry.value, `the ${kind} ${address}`)
    })
  )
}

/** Waits for the next message that is to be answered. */
export const request = <S extends Codec>(
  caller: Caller,
  place: Place,
  address: string,
  schema: S
): Effect.Effect<Received<S["Type"]>> => {
  const { asked, durable, id, messageId, park } = caller.services
  // A script has no ids: the path distinguishes what it receives.
  if (!durable) {
    return Effect.map(receive(caller, place, schema), (input) => {
      asked({ name: address, id: place.path, input: null })
      return { id: place.path, input }
    })
  }
  return park<Received<S["Type"]>, never>(
    caller.branch,
    wait(place, "inbox", {
      address,
      resultOf: ({ subject, value }) =>
        Effect.map(readRecorded(id, schema, value, `the request ${address}`), (input) => {
          const received = { id: messageId(subject), input }
          asked({ name: address, id: received.id, input: value })
          return received
        })
    })
  )
}

/** Whether an execution takes a patch: those that had passed the place before it do not. */
export const patched = ({ branch, services }: Caller, place: Place): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { isLive, park, recordedAt, redoOf } = services
    // A patch that a retry discarded was taken before, so it is taken again.
    return recordedAt(place.path) === undefined && redoOf(place.path) === 0 && !isLive()
      ? Effect.succeed(false)
      : park<boolean, never>(
          branch,
          wait(place, "patch", { dueMillis: 0, announced: false, resultOf: () => Effect.succeed(true) })
        )
  })
