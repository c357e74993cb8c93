/** Steps of a definition while they are edited: what is typed, with what the page does not show. */
import type { StepDefinition } from "@signalbox/api/contract/Processes"
import type { Body } from "../../api.ts"
import { limitsDraftOf, limitsOf, type LimitsDraft } from "./limits.ts"

export interface StepDraft {
  /** Tells the rows apart while names change. */
  readonly key: number
  readonly name: string
  /** Empty: a task that workers define themselves. */
  readonly packageId: string
  readonly task: string
  /** Empty: any worker. */
  readonly group: string
  readonly attempts: string
  readonly delay: string
  readonly timeout: string
  readonly parallel: string
  readonly pauseAfter: string
  readonly limits: LimitsDraft
  /** What was there before: fields that are not shown stay. */
  readonly before: Partial<typeof StepDefinition.Encoded>
}

const text = (number: number | undefined) => (number === undefined ? "" : String(number))

export const draftOf = (step: Partial<typeof StepDefinition.Encoded>, key: number): StepDraft => ({
  key,
  name: step.name ?? "",
  packageId: step.task?.package_id ?? "",
  task: step.task?.name ?? "",
  group: step.worker_group?.id ?? "",
  attempts: text(step.retry?.max_attempts ?? 1),
  delay: text(step.retry?.delay_seconds ?? 60),
  timeout: text(step.timeout_seconds),
  parallel: text(step.max_parallel ?? 1),
  pauseAfter: text(step.pause_after_failures),
  limits: limitsDraftOf(step),
  before: step
})

/** What is sent; the service checks it and names the field that is wrong. */
export const definitionOf = (draft: StepDraft): Body<typeof StepDefinition.Encoded> => {
  const { attempts, before, delay, group, limits, name, packageId, parallel, pauseAfter, task, timeout } = draft
  const {
    concurrency: _concurrency,
    max_parallel: _parallel,
    name: _name,
    pause_after_failures: _pause,
    rate: _rate,
    retry: _retry,
    task: taskBefore,
    task_package_version: version,
    timeout_seconds: _timeout,
    worker_group: _group,
    ...rest
  } = before
  return {
    ...rest,
    name: name.trim() || task.trim(),
    task: packageId === "" ? { name: task.trim() } : { name: task.trim(), package_id: packageId },
    // A version is one of the package that it was chosen of.
    task_package_version:
      version != null && packageId !== "" && taskBefore?.package_id === packageId ? version : undefined,
    worker_group: group === "" ? undefined : { id: group },
    max_parallel: Number(parallel) > 1 ? Number(parallel) : undefined,
    retry: Number(attempts) > 1 ? { max_attempts: Number(attempts), delay_seconds: Number(delay) } : undefined,
    timeout_seconds: timeout === "" ? undefined : Number(timeout),
    ...limitsOf(limits),
    pause_after_failures: pauseAfter === "" ? undefined : Number(pauseAfter)
  }
}

/** The same list with an entry moved by one place, if there is one. */
export const moved = <A>(list: ReadonlyArray<A>, index: number, by: -1 | 1): ReadonlyArray<A> => {
  const other = index + by
  const [one, two] = [list[index], list[other]]
  return one === undefined || two === undefined
    ? list
    : list.map((entry, at) => (at === index ? two : at === other ? one : entry))
}
