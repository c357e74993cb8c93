/** Step runs: what happened on the workers. */
import { check, time } from "@signalbox/transport/OptionError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ArtifactId, ProcessRunId, StepRunId } from "./contract/Ids.ts"
import type { Page } from "./contract/Common.ts"
import type { InvalidRequest, NotFound } from "./ControlRoomError.ts"
import * as contract from "./internal/endpoints/StepRuns.ts"
import { ControlRoom } from "./ControlRoom.ts"
import { fetchSigned } from "./Files.ts"
import { names, page, pageSize, refusing, refusingStream } from "./internal/calls/Known.ts"
import { inWorkspace, nextCursor, pages, returning } from "./internal/calls/Workspace.ts"
import type { ListOf, ListOptions } from "./ListOptions.ts"

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

/**
 * Returns one page of the step runs of a run, newest first.
 *
 * ```ts
 * import type { ProcessRunId } from "@signalbox/api/contract/Ids"
 * import * as StepRuns from "@signalbox/api/StepRuns"
 *
 * export const nextPage = (run: ProcessRunId, next: string) =>
 *   StepRuns.list(run, { limit: 50, cursor: next })
 * ```
 */
export const list: ListOf<ProcessRunId, contract.StepRun, InvalidRequest | NotFound> = Effect.fn("StepRuns.list")(
  (run: ProcessRunId, options: ListOptions = {}, cursor?: string) =>
    call.list({ query: { process_run_id: run, limit: options.limit, cursor: cursor ?? options.cursor } }),
  refusing("stepRuns.list", { 1: page })
)

/** Emits all step runs of a run, newest first. */
export const stream = (run: ProcessRunId, options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) => list(run, { ...options, cursor })).pipe(refusingStream("stepRuns.stream", pageSize, options))

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

/** How many console messages. */
export interface ConsoleOptions {
  /** At most and by default 1,000. */
  readonly count?: number | undefined
}

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
  (stepRun: StepRunId, position: number, { count }: ConsoleOptions = {}) =>
    call.listConsoleMessages({ params: { step_run_id: stepRun }, query: { position, count } }),
  refusing("stepRuns.consoleMessagesFrom", { 2: names<ConsoleOptions>("option", { count: 1 }) })
)

/** The last page is read again until it is full: how many of its messages were emitted. */
interface ConsolePosition {
  readonly cursor: string | undefined
  readonly emitted: number
}

const unread: ConsolePosition = { cursor: undefined, emitted: 0 }

const hasEnded = ({ state }: contract.StepRun) => state === "completed" || state === "failed"

/** How new console messages are looked for. */
export interface FollowOptions {
  /** Default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
}

const followOptions = names<FollowOptions>("option", { pollInterval: 1 })

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
export const followConsoleMessages = (stepRun: StepRunId, options: FollowOptions = {}) => {
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
  ).pipe(refusingStream("stepRuns.followConsoleMessages", followOptions, options))
}

/** The files that a step run left behind, newest first. */
export const artifacts = (stepRun: StepRunId, options: Omit<ListOptions, "cursor"> = {}) =>
  pages((cursor) =>
    call.listArtifacts({
      params: { step_run_id: stepRun },
      query: { ...options, cursor }
    })
  ).pipe(refusingStream("stepRuns.artifacts", pageSize, options))

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
