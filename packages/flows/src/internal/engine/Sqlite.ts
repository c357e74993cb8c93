/**
 * The embedded engine on SQLite.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Sqlite from "../sql/Sqlite.ts"
import { layerEmbedded } from "./Layers.ts"

export const layer = (file: string) =>
  // The file is locked as long as it is open.
  Layer.provide(
    layerEmbedded(() => Effect.void),
    Sqlite.layer(file)
  )
