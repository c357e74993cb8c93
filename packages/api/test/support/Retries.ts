/** A client beside a server that fails as told, in virtual time. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import { ProcessId, ProcessRunId, WorkItemId, WorkspaceId } from "../../src/contract/Ids.ts"
import { ControlRoom, type Options } from "../../src/ControlRoom.ts"
import { type CallError } from "../../src/ControlRoomError.ts"
import * as ProcessRuns from "../../src/ProcessRuns.ts"
import * as WorkItems from "../../src/WorkItems.ts"
import { answer, type Fault, type FaultServer, make, settle } from "./FaultServer.ts"

export const workItem = {
  id: "item",
  created_at: "2026-11-20T00:00:00.000Z",
  state: "new",
  state_updated_at: null,
  process: { id: "process" },
  process_run: null,
  step: null,
  step_run: null,
  exception: null,
  payload: null,
  files: []
}

export const runningRun = {
  id: "run",
  state: "in_progress",
  created_at: "2026-11-20T00:00:00.000Z",
  started_at: null,
  ended_at: null,
  process: { id: "process", name: "process" },
  started_by: { type: "api", details: null },
  duration: null
}

export const good = answer(200, workItem)
export const goodWithKeys = answer(200, workItem, { "idempotency-key-ttl": "86400" })
export const deleted = answer(200, { id: "run", deleted: true })

export const connect = (server: FaultServer, options: Partial<Options> = {}) =>
  Layer.provide(
    ControlRoom.layerHttpClient({
      baseUrl: server.origin,
      apiKey: Redacted.make("key"),
      workspaceId: WorkspaceId.make("workspace"),
      ...options
    }),
    server.http
  )

/** The same random pauses in every run. */
export const samePauses = Random.withSeed("pauses")

export interface Outcome {
  readonly tag: string
  readonly reason: string | undefined
  readonly sent: number
  readonly pauses: ReadonlyArray<number>
  readonly keys: ReadonlyArray<string | undefined>
}

export const outcome = Effect.fnUntraced(function* <A>(
  server: FaultServer,
  faults: ReadonlyArray<Fault>,
  call: Effect.Effect<A, CallError, ControlRoom>,
  step?: number
) {
  server.script(faults)
  const result = yield* settle(server, Effect.result(call), step)
  const received = server.received()
  const error = result._tag === "Failure" ? result.failure : undefined
  return {
    tag: error?._tag ?? "success",
    reason: error?._tag === "ControlRoomError" ? error.reason._tag : undefined,
    sent: received.length,
    pauses: received.slice(1).map((request, index) => request.at - (received[index]?.at ?? 0)),
    keys: received.map((request) => {
      const key = request.headers["idempotency-key"]
      return Array.isArray(key) ? key[0] : key
    })
  } satisfies Outcome
})

export const withServer = <A, E>(
  body: (server: FaultServer) => Effect.Effect<A, E, ControlRoom>,
  options: Partial<Options> = {}
) =>
  Effect.gen(function* () {
    const server = yield* make
    return yield* Effect.provide(body(server), connect(server, options))
  }).pipe(samePauses, Effect.scoped)

export const get = WorkItems.get(WorkItemId.make("item"))
export const post = WorkItems.create({ process: ProcessId.make("process") })
export const remove = ProcessRuns.remove(ProcessRunId.make("run"))
