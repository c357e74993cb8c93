/**
 * The one place where payloads leave the service for somebody who must not see what is secret in them: a person, whose session always gets
 * secret fields masked, or a key without `Processes.read_sensitive`.
 */
import type { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import type { ForbiddenResponse, InvalidRequestResponse } from "@signalbox/api/contract/Responses"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import { invalidRequest } from "../edge/Failures.ts"
import { valueAt } from "../engine/JsonPointer.ts"
import { need, view } from "../edge/Permissions.ts"
import { limits } from "../settings/Limits.ts"
import { Secrecy } from "../runs/Secrecy.ts"
import type { Masked } from "../runs/schemas/SecretPlaces.ts"

type Json = Schema.Json

/** What has a payload as JSON text, and is of a process. */
interface Whole {
  readonly processId: ProcessId
  readonly payload: string
}

/** A payload as the caller sees it, as JSON text. */
export interface Seen {
  readonly payload: string
  readonly masked: ReadonlyArray<string>
}

const nothing: ReadonlyArray<string> = []

export class Masking extends Context.Service<
  Masking,
  {
    /** The payloads of rows as the caller sees them, in their order. Those without secret fields are not parsed. */
    readonly payloads: (rows: ReadonlyArray<Whole>) => Effect.Effect<ReadonlyArray<Seen>, never, CurrentPrincipal>
    /** JSON at a place of payloads of the process, as the caller sees it. */
    readonly json: (process: ProcessId, json: Json) => Effect.Effect<Masked, never, CurrentPrincipal>
    /** Like `json`, for a list of payloads. */
    readonly list: (
      process: ProcessId,
      payloads: ReadonlyArray<Json>
    ) => Effect.Effect<
      { readonly list: ReadonlyArray<Json>; readonly masked: ReadonlyArray<string> },
      never,
      CurrentPrincipal
    >
    /** Whether the caller gets a value at a pointer of payloads of the process masked. */
    readonly hides: (process: ProcessId) => Effect.Effect<(pointer: string) => boolean, never, CurrentPrincipal>
    /**
     * What the caller sends in the place of a payload: of one who sees secrets masked, stored ones stay where null or nothing is sent.
     * `field`: where it stands in the request.
     */
    readonly kept: (
      process: ProcessId,
      sent: Json,
      stored: Json,
      field: string
    ) => Effect.Effect<Json, InvalidRequestResponse, CurrentPrincipal>
    /** Like `kept`, for a list of payloads. */
    readonly keptList: (
      process: ProcessId,
      sent: ReadonlyArray<Json>,
      stored: ReadonlyArray<Json>,
      field: string
    ) => Effect.Effect<ReadonlyArray<Json>, InvalidRequestResponse, CurrentPrincipal>
    /** Secret fields of a payload, by these pointers to them; for callers who may read them. */
    readonly reveal: (
      process: ProcessId,
      payload: Json,
      pointers: ReadonlyArray<string>
    ) => Effect.Effect<Readonly<Record<string, Json>>, InvalidRequestResponse>
    /** Of which of these processes the caller may not read files. */
    readonly withoutFiles: (
      processes: ReadonlyArray<ProcessId>
    ) => Effect.Effect<ReadonlySet<ProcessId>, never, CurrentPrincipal>
    /** Refuses a caller who may not read files, artifacts and console lines of the process; null: there is none any more. */
    readonly needFiles: (
      process: Effect.Effect<ProcessId | null>
    ) => Effect.Effect<void, ForbiddenResponse, CurrentPrincipal>
  }
>()("@signalbox/control-room/endpoints/Masking") {
  static readonly layer = Layer.effect(
    Masking,
    Effect.gen(function* () {
      const secrecy = yield* Secrecy
      const noPlaces = yield* secrecy.placesOf({ inputSchema: null, sensitive: [] })
      /** What the caller may not see of a process. */
      const hiddenOf = Effect.fnUntraced(function* (process: ProcessId) {
        if ((yield* view) === "plain") return noPlaces
        return (yield* secrecy.of([process])).get(process)?.places ?? noPlaces
      })
      const unclear = (field: string) =>
        invalidRequest(
          `${field}: has secret fields in its entries, and another number of them than before; send as many, or let somebody send it with a key that has Processes.read_sensitive`
        )
      const plain = ({ payload }: Whole): Seen => ({ payload, masked: nothing })
      return Masking.of({
        payloads: Effect.fnUntraced(function* (rows) {
          if ((yield* view) === "plain") return rows.map(plain)
          const secrets = yield* secrecy.of(rows.map(({ processId }) => processId))
          if (secrets.size === 0) return rows.map(plain)
          return yield* Effect.forEach(rows, (row) => {
            const secret = secrets.get(row.processId)
            if (secret === undefined) return Effect.succeed(plain(row))
            const { json, masked } = secret.places.mask(ExactJson.parse(row.payload))
            const seen: Seen = { payload: masked.length === 0 ? row.payload : JSON.stringify(json), masked }
            return row.payload.length < limits.smallResponse ? Effect.succeed(seen) : Effect.as(Effect.yieldNow, seen)
          })
        }),
        json: (process, json) => Effect.map(hiddenOf(process), (places) => places.mask(json)),
        list: Effect.fnUntraced(function* (process, payloads) {
          const places = yield* hiddenOf(process)
          const all = payloads.map((payload) => places.mask(payload))
          return {
            list: all.map(({ json }) => json),
            masked: all.flatMap(({ masked }, index) => masked.map((pointer) => `/${index}${pointer}`))
          }
        }),
        hides: (process) => Effect.map(hiddenOf(process), ({ covers }) => covers),
        kept: Effect.fnUntraced(function* (process, sent, stored, field) {
          const result = (yield* hiddenOf(process)).keep(sent, stored)
          return "json" in result ? result.json : yield* unclear(field + result.unclear.replaceAll("/", "."))
        }),
        keptList: Effect.fnUntraced(function* (process, sent, stored, field) {
          const places = yield* hiddenOf(process)
          const hasSecrets = stored.some((payload) => places.mask(payload).masked.length > 0)
          if (hasSecrets && sent.length !== stored.length) return yield* unclear(field)
          return yield* Effect.forEach(sent, (payload, index) => {
            const result = places.keep(payload, stored[index] ?? null)
            return "json" in result
              ? Effect.succeed(result.json)
              : Effect.fail(unclear(`${field}.${index}${result.unclear.replaceAll("/", ".")}`))
          })
        }),
        reveal: Effect.fnUntraced(function* (process, payload, pointers) {
          const secret = (yield* secrecy.of([process])).get(process)
          const masked = new Set(secret?.places.mask(payload).masked)
          const index = pointers.findIndex((pointer) => !masked.has(pointer))
          if (index !== -1) {
            return yield* invalidRequest(
              `pointers.${index}: nothing is masked there; name pointers of \`masked\` of the work item`
            )
          }
          return Object.fromEntries(pointers.map((pointer) => [pointer, valueAt(payload, pointer) ?? null]))
        }),
        withoutFiles: Effect.fnUntraced(function* (processes) {
          if ((yield* view) !== "hidden") return new Set<ProcessId>()
          const secrets = yield* secrecy.of(processes)
          return new Set([...secrets].flatMap(([id, { files }]) => (files ? [id] : [])))
        }),
        needFiles: Effect.fnUntraced(function* (asked) {
          if ((yield* view) !== "hidden") return
          const process = yield* asked
          if (process === null || (yield* secrecy.of([process])).get(process)?.files !== true) return
          yield* need(
            "Processes.read_sensitive",
            "the process has secret fields, and files, console lines and artifacts with them"
          )
        })
      })
    })
  )
}
