/**
 * A process that is there as a module with a process as code.
 */
import type { ProcessId } from "@signalbox/api/contract/Ids"
import type { StepDefinition } from "@signalbox/api/contract/Processes"
import * as Outputs from "@signalbox/api/Outputs"
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as WorkItems from "@signalbox/api/WorkItems"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { infer } from "./InferSchema.ts"
import { sensitiveSource, sourceOf } from "./SchemaSource.ts"

/** Of items, and of outputs: the newest. */
const mostSamples = 500
const mostRuns = 20

const json = (value: unknown) => JSON.stringify(value)

/** Payloads of the newest items of each step, in the order of the steps, and of the newest outputs. */
const samplesOf = Effect.fnUntraced(function* (process: ProcessId, steps: ReadonlyArray<{ readonly id: string }>) {
  const samples = steps.map((): Array<Schema.Json> => [])
  yield* Stream.runForEach(
    Stream.take(WorkItems.stream({ process, includeData: true, limit: mostSamples }), mostSamples),
    (item) =>
      // An item in the queue is for the first step.
      Effect.sync(() => {
        const index = item.step === null ? 0 : steps.findIndex(({ id }) => id === item.step?.id)
        samples[index]?.push(item.payload ?? null)
      })
  )
  const outputs = yield* Stream.take(ProcessRuns.stream({ process, limit: mostRuns }), mostRuns).pipe(
    Stream.flatMap((run) => Outputs.stream(run.id)),
    Stream.take(mostSamples),
    Stream.map(({ payload }) => payload),
    Stream.runCollect
  )
  return [...samples, outputs]
})

const namesOf = <E, R>(all: Stream.Stream<{ readonly id: string; readonly name: string }, E, R>, isNeeded: boolean) =>
  isNeeded
    ? Effect.map(Stream.runCollect(all), (found) => new Map(found.map(({ id, name }) => [id, name])))
    : Effect.succeed(new Map<string, string>())

const taskSource = ({ task }: StepDefinition, index: number, packages: ReadonlyMap<string, string>) => {
  const schemas = `input: Payload${index + 1}, output: Payload${index + 2}`
  if (task.package_id !== undefined) {
    const name = packages.get(task.package_id) ?? task.package_id
    return `const task${index + 1} = Process.packageTask({ package: ${json(name)}, task: ${json(task.name)}, ${schemas} })`
  }
  return `/** A task of workers: import it instead, if it is in TypeScript. */
const task${index + 1} = { name: ${json(task.name)}, ${schemas} } as const`
}

const stepSource = (step: StepDefinition, index: number, groups: ReadonlyMap<string, string>) => {
  const { name, task, worker_group, ...options } = step
  const given = {
    ...defined({ name: name === task.name ? undefined : name }),
    ...options,
    ...defined({
      worker_group:
        worker_group === undefined || worker_group === null
          ? undefined
          : (groups.get(worker_group.id) ?? worker_group.id)
    })
  }
  return Object.keys(given).length === 0 ? `task${index + 1}` : `Process.step(task${index + 1}, ${json(given)})`
}

/**
 * Returns the source of a module that exports the process. The first input is as the control room has it; other payload types are
 * inferred from items.
 */
export const moduleOf = Effect.fn("moduleOf")(function* (id: ProcessId) {
  const definition = yield* Processes.getDefinition(id)
  const { steps } = yield* Processes.get(id)
  const samples = yield* samplesOf(id, steps)
  if (definition.default_work_item !== undefined) samples[0]?.push(definition.default_work_item.payload)
  const packages = yield* namesOf(
    TaskPackages.stream({ limit: 500 }),
    definition.steps.some(({ task }) => task.package_id !== undefined)
  )
  const groups = yield* namesOf(
    WorkerGroups.stream({ limit: 500 }),
    definition.steps.some(({ worker_group }) => worker_group !== undefined && worker_group !== null)
  )
  const stored = definition.input_schema
  const known = stored === undefined || stored === null ? null : sourceOf(stored)
  const schemas = samples.map((some, index) => {
    if (index === 0 && known !== null) {
      return `/** As stored in the control room: \`input_schema\` of the process. */\nconst Payload1 = ${known}`
    }
    const of =
      index === definition.steps.length ? "outputs" : `items of the step ${json(definition.steps[index]?.name)}`
    return `/** Inferred from ${some.length} ${of.replaceAll("*/", "* /")}. */\nconst Payload${index + 1} = ${infer(some)}`
  })
  // A process in code says it of each step.
  const forwarding = definition.forward_done_items === true ? { forward_done_items: true } : {}
  const options = [
    ...(definition.description === undefined || definition.description === null
      ? []
      : [`  description: ${json(definition.description)}`]),
    `  steps: [\n${definition.steps.map((step, index) => `    ${stepSource({ ...forwarding, ...step }, index, groups)}`).join(",\n")}\n  ]`,
    ...(definition.default_work_item === undefined
      ? []
      : [`  default_work_item: ${json(definition.default_work_item)}`]),
    ...(definition.check_payloads === true ? ["  check_payloads: true"] : []),
    ...(definition.pause_after_failures === undefined
      ? []
      : [`  pause_after_failures: ${definition.pause_after_failures}`]),
    ...(definition.concurrency === undefined ? [] : [`  concurrency: ${json(definition.concurrency)}`]),
    ...(definition.rate === undefined ? [] : [`  rate: ${json(definition.rate)}`]),
    ...sensitiveSource(definition, known !== null),
    ...(definition.sensitive_files === false ? ["  sensitive_files: false"] : [])
  ]
  return `/**
 * Written by \`signalbox processes export\`. Check the payload types that are marked as inferred.
 */
import * as Process from "@signalbox/api/Process"
import * as Schema from "effect/Schema"

${schemas.join("\n\n")}

${definition.steps.map((step, index) => taskSource(step, index, packages)).join("\n\n")}

export const process = Process.make(${json(definition.name)}, {
${options.join(",\n")}
})
`
})
