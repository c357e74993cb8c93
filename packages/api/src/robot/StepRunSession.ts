/**
 * The robot-side client: what a task may do while its step run is in progress. Its token is refused once the step run
 * has ended: calls then fail with `Conflict` (`LEASE_LOST`).
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import type { FileId, ProcessId, ProcessRunId, StepRunId, WorkItemId, WorkspaceId } from "../contract/Ids.ts"
import * as contract from "../internal/endpoints/Robot.ts"
import type { CallError } from "../ControlRoomError.ts"
import { type DownloadError, fetchSigned } from "../Files.ts"
import * as Connection from "../internal/calls/Connection.ts"
import { make as makeCall, makeExact as makeExactCall } from "../internal/calls/EndpointCall.ts"
import { type SizedBytes, sendForm } from "../Upload.ts"
import { type Endpoint, transportOf } from "../internal/calls/RobotEndpoint.ts"
import * as RunAssets from "./RunAssets.ts"
import * as Vault from "./Vault.ts"

const call = {
  reserveNext: makeCall(contract.reserveNext, { repeatable: true }),
  release: makeCall(contract.release, { repeatable: true }),
  createOutput: makeCall(contract.createOutput),
  getData: makeExactCall(contract.getData),
  putData: makeCall(contract.putData, { repeatable: true }),
  listFiles: makeCall(contract.listFiles),
  getFile: makeCall(contract.getFile),
  createFile: makeCall(contract.createFile, { repeatable: true }),
  removeFile: makeCall(contract.removeFile)
}

/** The ids of a step run and what it belongs to. */
export interface StepRunIds {
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly processRunId: ProcessRunId
  readonly stepRunId: StepRunId
}

/** The ids of a step run, and its token. */
export interface Options extends StepRunIds {
  /** The address of the service without a path. */
  readonly origin: string
  readonly token: Redacted.Redacted
}

/** The result of an item. */
export type Release =
  | { readonly state: "COMPLETED" }
  | {
      readonly state: "FAILED"
      readonly exception: {
        readonly type: "BUSINESS" | "APPLICATION"
        readonly code: string
        readonly message: string
      }
      /** Whether the outputs of this attempt are dropped; default: they are passed on. */
      readonly dropOutputs?: boolean
    }

/** The calls of one step run over its items. A service may have the two halves at different addresses. */
export const makeItems = Effect.fnUntraced(function* (
  endpoints: { readonly process: Endpoint; readonly workItem: Endpoint },
  options: StepRunIds
) {
  const connection = Connection.make(yield* HttpClient.HttpClient, { idempotency: "ignored" })
  const process = transportOf(endpoints.process, "/process-v1", connection)
  const data = transportOf(endpoints.workItem, "/json-v1", connection)
  const stepRun = {
    workspace_id: options.workspaceId,
    process_id: options.processId,
    process_run_id: options.processRunId,
    step_run_id: options.stepRunId
  }
  const itemParams = (item: WorkItemId) => ({ workspace_id: options.workspaceId, work_item_id: item })
  const readPayload = (item: WorkItemId) =>
    call.getData(data, { params: itemParams(item) }).pipe(
      Effect.map(({ rounded, value }) => ({ payload: value, rounded })),
      Effect.catchTag("NotFound", () => Effect.succeed({ payload: null, rounded: [] }))
    )
  return {
    /** Reserves the next waiting item, null when none waits; returns the item that is already reserved, if any. */
    reserveNext: Effect.map(call.reserveNext(process, { params: stepRun }), (answer) => answer.workItemId),
    release: (item: WorkItemId, how: Release) =>
      call.release(process, { params: stepRun, payload: { workItemId: item, ...how } }),
    /** Creates an output of the reserved item. */
    createOutput: (item: WorkItemId, payload: Schema.Json | null) =>
      Effect.map(
        call.createOutput(process, {
          params: { workspace_id: options.workspaceId, process_id: options.processId, work_item_id: item },
          payload: { payload }
        }),
        (answer) => answer.id
      ),
    /** The payload; null when the item has none. */
    payload: (item: WorkItemId) => Effect.map(readPayload(item), ({ payload }) => payload),
    /** The same, with the paths of the numbers in it that JavaScript had to round. */
    readPayload,
    /** Replaces the payload of the reserved item, or of an output of it. */
    setPayload: (item: WorkItemId, payload: Schema.Json | null) =>
      Effect.asVoid(call.putData(data, { params: itemParams(item), payload })),
    files: (item: WorkItemId) => call.listFiles(data, { params: itemParams(item) }),
    download: (item: WorkItemId, file: FileId): Effect.Effect<Stream.Stream<Uint8Array, DownloadError>, CallError> =>
      Effect.map(call.getFile(data, { params: { ...itemParams(item), file_id: file } }), ({ url }) =>
        fetchSigned({ connection }, url)
      ),
    attachFile: Effect.fnUntraced(function* (item: WorkItemId, source: SizedBytes) {
      const form = yield* call.createFile(data, {
        params: itemParams(item),
        payload: { fileName: source.name, fileSize: source.size }
      })
      yield* sendForm(connection, { url: form.url, form_data: form.fields }, source)
    }),
    /** Deletes a file of the reserved item, or of an output of it. */
    removeFile: (item: WorkItemId, file: FileId) =>
      Effect.asVoid(call.removeFile(data, { params: { ...itemParams(item), file_id: file } }))
  }
})

/** All calls of one step run. */
export const make = Effect.fnUntraced(function* ({ origin, token, ...ids }: Options) {
  const endpoint = { url: origin, token }
  const { workspaceId } = ids
  return {
    ...(yield* makeItems({ process: endpoint, workItem: endpoint }, ids)),
    vault: yield* Vault.make({ ...endpoint, workspaceId }),
    assets: yield* RunAssets.make({ url: `${origin.replace(/\/+$/, "")}/api/v1`, token, workspaceId })
  }
})

/** The calls that `makeItems` creates. */
export type StepRunItems = Effect.Success<ReturnType<typeof makeItems>>

/** The calls that `make` creates. */
export type StepRunSession = Effect.Success<ReturnType<typeof make>>
