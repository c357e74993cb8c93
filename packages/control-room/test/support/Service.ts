/**
 * The real service for tests: a real HTTP server on a free port over a real SQLite file in a new folder.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Permission } from "@signalbox/api/contract/Authorization"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as StepRunSession from "@signalbox/api/robot/StepRunSession"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as WorkersClient from "@signalbox/api/Workers"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpServer from "effect/http/HttpServer"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Server from "../../src/Server.ts"
import { Runs } from "../../src/Runs.ts"
import { Workspaces } from "../../src/store/Workspaces.ts"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: any
}

export interface RawRequest {
  readonly key?: string | null
  readonly body?: unknown
  readonly rawBody?: string | Uint8Array | FormData
  readonly headers?: Record<string, string>
}

export class Service extends Context.Service<
  Service,
  {
    readonly origin: string
    readonly folder: string
    readonly workspaceId: WorkspaceId
    /** A key with every permission. */
    readonly key: string
    readonly makeKey: (permissions: ReadonlyArray<Permission>, workspace?: WorkspaceId) => Effect.Effect<string>
    readonly otherWorkspace: Effect.Effect<WorkspaceId>
    /** A request as any client could make it; paths without a leading slash are below the workspace. */
    readonly raw: (method: string, path: string, request?: RawRequest) => Effect.Effect<Answer>
  }
>()("test/Service") {}

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const service = (folder: string) =>
  Layer.effect(
    Service,
    Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      const workspaces = yield* Workspaces
      const workspace = (yield* workspaces.first) ?? (yield* workspaces.create("test"))
      const { key } = yield* workspaces.createKey(workspace.id, "test", Permission.literals)
      const origin = HttpServer.formatAddress(server.address)
      return Service.of({
        origin,
        folder,
        workspaceId: workspace.id,
        key,
        makeKey: (permissions, owner = workspace.id) =>
          Effect.map(workspaces.createKey(owner, "test", permissions), (made) => made.key),
        otherWorkspace: Effect.map(workspaces.create("other"), (other) => other.id),
        raw: (method, path, request = {}) =>
          Effect.promise(async () => {
            const url = path.startsWith("http")
              ? path
              : origin + (path.startsWith("/") ? path : `/api/v1/workspaces/${workspace.id}/${path}`)
            const authorization = request.key === null ? {} : { authorization: `RC-WSKEY ${request.key ?? key}` }
            const json = request.body === undefined ? {} : { "content-type": "application/json" }
            const body = request.rawBody ?? (request.body === undefined ? undefined : JSON.stringify(request.body))
            const response = await fetch(url, {
              method,
              headers: { ...authorization, ...json, ...request.headers },
              ...(body === undefined ? {} : { body: body as BodyInit })
            })
            const text = await response.text()
            return { status: response.status, headers: response.headers, text, body: parse(text) }
          })
      })
    })
  )

/** Everything, in a folder that stays. */
export const layerIn = (folder: string) =>
  Layer.unwrap(
    Effect.map(Service, ({ key, origin, workspaceId }) =>
      ControlRoom.layerHttpClient({ baseUrl: origin, workspaceId, apiKey: Redacted.make(key) })
    )
  ).pipe(
    Layer.provideMerge(service(folder)),
    Layer.provideMerge(NodeHttpClient.layerUndici),
    Layer.provideMerge(Server.layer()),
    Layer.provideMerge(Server.layerStorage({ data: folder })),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 }))
  )

/** Everything, in a folder of its own. */
export const layer = Layer.unwrap(Effect.map(temporaryFolder, layerIn))

/** A worker that does what the test says, through the workers' own interface. */
export const linkWorker = Effect.fnUntraced(function* (tasks: ReadonlyArray<string>) {
  const { origin } = yield* Service
  const { link_token } = yield* WorkersClient.createLinkToken()
  const identity = yield* WorkerProtocol.link({ origin, linkToken: Redacted.make(link_token), name: "test", tasks })
  const protocol = yield* WorkerProtocol.make(origin, identity)
  const session = (lease: WorkerProtocol.Lease) =>
    StepRunSession.make({
      origin,
      token: Redacted.make(lease.run_token),
      workspaceId: identity.workspaceId,
      processId: lease.process_id,
      processRunId: lease.process_run_id,
      stepRunId: lease.step_run_id
    })
  /** Leases and starts one step run; fails the test when none comes. */
  const take = Effect.gen(function* () {
    const [lease] = yield* protocol.lease({ free: 1, tasks, waitSeconds: 5 })
    if (lease === undefined) return yield* Effect.die(new Error("no step run to lease"))
    yield* protocol.start(lease)
    return { lease, session: yield* session(lease) }
  })
  return { identity, protocol, session, take }
})

export { Runs }
