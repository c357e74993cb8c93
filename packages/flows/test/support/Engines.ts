/**
 * The engines that the conformance suites go over.
 */
import * as TestPort from "@signalbox/testkit/FreePort"
import { dropSchema, urlVariable } from "@signalbox/testkit/Postgres"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FlowEngine, type FlowEngineError } from "../../src/FlowEngine.ts"
import type { FlowStore } from "../../src/internal/FlowStore.ts"

/** The parts of an engine, for tests that go below flows. */
export const parts = (engine: Layer.Layer<FlowEngine, FlowEngineError>) =>
  Layer.effectContext(
    // All engines are made of them, by `withRegistered`.
    Effect.map(FlowEngine, ({ parts }) => parts as Context.Context<WorkflowEngine | FlowStore>)
  ).pipe(Layer.provide(Layer.fresh(engine)))

/** A file in a folder of its own. */
export const temporaryFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-flows-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "flows.db")
)

/** The Postgres of the project at hand. */
export const postgresUrl = process.env[urlVariable] ?? ""

/** A schema of its own. */
export const temporarySchema = Effect.acquireRelease(
  Effect.sync(() => `flows_${randomUUID().replaceAll("-", "")}`),
  (schema) => dropSchema(postgresUrl, schema)
)

export const postgresOptions = (schema: string) => ({ url: Redacted.make(postgresUrl), schema })

export const sqlite = Effect.map(temporaryFile, (file) => parts(FlowEngine.layerSqlite({ file })))

export const memory = Effect.succeed(parts(FlowEngine.layerMemory))

export const postgres = Effect.map(temporarySchema, (schema) =>
  parts(FlowEngine.layerPostgres(postgresOptions(schema)))
)

export const freePort = Effect.promise(() => TestPort.freePort())

/** A runner on a port that is free. */
export const runner = (schema: string) =>
  Layer.unwrap(
    Effect.map(freePort, (port) => FlowEngine.layerCluster({ ...postgresOptions(schema), host: "127.0.0.1", port }))
  )

/** It tells a lot about runners that come and go, which they do here. */
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

export const cluster = Effect.map(temporarySchema, (schema) => Layer.provide(parts(runner(schema)), quiet))
