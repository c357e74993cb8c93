/**
 * Files of robots as the console shows them: their logs, and pictures. Nothing in them is trusted. Addresses that are signed
 * (`Transfers`) never show a file.
 */
import type { Permission } from "@signalbox/api/contract/Authorization"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { extname } from "node:path"
import { BlobStore } from "../../BlobStore.ts"
import { ConsoleCookies } from "../edge/ConsoleCookies.ts"
import { shownFilesPath } from "../edge/ConsoleRoutes.ts"
import { refuse } from "../edge/Failures.ts"
import { AccountSessions } from "../store/access/AccountSessions.ts"
import { Secrecy } from "../runs/Secrecy.ts"
import { ConsoleSessions } from "../store/access/ConsoleSessions.ts"
import { Memberships } from "../store/access/Memberships.ts"
import { Files, type StoredFile } from "../store/files/Files.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import type * as Tokens from "../vault/Tokens.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import { blobResponse } from "./BlobResponses.ts"
import { attachmentHeaders } from "./Transfers.ts"

interface Shown {
  readonly contentType: string
  /** Bytes. */
  readonly most: number
  readonly policy: string
}

const megabyte = 1024 * 1024

/** Its scripts run in an origin of their own, without network, and only in a page of this service. */
const page: Shown = {
  contentType: "text/html; charset=utf-8",
  most: 100 * megabyte,
  policy: [
    "sandbox allow-scripts",
    "default-src 'none'",
    "script-src 'unsafe-inline' 'unsafe-eval' data: blob:",
    "style-src 'unsafe-inline' data:",
    "img-src data: blob:",
    "font-src data:",
    "media-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'"
  ].join("; ")
}
const quiet = "sandbox; default-src 'none'; frame-ancestors 'self'"
const picture = (kind: string): Shown => ({ contentType: `image/${kind}`, most: 32 * megabyte, policy: quiet })
const text: Shown = { contentType: "text/plain; charset=utf-8", most: megabyte, policy: quiet }

/** By the end of their names: what a robot says of a type counts for nothing. All else is downloaded. */
const shown: ReadonlyMap<string, Shown> = new Map([
  [".html", page],
  [".htm", page],
  [".png", picture("png")],
  [".jpg", picture("jpeg")],
  [".jpeg", picture("jpeg")],
  [".webp", picture("webp")],
  ...[".txt", ".log", ".csv", ".json", ".xml", ".yaml", ".yml", ".md"].map((end) => [end, text] as const)
])

/** A page that was opened by its address would have a window of its own, and could lead it anywhere. */
const isFramed = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  headers["sec-fetch-dest"] === undefined || headers["sec-fetch-dest"] === "iframe"

const headersOf = (name: string, how: Shown | undefined) =>
  how === undefined
    ? attachmentHeaders(name)
    : {
        "cache-control": "private, no-cache",
        "content-disposition": "inline",
        "content-security-policy": how.policy,
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff"
      }

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const cookies = yield* ConsoleCookies
    const sessions = yield* ConsoleSessions
    const userSessions = yield* AccountSessions
    const memberships = yield* Memberships
    const files = yield* Files
    const blobs = yield* BlobStore
    const stepRuns = yield* StepRuns
    const items = yield* WorkItems
    const secrecy = yield* Secrecy

    const ended = () => refuse(401, "UNAUTHENTICATED", "no session; open the console again")
    const missing = () => refuse(404, "NOT_FOUND", "the file does not exist, or was deleted")

    /** What a session needs to see a file; null for files that are not shown. */
    const neededFor = Effect.fnUntraced(function* (
      workspace: WorkspaceId,
      { ownerId }: StoredFile
    ): Effect.fn.Return<ReadonlyArray<Permission> | null> {
      const stepRun = (yield* stepRuns.get(workspace, ownerId)) === null ? null : yield* stepRuns.find(ownerId)
      const owner = stepRun ?? (yield* items.get(workspace, ownerId))
      if (owner === null) return null
      const secret = (yield* secrecy.of([owner.processId])).get(owner.processId)
      return [
        stepRun === null ? "Processes.read_work_items" : "Processes.read_run_outputs",
        ...(secret?.files === true ? (["Processes.read_sensitive"] as const) : [])
      ]
    })

    const visitIn = Effect.fnUntraced(function* (
      workspace: WorkspaceId,
      id: string,
      permissions: ReadonlySet<Permission>
    ) {
      const file = yield* files.find(workspace, id)
      return file === null ? null : { file, needed: yield* neededFor(workspace, file), permissions }
    })

    /** A file in a workspace of a session, and what the session may do there. Fails when the session has ended. */
    const visitOf = Effect.fnUntraced(function* (token: Tokens.Token, id: string) {
      if (token.kind !== "userSession") {
        const session = (yield* sessions.find(token)) ?? (yield* ended())
        return yield* visitIn(session.workspaceId, id, session.permissions)
      }
      const { account } = (yield* userSessions.find(token, null, true)) ?? (yield* ended())
      for (const { workspace } of yield* memberships.of(account.id)) {
        const here = yield* userSessions.find(token, workspace.id, false)
        const visit = here === null ? null : yield* visitIn(workspace.id, id, here.permissions)
        if (visit !== null) return visit
      }
      return null
    })

    const serve = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const refusal = cookies.refusalOf(request)
      if (refusal !== null) return yield* refuse(403, "FORBIDDEN", refusal)
      const token = cookies.tokenOf(request)
      const { params } = yield* HttpRouter.RouteContext
      if (token === null) return yield* ended()
      const { file, needed, permissions } = (yield* visitOf(token, params["file_id"] ?? "")) ?? (yield* missing())
      if (needed === null) return yield* missing()
      const lacking = needed.find((permission) => !permissions.has(permission))
      if (lacking !== undefined) {
        return yield* refuse(403, "FORBIDDEN", `this session lacks the permission ${lacking}`)
      }
      const known = shown.get(extname(file.name).toLowerCase())
      const fits = known !== undefined && file.size <= known.most && (known !== page || isFramed(request))
      const how = fits ? known : undefined
      const name = file.name.slice(file.name.lastIndexOf("/") + 1)
      const response = blobResponse(blobs, file, {
        contentType: how?.contentType ?? "application/octet-stream",
        headers: headersOf(name, how)
      })
      return yield* Effect.mapError(response, missing)
    })

    yield* router.add("GET", `${shownFilesPath}/:file_id`, serve)
  })
)
