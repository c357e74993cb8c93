/** The robot side: what a task may do while its step run is in progress. */
import { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import type { Settlement } from "@signalbox/api/contract/Robot"
import type { NotFoundResponse } from "@signalbox/api/contract/Responses"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as UnusedBlobs from "../blobs/UnusedBlobs.ts"
import type { Exception } from "../engine/State.ts"
import { checkPayload } from "../edge/PayloadSize.ts"
import { limits, maxFilesPerItem, tooManyFiles } from "../settings/Limits.ts"
import * as Engine from "../engine/Engine.ts"
import { Refused } from "../engine/Refused.ts"
import { Runs } from "../runs/Runs.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import { Outputs } from "../store/items/Outputs.ts"
import { ProcessRuns } from "../store/runs/ProcessRuns.ts"
import { RunItems } from "../store/items/RunItems.ts"
import { StepRuns } from "../store/runs/StepRuns.ts"
import type { StoredStepRun } from "../store/runs/StoredStepRun.ts"
import { WorkItems } from "../store/items/WorkItems.ts"
import * as Endpoints from "../edge/Endpoints.ts"
import { refusals, conflict, notFound, tooLarge } from "../edge/Failures.ts"
import { FileLinks } from "../transfers/FileLinks.ts"

/** Finds the step run whose token a request came with. */
const stepRunOfToken = Effect.map(StepRuns, (store) => {
  const own = Effect.gen(function* () {
    const principal = yield* CurrentPrincipal
    const stepRun = principal._tag === "StepRun" ? yield* store.find(principal.stepRunId) : null
    return stepRun ?? (yield* notFound("step run", "of this token"))
  })
  return {
    /** A token of an ended step run cannot even read. */
    live: Effect.gen(function* () {
      const stepRun = yield* own
      const ended = Engine.notRunning(stepRun)
      return ended === null ? stepRun : yield* refusals("LEASE_LOST")(new Refused(ended))
    }),
    /**
     * The step run of the token, live or ended, if the URL names that one; the engine refuses the commands of an ended
     * one.
     */
    named: Effect.fnUntraced(function* (params: {
      readonly process_id: string
      readonly process_run_id?: string
      readonly step_run_id?: string
    }) {
      const stepRun = yield* own
      const named: ReadonlyArray<readonly [what: string, given: string | undefined, own: string]> = [
        ["process", params.process_id, stepRun.processId],
        ["process run", params.process_run_id, stepRun.processRunId],
        ["step run", params.step_run_id, stepRun.id]
      ]
      for (const [what, given, actual] of named) {
        if (given !== undefined && given !== actual) return yield* notFound(what, given)
      }
      return stepRun
    })
  }
})

const exceptionTypes = { BUSINESS: "business", APPLICATION: "application" } as const

/** The exception of a failed item, null when it is completed. */
export const exceptionOf = ({ exception, state }: Settlement): Exception | null =>
  state === "COMPLETED"
    ? null
    : {
        code: exception?.code ?? "",
        type: exception === undefined ? "unspecified" : exceptionTypes[exception.type],
        message: exception?.message ?? ""
      }

const process = Endpoints.group(
  "robotProcess",
  Effect.fnUntraced(function* (handlers) {
    const runs = yield* Runs
    const { named } = yield* stepRunOfToken
    return handlers.handleAll({
      reserveNextWorkItem: Effect.fnUntraced(function* ({ params }) {
        const stepRun = yield* named(params)
        const item = yield* refusals("CONFLICT", "LEASE_LOST")(runs.reserveNext(stepRun))
        return { workItemId: item }
      }),
      releaseWorkItem: Effect.fnUntraced(function* ({ params, payload }) {
        const stepRun = yield* named(params)
        const exception = exceptionOf(payload)
        const released = runs.release(stepRun, payload.workItemId, exception, payload.dropOutputs === true)
        yield* refusals("CONFLICT", "LEASE_LOST", "NOT_FOUND")(released)
        return {}
      }),
      createOutput: Effect.fnUntraced(function* ({ params, payload }) {
        const stepRun = yield* named(params)
        yield* checkPayload(payload.payload)
        const id = yield* refusals(
          "CONFLICT",
          "LEASE_LOST",
          "NOT_FOUND"
        )(runs.createOutput(stepRun, params.work_item_id, payload.payload))
        return { id }
      })
    })
  })
)

interface Owner {
  readonly id: string
  readonly payload: Schema.Json
}

const data = Endpoints.group(
  "robotData",
  Effect.fnUntraced(function* (handlers) {
    const { live } = yield* stepRunOfToken
    const items = yield* WorkItems
    const runItems = yield* RunItems
    const outputs = yield* Outputs
    const runs = yield* ProcessRuns
    const dropBlobs = yield* UnusedBlobs.make
    const { transaction } = yield* Database
    const notReserved = () => conflict("the work item is not reserved by this step run; reserve it first")
    const files = yield* Files
    const links = yield* FileLinks
    /** An item of the run, or an output that this step run is creating. */
    const find = Effect.fnUntraced(function* (stepRun: StoredStepRun, id: string) {
      const item = yield* items.get(stepRun.workspaceId, id)
      if (item !== null && item.processRunId === stepRun.processRunId) {
        return {
          id: item.id,
          payload: item.payload,
          writable: item.stepRun === stepRun.id && item.state === "in_progress"
        }
      }
      const output = yield* outputs.open(id)
      if (output !== null && output.stepRunId === stepRun.id)
        return { id: output.id, payload: output.payload, writable: true }
      return yield* notFound("work item", id)
    })
    const owner = (id: string) =>
      Effect.flatMap(live, (stepRun): Effect.Effect<Owner, NotFoundResponse> => find(stepRun, id))
    return handlers.handleAll({
      getWorkItemData: Effect.fnUntraced(function* ({ params }) {
        const { id, payload } = yield* owner(params.work_item_id)
        return payload ?? (yield* notFound("payload of the work item", id))
      }),
      listWorkItemFiles: Effect.fnUntraced(function* ({ params }) {
        const found = yield* owner(params.work_item_id)
        const known = yield* files.ofOwners([found.id])
        return known.map((file) => ({ fileId: file.id, fileName: file.name, fileSize: file.size }))
      }),
      getWorkItemFile: Effect.fnUntraced(function* ({ params }) {
        const found = yield* owner(params.work_item_id)
        const file = yield* files.find(params.workspace_id, params.file_id)
        if (file === null || file.ownerId !== found.id) return yield* notFound("file", params.file_id)
        return { url: (yield* links.file(params.workspace_id, file)).download.url }
      }),
      putWorkItemData: Effect.fnUntraced(function* ({ params, payload }) {
        const stepRun = yield* live
        const found = yield* find(stepRun, params.work_item_id)
        const json = yield* checkPayload(payload ?? null, "the payload")
        const written =
          (yield* runItems.setPayload(stepRun.id, found.id, json)) ||
          (yield* outputs.setPayload(stepRun.id, found.id, json))
        return written ? {} : yield* notReserved()
      }),
      deleteWorkItemFile: Effect.fnUntraced(function* ({ params }) {
        const stepRun = yield* live
        const removed = Effect.gen(function* () {
          yield* runs.lock(stepRun.processRunId)
          const found = yield* find(stepRun, params.work_item_id)
          if (!found.writable) return yield* notReserved()
          return yield* files.remove(found.id, params.file_id)
        })
        const blob = yield* transaction(removed)
        if (blob === null) return yield* notFound("file", params.file_id)
        yield* dropBlobs([blob])
        return {}
      }),
      createRobotFile: Effect.fnUntraced(function* ({ params, payload }) {
        const stepRun = yield* live
        const found = yield* find(stepRun, params.work_item_id)
        if (!found.writable) {
          return yield* notReserved()
        }
        if (payload.fileSize > limits.file) {
          return yield* tooLarge(`fileSize: ${payload.fileSize} bytes are more than the ${limits.file} allowed`)
        }
        if ((yield* files.countOthers(found.id, payload.fileName)) >= maxFilesPerItem)
          return yield* conflict(tooManyFiles)
        const form = yield* links.uploadForm(
          { workspace: params.workspace_id, id: found.id, stepRun: stepRun.id },
          { file_name: payload.fileName, file_size: payload.fileSize }
        )
        return { url: form.url, fields: form.form_data }
      })
    })
  })
)

export const layer = Layer.mergeAll(process, data)
