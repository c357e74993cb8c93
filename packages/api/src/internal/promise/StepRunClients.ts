/** What happened on the workers, as functions with promises. */
import type * as Duration from "effect/Duration"
import type { Page } from "../../contract/Common.ts"
import type { ConsoleMessages } from "../../contract/StepRuns.ts"
import * as StepRuns from "../../StepRuns.ts"
import type { CallOptions } from "./CallOptions.ts"
import type { ListOptions, Size } from "./Common.ts"
import { type ApiPromise, members } from "./Members.ts"
import type { ListPage } from "./Pages.ts"

/** A page of console messages, and where it stands among all. */
export interface ConsoleMessagesPage
  extends Page<StepRuns.ConsoleMessage>, Pick<ConsoleMessages, "newer" | "position" | "total"> {}

/** Step runs: what happened on the workers. */
export interface StepRunsClient {
  /** Returns one step run: where it ran, and how it ended. */
  readonly get: (stepRun: string, options?: CallOptions) => ApiPromise<StepRuns.StepRun>
  /**
   * Returns one page of the step runs of a run, newest first.
   * @example const { data } = await room.stepRuns.list(run, { limit: 50 })
   */
  readonly list: (run: string, page?: ListOptions, options?: CallOptions) => ApiPromise<ListPage<StepRuns.StepRun>>
  /**
   * All step runs of a run, newest first.
   * @example for await (const { state } of room.stepRuns.stream(run)) console.log(state)
   */
  readonly stream: (run: string, page?: Size, options?: CallOptions) => AsyncIterable<StepRuns.StepRun>
  /** The events of a step run, oldest first. */
  readonly events: (stepRun: string, options?: CallOptions) => AsyncIterable<StepRuns.StepRunEvent>
  /** The console messages of a step run, oldest first. */
  readonly consoleMessages: (stepRun: string, options?: CallOptions) => AsyncIterable<StepRuns.ConsoleMessage>
  /**
   * Up to `count` console messages from a position on, in messages from the start, or with a negative one from the end.
   * @example const last = await room.stepRuns.consoleMessagesFrom(stepRun, -20)
   */
  readonly consoleMessagesFrom: (
    stepRun: string,
    position: number,
    size?: { readonly count?: number | undefined },
    options?: CallOptions
  ) => ApiPromise<ConsoleMessagesPage>
  /**
   * The console messages of a step run as they are written, oldest first; ends with the step run.
   * @example
   * for await (const line of room.stepRuns.followConsoleMessages(stepRun))
   *   console.log(line)
   */
  readonly followConsoleMessages: (
    stepRun: string,
    poll?: { readonly pollInterval?: Duration.Input | undefined },
    options?: CallOptions
  ) => AsyncIterable<StepRuns.ConsoleMessage>
  /**
   * The files that a step run left behind, newest first.
   * @example for await (const { name } of room.stepRuns.artifacts(stepRun)) console.log(name)
   */
  readonly artifacts: (stepRun: string, page?: Size, options?: CallOptions) => AsyncIterable<StepRuns.ArtifactListed>
  /** Returns one artifact with its address, which is valid for one hour. */
  readonly getArtifact: (stepRun: string, artifact: string, options?: CallOptions) => ApiPromise<StepRuns.Artifact>
  /** The bytes of an artifact as they arrive. */
  readonly downloadArtifact: (stepRun: string, artifact: string, options?: CallOptions) => AsyncIterable<Uint8Array>
}

export const stepRuns = /* @__PURE__ */ members<StepRunsClient>(StepRuns, {
  get: 1,
  list: 2,
  stream: 2,
  events: 1,
  consoleMessages: 1,
  consoleMessagesFrom: 3,
  followConsoleMessages: 2,
  artifacts: 2,
  getArtifact: 2,
  downloadArtifact: 2
})
