/**
 * Queries and commands on durable executions: list, inspect, signal, cancel, resume, retry, fork.
 */
export {
  cancel,
  type Carried,
  type CommandIdentity,
  type CommandOptions,
  each,
  reschedule,
  type RescheduleOptions,
  resume,
  type ResumeOptions,
  retry,
  type RetryOptions,
  signal,
  suspend,
  terminate
} from "./ExecutionCommands.ts"
export {
  type ExecutionPage,
  type Filter,
  get,
  history,
  inspect,
  list,
  type ListedExecution,
  type PageOptions,
  steps,
  stream,
  versions
} from "./ExecutionQueries.ts"
export { fork, forkHistory, type ForkOptions } from "./Forks.ts"
export { type Command, commands } from "./internal/model/Commands.ts"
export { deploymentHalts, type Halt } from "./internal/interpreter/Halts.ts"
export type { Activity, Inspection, Pending, RecentCommand, StandingStill } from "./internal/operate/Inspection.ts"
export type { VersionProcess, VersionStatus } from "./internal/operate/Versions.ts"

export {
  type Entry,
  type Execution,
  type QueuePlace,
  type Stalled,
  type State,
  states,
  type StepName,
  type Undo,
  type UnendedState,
  unendedStates
} from "./internal/model/Execution.ts"
