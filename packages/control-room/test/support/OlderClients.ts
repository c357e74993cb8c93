/**
 * The requests of public programs that speak the older interface, written down from their sources: which method, path, query
 * and body each sends, and nothing else of them.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Service } from "./Service.ts"
import * as Requests from "./Requests.ts"

/** The body of a success, as JSON without a type: a client in Python knows no other. */
export const jsonOf = (received: Requests.Received) => {
  assert.strictEqual(received.status, 200, received.text)
  return Schema.decodeSync(Schema.fromJsonString(Schema.Json))(received.text)
}

/** As `jsonOf`, decoded. */
export const bodyOf = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  received: Requests.Received
): S["Type"] => Schema.decodeUnknownSync(schema)(jsonOf(received))

/**
 * `RPA.Robocorp.Process` of rpaframework, by the names of its keywords. `process` is the id that it was given, or what
 * Python makes of none.
 */
export const processLibrary = Effect.fnUntraced(function* (process: string, given?: { readonly key: string }) {
  const { key: everything, origin, workspaceId } = yield* Service
  const send = yield* Requests.Requests
  const headers = { Authorization: `RC-WSKEY ${given?.key ?? everything}` }
  const workspace = `${origin}/process-v1/workspaces/${workspaceId}`
  const ofProcess = `${workspace}/processes/${process}`
  const get = (url: string, params?: Requests.Sent["params"]) =>
    send({ method: "GET", url, headers, ...(params === undefined ? {} : { params }) })
  const post = (url: string, body: Pick<Requests.Sent, "data" | "json">) =>
    send({ method: "POST", url, headers, ...body })
  const stepRun = (run: string, step: string) => `${ofProcess}/runs/${run}/robotRuns/${step}`
  return {
    send,
    startProcess: (workItems: unknown = [], batch = false) =>
      post(`${ofProcess}/${batch ? "runs-batch" : "runs"}`, { json: workItems }),
    // A string for a body: there is no content type.
    startConfiguredProcess: (config: object) => post(`${ofProcess}/run-request`, { data: JSON.stringify(config) }),
    createInputWorkItem: (payload: unknown) => post(`${ofProcess}/work-items`, { json: { payload } }),
    registerFileUpload: (item: string, fileName: string, fileSize: number) =>
      post(`${ofProcess}/work-items/${item}/files/upload`, { data: JSON.stringify({ fileName, fileSize }) }),
    uploadFile: (url: string, fields: Readonly<Record<string, string>>, file: Requests.Sent["file"] & object) =>
      send({ method: "POST", url, data: fields, file }),
    listProcesses: get(`${workspace}/processes`),
    listProcessWorkItems: (includeData = false) => get(`${ofProcess}/work-items`, { includeData: String(includeData) }),
    listProcessRunWorkItems: (run: string, includeData = false) =>
      get(`${ofProcess}/runs/${run}/work-items`, {
        includeData: String(includeData),
        sortBy: "createTs",
        sortOrder: "desc"
      }),
    getWorkItem: (item: string, includeData = false) =>
      get(`${ofProcess}/work-items/${item}`, { includeData: String(includeData) }),
    listProcessRuns: (limit = 10) => get(`${ofProcess}/runs`, { limit }),
    listProcessRunsInWorkspace: (limit = 10) => get(`${workspace}/pruns`, { limit }),
    getProcessRunStatus: (run: string, step?: string) =>
      get(step === undefined ? `${ofProcess}/runs/${run}` : stepRun(run, step)),
    retryWorkItem: (item: string) => post(`${ofProcess}/work-items/${item}/retry`, {}),
    listRunArtifacts: (run: string, step: string) => get(`${stepRun(run, step)}/artifacts`),
    getRobotRunArtifact: (run: string, step: string, artifact: string, fileName: string) =>
      get(`${stepRun(run, step)}/artifacts/${artifact}/${fileName}`)
  }
})
