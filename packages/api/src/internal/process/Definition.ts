/**
 * The definition of a process for the service: ids in the place of names, JSON Schema in the place of schemas.
 */
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ProcessDefinition, StepDefinition } from "../../contract/Processes.ts"
import * as TaskPackages from "../../TaskPackages.ts"
import * as WorkerGroups from "../../WorkerGroups.ts"
import type { Step, TaskLike } from "./Chain.ts"
import type { Process } from "./Value.ts"

/** A process that cannot be deployed as it is; the message names the part and the remedy. Nothing was changed. */
export class InvalidProcess extends TaggedError<InvalidProcess>()("InvalidProcess", {
  message: Schema.String
}) {}

const isStep = (step: TaskLike): step is Step => Predicate.hasProperty(step, "task")

const packageOf = (task: TaskLike): string | undefined =>
  Predicate.hasProperty(task, "package") && typeof task.package === "string" ? task.package : undefined

/** A step of a definition with the names of its package and worker group. */
export interface NamedStep extends Omit<StepDefinition, "task" | "worker_group"> {
  readonly task: { readonly name: string; readonly package?: string }
  readonly worker_group?: string
}

/** A definition with names in the place of ids. */
export interface NamedDefinition extends Omit<ProcessDefinition, "steps"> {
  readonly steps: ReadonlyArray<NamedStep>
}

const namedStepOf = (step: TaskLike): NamedStep => {
  const task = isStep(step) ? step.task : step
  const { name: _, ...options } = isStep(step) ? step.options : {}
  const name = packageOf(task)
  return { ...options, name: step.name, task: { name: task.name, ...defined({ package: name }) } }
}

const known = <Id extends string, E, R>(
  wanted: ReadonlyArray<string | undefined>,
  all: Stream.Stream<{ readonly id: Id; readonly name: string }, E, R>
) =>
  wanted.every((name) => name === undefined)
    ? Effect.succeed<ReadonlyArray<{ readonly id: Id; readonly name: string }>>([])
    : Stream.runCollect(all)

const defaultOf = (process: Process) => {
  if (process.defaultWorkItem === undefined) return Effect.succeed({})
  const encoded = process.codec.encodeInput(process.defaultWorkItem.payload)
  return "problem" in encoded
    ? Effect.fail(new InvalidProcess({ message: `default_work_item.payload: ${encoded.problem}` }))
    : Effect.succeed({ default_work_item: { payload: encoded.value } })
}

/** The definition with names in the place of ids: what does not depend on a workspace. */
export const namedDefinitionOf = Effect.fnUntraced(function* (process: Process) {
  const steps: Array<NamedStep> = []
  for (const [index, step] of process.steps.entries()) {
    if (steps.some(({ name }) => name === step.name)) {
      return yield* new InvalidProcess({
        message: `steps.${index}: two steps have the name "${step.name}"; name one of them with Process.step(task, { name })`
      })
    }
    steps.push(namedStepOf(step))
  }
  const definition: NamedDefinition = {
    name: process.name,
    description: process.description,
    steps,
    ...(yield* defaultOf(process)),
    input_schema: process.codec.inputSchema(),
    check_payloads: process.checkPayloads,
    ...defined({
      pause_after_failures: process.pauseAfterFailures,
      concurrency: process.concurrency,
      rate: process.rate,
      sensitive: process.sensitive,
      sensitive_files: process.sensitiveFiles
    })
  }
  return definition
})

/** The id of the one that is wanted by its name or id; undefined when none is wanted. */
const resolved = <Id extends string>(
  wanted: string | undefined,
  all: ReadonlyArray<{ readonly id: Id; readonly name: string }>,
  what: { readonly kind: string; readonly step: string }
) => {
  if (wanted === undefined) return Effect.undefined
  const found = all.find(({ id, name }) => name === wanted || id === wanted)
  return found === undefined
    ? Effect.fail(
        new InvalidProcess({
          message: `${what.step}: there is no ${what.kind} "${wanted}" in the workspace; create it, or correct the name`
        })
      )
    : Effect.succeed(found.id)
}

/** The definition that the process has in the workspace at hand. */
export const definitionOf = Effect.fnUntraced(function* (process: Process) {
  const { steps: named, ...rest } = yield* namedDefinitionOf(process)
  const packages = yield* known(
    named.map(({ task }) => task.package),
    TaskPackages.stream({ limit: 500 })
  )
  const groups = yield* known(
    named.map(({ worker_group }) => worker_group),
    WorkerGroups.stream({ limit: 500 })
  )
  const steps: Array<StepDefinition> = []
  for (const [index, { task, worker_group, ...step }] of named.entries()) {
    const place = `steps.${index} "${step.name}"`
    const package_id = yield* resolved(task.package, packages, { kind: "task package", step: place })
    const group = yield* resolved(worker_group, groups, { kind: "worker group", step: place })
    steps.push({
      ...step,
      task: { name: task.name, ...defined({ package_id }) },
      ...defined({ worker_group: group === undefined ? undefined : { id: group } })
    })
  }
  const definition: ProcessDefinition = { ...rest, steps }
  return definition
})
