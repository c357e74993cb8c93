/** The worker's calls in memory: leases come from a queue, and reports are recorded. */
import { ProcessId, ProcessRunId, StepRunId, WorkItemId } from "@signalbox/api/contract/Ids"
import type { Conflict, ControlRoomError, InvalidRequest } from "@signalbox/api/ControlRoomError"
import type { Lease, StepRunEnvironment } from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { Protocol } from "../../src/internal/agent/StepRun.ts"

export const lease = (id: string, task: string, rest: Partial<Lease> = {}): Lease => ({
  step_run_id: StepRunId.make(id),
  process_id: ProcessId.make("process"),
  process_run_id: ProcessRunId.make("run"),
  lease_token: `lease of ${id}`,
  run_token: `run token of ${id}`,
  task: { name: task },
  package: null,
  work_item_id: WorkItemId.make("one"),
  timeout_seconds: null,
  env: {},
  environment: null,
  ...rest
})

export type Finished = Parameters<Protocol["finish"]>[1]

/** What a test reads and changes while the worker runs. */
export interface Script {
  readonly leases: Queue.Queue<Lease>
  /** The `free` of every lease call. */
  readonly asked: Array<number>
  readonly started: Array<string>
  /** The last heartbeats' step runs. */
  readonly beats: Array<ReadonlyArray<string>>
  readonly finished: Map<string, Finished>
  /** The console messages and events of every step run, in the order in which they came. */
  readonly console: Array<string>
  readonly events: Array<string>
  /** Those of the events `ENVIRONMENT`. */
  readonly environments: Array<StepRunEnvironment>
  /** Those of the events `LOG_INCOMPLETE`. */
  readonly messages: Array<string>
  /** The artifacts that were uploaded. */
  readonly artifacts: Array<string>
  /** What was reported of builds. */
  readonly builds: Array<string>
  stop: ReadonlyArray<StepRunId>
  lost: ReadonlyArray<StepRunId>
  /** Whether heartbeats say to drain. */
  drain: boolean
  /** The failure of every call of that name, if any. */
  leaseError: ControlRoomError | undefined
  startError: Conflict | undefined
  finishError: Conflict | ControlRoomError | undefined
  consoleError: Conflict | ControlRoomError | undefined
  artifactError: Conflict | ControlRoomError | InvalidRequest | undefined
}

export const make = Effect.gen(function* () {
  const script: Script = {
    leases: yield* Queue.unbounded<Lease>(),
    asked: [],
    started: [],
    beats: [],
    finished: new Map(),
    console: [],
    events: [],
    environments: [],
    messages: [],
    artifacts: [],
    builds: [],
    stop: [],
    lost: [],
    drain: false,
    leaseError: undefined,
    startError: undefined,
    finishError: undefined,
    consoleError: undefined,
    artifactError: undefined
  }
  const failOr = <E, A>(error: E | undefined, act: () => A) =>
    error === undefined ? Effect.sync(act) : Effect.fail(error)
  const protocol: Protocol = {
    lease: ({ free, waitSeconds }) =>
      Effect.suspend(() => {
        script.asked.push(free)
        if (script.leaseError !== undefined) return Effect.fail(script.leaseError)
        return Effect.map(
          Effect.timeoutOption(Queue.take(script.leases), `${waitSeconds} seconds`),
          Option.match({ onNone: () => [], onSome: (lease) => [lease] })
        )
      }),
    heartbeat: (ids) =>
      Effect.sync(() => {
        script.beats.push(ids)
        return { stop: script.stop, lost: script.lost, drain: script.drain }
      }),
    start: (lease) =>
      Effect.suspend(() =>
        failOr(script.startError, () => {
          script.started.push(lease.step_run_id)
          return { accepted: true as const }
        })
      ),
    build: (_, state) =>
      Effect.sync(() => {
        script.builds.push(state)
        return { accepted: true as const }
      }),
    finish: (lease, error) =>
      Effect.suspend(() =>
        failOr(script.finishError, () => {
          script.finished.set(lease.step_run_id, error)
          return { accepted: true as const }
        })
      ),
    sendConsole: (_, offset, messages) =>
      Effect.suspend(() =>
        failOr(script.consoleError, () => {
          // Repeated reports are stored once.
          const known = script.console.length - offset
          script.console.push(...messages.slice(known).map(({ message }) => message))
          return { accepted: true as const }
        })
      ),
    sendEvents: (_, offset, events) =>
      Effect.sync(() => {
        const fresh = events.slice(script.events.length - offset)
        script.events.push(...fresh.map(({ event_type }) => event_type))
        script.environments.push(...fresh.flatMap(({ environment }) => environment ?? []))
        script.messages.push(...fresh.flatMap(({ message }) => message ?? []))
        return { accepted: true as const }
      }),
    uploadArtifact: (_, source) =>
      Effect.suspend(() => failOr(script.artifactError, () => void script.artifacts.push(source.name)))
  }
  return { script, protocol }
})
