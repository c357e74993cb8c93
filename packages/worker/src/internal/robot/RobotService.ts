/** The interface of every robot, whole or in parts. */
import type { SizedBytes } from "@signalbox/api/Upload"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type { ItemSource } from "../items/ItemSource.ts"
import type { AssetMissing, RobotError, SecretMissing } from "../../RobotError.ts"

/** The items of a secret; one that is not text has its JSON. */
export type Secret = Readonly<Record<string, Redacted.Redacted>>

/**
 * The robot of the running task. Use the functions of `@signalbox/worker/Robot`; implement this service for another
 * kind of robot.
 */
export class Robot extends Context.Service<
  Robot,
  {
    readonly items: ItemSource
    readonly secret: (name: string) => Effect.Effect<Secret, SecretMissing | RobotError>
    readonly asset: (name: string) => Stream.Stream<Uint8Array, AssetMissing | RobotError>
    /** Stores the content of the asset with the name of `content`. */
    readonly setAsset: (content: SizedBytes, contentType: string) => Effect.Effect<void, RobotError>
    /** Its name is the path below the folder of artifacts. */
    readonly saveArtifact: (file: SizedBytes) => Effect.Effect<void, RobotError>
  }
>()("@signalbox/worker/Robot") {}
