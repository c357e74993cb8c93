/**
 * Step runs over HTTP, with their events, artifacts and console messages.
 */
import { ArtifactId, type StepRunId, type WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { PageRequest } from "../store/database/Database.ts"
import { Files, type StoredFile } from "../store/files/Files.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import { WorkerReports } from "../store/runs/WorkerReports.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { invalidRequest, notFound, orNotFound } from "../edge/Failures.ts"
import { Masking } from "./Masking.ts"
import { FileLinks } from "../transfers/FileLinks.ts"
import { Pagination } from "../edge/Pagination.ts"

/** Console messages per page. */
const messagesInPage = 1000

const cursorIn = ({ cursor }: { readonly cursor?: string | undefined }) =>
  cursor === undefined ? "" : `?${new URLSearchParams({ cursor })}`

const listed = ({ id, name, size }: StoredFile) => ({ id: ArtifactId.make(id), name, size })

export const layer = Endpoints.group(
  "stepRuns",
  Effect.fnUntraced(function* (handlers) {
    const store = yield* StepRuns
    const runStore = yield* ProcessRuns
    const files = yield* Files
    const reports = yield* WorkerReports
    const links = yield* FileLinks
    const { needFiles } = yield* Masking
    const { after, page } = yield* Pagination
    const find = (params: { readonly workspace_id: WorkspaceId; readonly step_run_id: string }) =>
      orNotFound("step run", params.step_run_id, store.get(params.workspace_id, params.step_run_id))
    /** Like `find`, for what may be secret with fields of payloads. */
    const findOpen = (params: Parameters<typeof find>[0]) =>
      Effect.tap(find(params), ({ id }) => needFiles(Effect.map(store.find(id), (stored) => stored?.processId ?? null)))
    /** The page that begins at a position; more may be written while it is read. */
    const pageFrom = Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      stepRun: StepRunId,
      asked: number,
      limit: number
    ) {
      const total = yield* reports.countMessages(stepRun)
      const position = Math.max(0, Math.min(asked < 0 ? total + asked : asked, total))
      const before = position === 0 ? null : yield* reports.messageAt(stepRun, position - 1)
      // Retention deletes them while this is read.
      const isGone = position > 0 && before === null
      let newest = before
      const fetch = (from: PageRequest) =>
        Effect.tap(reports.listMessages(stepRun, "oldest first", { ...from, after: before }), ({ rows }) =>
          Effect.sync(() => {
            newest = rows.at(-1)?.id ?? before
          })
        )
      const nothing = { data: [], has_more: false, next: null }
      const found = isGone ? nothing : yield* page(request, {}, fetch, Effect.succeed, limit)
      const newer = yield* after(request, {}, newest)
      return {
        ...found,
        next: found.has_more ? newer : null,
        newer,
        position: isGone ? 0 : position,
        total: isGone ? 0 : Math.max(total, position + found.data.length)
      }
    })
    return handlers.handleAll({
      getStepRun: ({ params }) => find(params),
      listStepRuns: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = query.process_run_id
        const run = yield* orNotFound("process run", id, runStore.get(params.workspace_id, id))
        return yield* page(request, query, (from) => store.list(run.id, from), Effect.succeed)
      }),
      listStepRunEvents: Effect.fnUntraced(function* ({ params, query, request }) {
        const stepRun = yield* find(params)
        return yield* page(request, query, (from) => store.listEvents(stepRun.id, from), Effect.succeed)
      }),
      listStepRunArtifacts: Effect.fnUntraced(function* ({ params, query, request }) {
        const stepRun = yield* findOpen(params)
        return yield* page(
          request,
          query,
          (from) => files.list(stepRun.id, from),
          (rows) => Effect.succeed(rows.map(listed))
        )
      }),
      getStepRunArtifact: Effect.fnUntraced(function* ({ params }) {
        const stepRun = yield* findOpen(params)
        const file = yield* files.find(params.workspace_id, params.artifact_id)
        if (file === null || file.ownerId !== stepRun.id) return yield* notFound("artifact", params.artifact_id)
        const { download } = yield* links.file(params.workspace_id, file)
        return { ...listed(file), url: download.url }
      }),
      listStepRunConsoleMessages: Effect.fnUntraced(function* ({ params, query, request }) {
        const stepRun = yield* findOpen(params)
        const { count = messagesInPage, order, position, ...whole } = query
        if (position !== undefined) {
          if (order !== undefined || query.cursor !== undefined) {
            return yield* invalidRequest("position: cannot be combined with `cursor` or `order`; leave them out")
          }
          return yield* pageFrom(request, stepRun.id, position, Math.min(count, messagesInPage))
        }
        const isNewestFirst = order === "newest_first"
        let newest: string | undefined
        const fetch = (from: PageRequest) =>
          Effect.tap(
            reports.listMessages(stepRun.id, isNewestFirst ? "newest first" : "oldest first", from),
            ({ rows }) =>
              Effect.sync(() => {
                newest = rows.at(isNewestFirst ? 0 : -1)?.id
              })
          )
        const found = yield* page(request, query, fetch, Effect.succeed, messagesInPage)
        const known = { ...found, position: null, total: yield* reports.countMessages(stepRun.id) }
        if (newest !== undefined) return { ...known, newer: yield* after(request, {}, newest) }
        // Nothing was written since.
        return { ...known, newer: `${yield* after(request, {}, null)}${isNewestFirst ? "" : cursorIn(whole)}` }
      })
    })
  })
)
