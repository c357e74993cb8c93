/** Step runs: what happened on the workers. */
import { check, time } from "@signalbox/transport/OptionError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ArtifactId, ProcessRunId, StepRunId } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./contract/StepRuns.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { fetchSigned } from "./Files.ts"
import { inWorkspace, nextCursor, pages, returning } from "./internal/calls/Workspace.ts"

export type {
  Artifact,
  ArtifactListed,
  ConsoleMessage,
  StepRun,
  StepRunEnvironment,
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
  listConsoleMessages: returning<
    Page<contract.ConsoleMessage> & Pick<contract.ConsoleMessages, "newer" | "position" | "total">,
    InvalidRequest | NotFound
  >()(inWorkspace(contract.listConsoleMessages))
}

export const get = Effect.fn("StepRuns.get")((stepRun: StepRunId) => call.get({ params: { step_run_id: stepRun } }))

/** Returns one page of the step runs of a run, newest first. */
export const list = Effect.fn("StepRuns.list")(
  (run: ProcessRunId, options: { readonly limit?: number | undefined } = {}, cursor?: string) =>
    call.list({ query: { process_run_id: run, ...options, cursor } })
)

/** Emits all step runs of a run, newest first. */
export const stream = (run: ProcessRunId, options: { readonly limit?: number | undefined } = {}) =>
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

/**
 * Returns up to `count` console messages (at most and by default 1,000) from a position on, in messages from the start, or with
 * a negative one from the end, and how many there are. Fails with `NotFound` when the step run does not exist.
 *
 * ```ts
 * import type { StepRunId } from "@signalbox/api/contract/Ids"
 * import * as StepRuns from "@signalbox/api/StepRuns"
 *
 * export const lastTen = (stepRun: StepRunId) =>
 *   StepRuns.consoleMessagesFrom(stepRun, -10)
 * ```
 */
export const consoleMessagesFrom = Effect.fn("StepRuns.consoleMessagesFrom")(
  (stepRun: StepRunId, position: number, options: { readonly count?: number } = {}) =>
    call.listConsoleMessages({ params: { step_run_id: stepRun }, query: { position, ...options } })
)

/** The last page is read again until it is full: how many of its messages were emitted. */
interface ConsolePosition {
  readonly cursor: string | undefined
  readonly emitted: number
}

const unread: ConsolePosition = { cursor: undefined, emitted: 0 }

const hasEnded = ({ state }: contract.StepRun) => state === "completed" || state === "failed"

/**
 * Emits the console messages of a step run, oldest first, as they are written, and ends with the step run. Polls for new ones
 * every `pollInterval` (default 1 second). Fails with `NotFound` when the step run does not exist.
 *
 * ```ts
 * import type { StepRunId } from "@signalbox/api/contract/Ids"
 * import * as StepRuns from "@signalbox/api/StepRuns"
 * import * as Console from "effect/Console"
 * import * as Stream from "effect/Stream"
 *
 * export const tail = (stepRun: StepRunId) =>
 *   Stream.runForEach(StepRuns.followConsoleMessages(stepRun), ({ message }) =>
 *     Console.log(message)
 *   )
 * ```
 */
export const followConsoleMessages = (stepRun: StepRunId, options: { readonly pollInterval?: Duration.Input } = {}) => {
  check("followConsoleMessages", options, { pollInterval: time })
  const { pollInterval = "1 second" } = options
  return Stream.paginate(
    unread,
    Effect.fnUntraced(function* ({ cursor, emitted }) {
      // Before the messages: what is written after this look is read by the next one.
      const ended = hasEnded(yield* get(stepRun))
      const page = yield* call.listConsoleMessages({
        params: { step_run_id: stepRun },
        query: cursor === undefined ? {} : { cursor }
      })
      const fresh = page.data.slice(emitted)
      const next = nextCursor(page)
      if (next !== undefined) return [fresh, Option.some({ cursor: next, emitted: 0 })] as const
      if (ended) return [fresh, Option.none()] as const
      if (fresh.length === 0) yield* Effect.sleep(pollInterval)
      return [fresh, Option.some({ cursor, emitted: page.data.length })] as const
    })
  )
}

/** The files that a step run left behind, newest first. */
export const artifacts = (stepRun: StepRunId, options: { readonly limit?: number | undefined } = {}) =>
  pages((cursor) =>
    call.listArtifacts({
      params: { step_run_id: stepRun },
      query: { ...options, cursor }
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
