/** Whether the storage can be used, for `/readyz`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { BlobStore } from "../../BlobStore.ts"
import { storageFailures } from "../telemetry/Counters.ts"
import { Database } from "../store/database/Database.ts"
import { QueryDeadline } from "@signalbox/sql/QueryDeadline"
import * as StorageFailure from "@signalbox/sql/StorageFailure"

/** The time limit of a probe. */
const deadline = "2 seconds"

export class StorageHealth extends Context.Service<
  StorageHealth,
  {
    /** Reports the failure of a request: the next checks also write to the database until that succeeds. */
    readonly report: (failure: StorageFailure.StorageFailure) => Effect.Effect<void>
    /** Reads from the database and writes to the folder of files. Null: both can be used. Takes 2 s at most. */
    readonly check: Effect.Effect<StorageFailure.StorageFailure | null>
  }
>()("@signalbox/control-room/storage/StorageHealth") {
  static readonly layer = Layer.effect(
    StorageHealth,
    Effect.gen(function* () {
      const { probeRead, probeWrite } = yield* Database
      const blobs = yield* BlobStore
      let reported = false
      const failureOf = <A, E>(probe: Effect.Effect<A, E>, otherwise: StorageFailure.Kind) =>
        Effect.matchCause(probe, {
          onSuccess: () => null,
          onFailure: (cause) => StorageFailure.ofCause(cause) ?? StorageFailure.make(otherwise)
        })
      const writable = Effect.suspend(() => (reported ? probeWrite : Effect.void)).pipe(
        Effect.tap(() => Effect.sync(() => (reported = false)))
      )
      // Anyone may call it, and each write waits for the disk.
      const [folder, forgetFolder] = yield* Effect.cachedInvalidateWithTTL(
        failureOf(Effect.timeout(blobs.probe, deadline), "disk"),
        "1 second"
      )
      const check = failureOf(Effect.andThen(probeRead, writable), "unavailable").pipe(
        Effect.filterOrElse(
          (failure) => failure !== null,
          () => folder
        ),
        Effect.provideService(QueryDeadline, deadline)
      )
      return StorageHealth.of({
        report: ({ kind }) =>
          Effect.gen(function* () {
            yield* Metric.update(storageFailures(kind), 1)
            if (kind === "unavailable") return
            reported = true
            // A database whose log has space left takes a small write on a full disk; the folder of files takes none.
            yield* forgetFolder
          }),
        check
      })
    })
  )
}
