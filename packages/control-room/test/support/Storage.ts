/** The storages for tests of runs, with the commands on runs and without servers or timers. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { NextItems } from "../../src/internal/runs/NextItems.ts"
import { Runs } from "../../src/internal/runs/Runs.ts"
import * as StorageLayers from "../../src/internal/service/StorageLayers.ts"
import { WorkSignal } from "../../src/internal/runs/WorkSignal.ts"
import { storageIn, temporaryFolder } from "./Service.ts"

/** The commands on a storage. */
export const runsOn = <A, E, R>(storage: Layer.Layer<A, E, R>) =>
  Layer.merge(Runs.layer, NextItems.layer).pipe(Layer.provideMerge(WorkSignal.layer), Layer.provideMerge(storage))

/** A SQLite file in a new folder. */
export const sqlite = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => StorageLayers.layerStorage({ data: folder }))
).pipe(Layer.provide(NodeServices.layer))

/** The database of the current project, in a separate schema or file. */
export const database = Layer.unwrap(
  Effect.map(temporaryFolder, (folder) => StorageLayers.layerStorage(storageIn(folder)))
).pipe(Layer.provide(NodeServices.layer))
