/** Step runs: what happened on the workers. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ArtifactId, ProcessRunId, StepRunId } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./contract/StepRuns.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { fetchSigned } from "./Files.ts"
import { inWorkspace, pages, returning } from "./internal/Workspace.ts"

export type {
  Artifact,
  ArtifactListed,
  ConsoleMessage,
  StepRun,
  StepRunEvent,
  StepRunState
} from "./contract/StepRuns.ts"

const call = {
  get: returning<contract.StepRun, NotFound>()(inWorkspace(contract.get)),
  list: returning<Page<contract.StepRun>, InvalidRequest | NotFound>()(inWorkspace(contract.list)),
  listEvents: returning<Page<contract.StepRunEvent>, InvalidRequest | NotFound>()(inWorkspace(contract.listEvents)),
  listArtifacts: returning<Page<contract.ArtifactListed>, InvalidRequest | NotFound>()(
    inWorkspace(contract.listArtifacts)
  ),
  getArtifact: returning<contract.Artifact, NotFound>()(inWorkspace(contract.getArtifact)),
  listConsoleMessages: returning<Page<contract.ConsoleMessage>, InvalidRequest | NotFound>()(
    inWorkspace(contract.listConsoleMessages)
  )
}

export const get = Effect.fn("StepRuns.get")((stepRun: StepRunId) => call.get({ params: { step_run_id: stepRun } }))

/** Returns one page of the step runs of a run, newest first. */
export const list = Effect.fn("StepRuns.list")(
  (run: ProcessRunId, options: { readonly limit?: number } = {}, cursor?: string) =>
    call.list({ query: { process_run_id: run, ...options, ...(cursor === undefined ? {} : { cursor }) } })
)

/** Emits all step runs of a run, newest first. */
export const stream = (run: ProcessRunId, options: { readonly limit?: number } = {}) =>
  pages((cursor) => list(run, options, cursor))

/** Emits the events of a step run, oldest first. */
export const events = (stepRun: StepRunId) =>
  pages((cursor) =>
    call.listEvents({ params: { step_run_id: stepRun }, query: cursor === undefined ? {} : { cursor } })
  )

/** Emits the console messages of a step run, oldest first. */
export const consoleMessages = (stepRun: StepRunId) =>
  pages((cursor) =>
    call.listConsoleMessages({ params: { step_run_id: stepRun }, query: cursor === undefined ? {} : { cursor } })
  )

/** Emits the artifacts of a step run, newest first. */
export const artifacts = (stepRun: StepRunId, options: { readonly limit?: number } = {}) =>
  pages((cursor) =>
    call.listArtifacts({
      params: { step_run_id: stepRun },
      query: { ...options, ...(cursor === undefined ? {} : { cursor }) }
    })
  )

/** Returns one artifact with its address, which is valid for one hour. */
export const getArtifact = Effect.fn("StepRuns.getArtifact")((stepRun: StepRunId, artifact: ArtifactId) =>
  call.getArtifact({ params: { step_run_id: stepRun, artifact_id: artifact } })
)

/** Emits the bytes of an artifact as they arrive. */
export const downloadArtifact = (stepRun: StepRunId, artifact: ArtifactId) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const room = yield* ControlRoom
      const { url } = yield* getArtifact(stepRun, artifact)
      return fetchSigned(room.transport, url)
    })
  )
