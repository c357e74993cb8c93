/** The secret fields of processes, as their definitions are now. */
import type { ProcessId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as ExactJson from "@signalbox/transport/ExactJson"
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { Exception } from "../engine/State.ts"
import { Processes, type StoredSecrecy } from "../store/processes/Processes.ts"
import { compile, type SecretPlaces } from "./schemas/SecretPlaces.ts"

/** What is secret of a process. */
export interface Secret {
  readonly places: SecretPlaces
  /** Whether files, console lines and artifacts are secret too. */
  readonly files: boolean
}

/** Definitions whose places are cached; finding them takes up to some milliseconds. */
const capacity = 500
/** Shorter texts are in too many others. */
const leastText = 4

/** What stands in exceptions in the place of secrets. */
export const replacement = "***"

export class Secrecy extends Context.Service<
  Secrecy,
  {
    /** The places of a definition. */
    readonly placesOf: (definition: Pick<StoredSecrecy, "inputSchema" | "sensitive">) => Effect.Effect<SecretPlaces>
    /** What is secret of those of these processes that have secret fields, also of deleted ones. */
    readonly of: (processes: ReadonlyArray<ProcessId>) => Effect.Effect<ReadonlyMap<ProcessId, Secret>>
    /** Whether a process of the workspace has secret fields. */
    readonly isIn: (workspace: WorkspaceId) => Effect.Effect<boolean>
    /** An exception of a task, without the secrets of its item. */
    readonly cleaned: (
      process: ProcessId,
      payload: Effect.Effect<Schema.Json>,
      exception: Exception
    ) => Effect.Effect<Exception>
  }
>()("@signalbox/control-room/runs/Secrecy") {
  static readonly layer = Layer.effect(
    Secrecy,
    Effect.gen(function* () {
      const processes = yield* Processes
      const cache = yield* Cache.make({
        capacity,
        // The texts are JSON: the service has made them from JSON.
        lookup: (key: string) =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => {
              // `placesOf` has made it.
              const [schema, sensitive] = JSON.parse(key) as [string | null, ReadonlyArray<string>]
              return compile(schema === null ? null : ExactJson.parse(schema), sensitive)
            })
          )
      })
      const placesOf = ({ inputSchema, sensitive }: Pick<StoredSecrecy, "inputSchema" | "sensitive">) =>
        Cache.get(cache, JSON.stringify([inputSchema, sensitive]))
      const of = Effect.fnUntraced(function* (ids: ReadonlyArray<ProcessId>) {
        const found = new Map<ProcessId, Secret>()
        for (const [id, stored] of yield* processes.secrecyOf([...new Set(ids)])) {
          const places = yield* placesOf(stored)
          if (!places.isEmpty) found.set(id, { places, files: stored.sensitiveFiles })
        }
        return found
      })
      return Secrecy.of({
        placesOf,
        of,
        isIn: (workspace) =>
          Effect.map(Effect.flatMap(processes.maybeSecret(workspace), of), (found) => found.size > 0),
        cleaned: Effect.fnUntraced(function* (process, payload, exception) {
          const secret = (yield* of([process])).get(process)
          if (secret === undefined) return exception
          const texts = secret.places.textsOf(yield* payload).filter(({ length }) => length >= leastText)
          if (texts.length === 0) return exception
          // The longest first: one may be a part of another.
          const longestFirst = texts.toSorted((one, other) => other.length - one.length)
          const clean = (text: string) =>
            longestFirst.reduce((cleaned, secret) => cleaned.replaceAll(secret, () => replacement), text)
          return { ...exception, code: clean(exception.code), message: clean(exception.message) }
        })
      })
    })
  )
}
