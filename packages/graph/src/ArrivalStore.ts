/**
 * Where `Arrivals` stores how far it has come: the link that the next look begins with, and what it has handed over. Here the service, a
 * file, and memory for tests; implement the service to store it elsewhere, such as in a database.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { makeFolder, writeWhole } from "./internal/files/LocalFile.ts"

/** How far the looks have come: JSON, without secrets. */
export const ArrivalState = Schema.Struct({
  /** The name of the source. */
  source: Schema.String,
  /** What the next look begins with; null: no look has come to its end yet. */
  link: Schema.NullOr(Schema.String),
  /** What was handed over and is still there, by its id: the version that it had. */
  seen: Schema.Record(Schema.String, Schema.String)
})
export interface ArrivalState extends Schema.Schema.Type<typeof ArrivalState> {}

/** The store could not be read or written; the message says which one and what to do. */
export class ArrivalStoreError extends TaggedError<ArrivalStoreError>()("ArrivalStoreError", {
  message: Schema.String
}) {}

const stored = Schema.fromJsonString(ArrivalState)
const decode = Schema.decodeEffect(stored)
const encode = Schema.encodeEffect(stored)

export class ArrivalStore extends Context.Service<
  ArrivalStore,
  {
    /** Returns the state; none before the first look. */
    readonly load: Effect.Effect<Option.Option<ArrivalState>, ArrivalStoreError>
    /** Replaces the state, wholly or not at all. */
    readonly save: (state: ArrivalState) => Effect.Effect<void, ArrivalStoreError>
  }
>()("@signalbox/graph/ArrivalStore") {
  /** A state that ends with the program; it may start with one. */
  static readonly layerMemory = (initial?: ArrivalState): Layer.Layer<ArrivalStore> =>
    Layer.effect(
      ArrivalStore,
      Effect.map(Ref.make(Option.fromUndefinedOr(initial)), (ref) =>
        ArrivalStore.of({ load: Ref.get(ref), save: (state) => Ref.set(ref, Option.some(state)) })
      )
    )

  /**
   * A state in a file of its own, replaced as a whole; its folder is made when it is missing. One program at a time writes to it.
   *
   * ```ts
   * import { ArrivalStore } from "@signalbox/graph/ArrivalStore"
   *
   * export const store = ArrivalStore.layerFile("./state/inbox.json")
   * ```
   */
  static readonly layerFile = (path: string): Layer.Layer<ArrivalStore, never, FileSystem.FileSystem | Path.Path> =>
    Layer.effect(
      ArrivalStore,
      Effect.gen(function* () {
        const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
        const fs = yield* FileSystem.FileSystem
        const paths = yield* Path.Path
        const failed = (error: { readonly message: string }) => new ArrivalStoreError({ message: error.message })
        const unreadable = new ArrivalStoreError({
          message: `${path} does not hold the state of arrivals: name another file, or remove it to begin anew`
        })
        return ArrivalStore.of({
          load: Effect.gen(function* () {
            const text = yield* fs.readFileString(path).pipe(
              Effect.asSome,
              Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone),
              Effect.mapError(({ message }) => failed({ message: `cannot read ${path}: ${message}` }))
            )
            if (Option.isNone(text)) return Option.none()
            return Option.some(yield* Effect.mapError(decode(text.value), () => unreadable))
          }),
          save: (state) =>
            Effect.gen(function* () {
              const text = yield* Effect.orDie(encode(state))
              yield* makeFolder(paths.dirname(path))
              yield* writeWhole(path, Stream.succeed(new TextEncoder().encode(text)), null)
            }).pipe(Effect.mapError(failed), Effect.provideContext(services))
        })
      })
    )
}
