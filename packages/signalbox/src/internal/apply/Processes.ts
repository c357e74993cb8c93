import type { ProcessDefinition } from "@signalbox/api/contract/Processes"
import * as Process from "@signalbox/api/Process"
import * as Processes from "@signalbox/api/Processes"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type { Document, Process as WantedProcess } from "./Document.ts"
import { idOf, type Ids, type Section, type Step, unchanged } from "./Step.ts"

/** The definition with ids instead of names. */
const resolved = Effect.fnUntraced(function* (name: string, { steps, ...process }: WantedProcess, ids: Ids) {
  const definition: ProcessDefinition = {
    ...process,
    name,
    steps: yield* Effect.forEach(steps, ({ task, worker_group, ...step }) =>
      Effect.gen(function* () {
        const package_id = task.package === undefined ? {} : { package_id: yield* idOf(ids.packages, task.package) }
        const group = worker_group === undefined ? {} : { worker_group: { id: yield* idOf(ids.groups, worker_group) } }
        return { ...step, task: { name: task.name, ...package_id }, ...group }
      })
    )
  }
  return definition
})

const nameOf = <I>(ids: ReadonlyMap<string, I>, id: I) => [...ids].find(([, known]) => known === id)?.[0] ?? String(id)

/** A definition in the form of the file, each part separately. */
const parts = (process: WantedProcess): Readonly<Record<string, Schema.Json>> => ({
  description: process.description ?? null,
  steps: JSON.parse(JSON.stringify(process.steps)),
  default_work_item: process.default_work_item ?? null,
  input_schema: process.input_schema ?? null,
  check_payloads: process.check_payloads ?? false,
  forward_done_items: process.forward_done_items ?? false,
  pause_after_failures: process.pause_after_failures ?? null,
  concurrency: process.concurrency ?? null,
  rate: process.rate ?? null,
  sensitive: process.sensitive ?? [],
  sensitive_files: process.sensitive_files ?? true
})

const named = ({ name: _, steps, ...definition }: ProcessDefinition, ids: Ids): WantedProcess => ({
  ...definition,
  steps: steps.map(({ task, worker_group, ...step }) => ({
    ...step,
    task: {
      name: task.name,
      ...defined({ package: task.package_id === undefined ? undefined : nameOf(ids.packages, task.package_id) })
    },
    ...defined({
      worker_group:
        worker_group === undefined || worker_group === null ? undefined : nameOf(ids.groups, worker_group.id)
    })
  }))
})

/** The same text for the same JSON, whatever the order of its keys. */
const canonical = (json: Schema.Json): string =>
  JSON.stringify(json, (_, value: unknown) =>
    Predicate.isObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value
  )

export interface Code {
  /** The processes of a module, by name: deployed as their program would do it. */
  readonly processes: ReadonlyMap<string, Process.Process>
  readonly waiting: Process.DeployOptions
}

/** What changes, in the words of the plan of a deployment; what it refers to may not exist before the plan is carried out. */
const detailOf = (process: Process.Process, otherwise: string) =>
  Process.plan(process).pipe(
    Effect.map((plan) => Process.describePlan(plan).join("; ")),
    Effect.catchTag("InvalidProcess", () => Effect.succeed(otherwise))
  )

/** Processes: a definition that differs is replaced. */
export const plan = Effect.fnUntraced(function* (wanted: NonNullable<Document["processes"]>, ids: Ids, code: Code) {
  const steps: Array<Step> = []
  for (const [name, process] of Object.entries(wanted)) {
    const definition = resolved(name, process, ids)
    const id = ids.processes.get(name)
    const coded = code.processes.get(name)
    if (id === undefined) {
      const run = Effect.gen(function* () {
        const made = yield* coded === undefined ? Processes.create(yield* definition) : Process.deploy(coded)
        ids.processes.set(name, made.id)
      })
      steps.push({ kind: "process", name, action: "create", detail: "", run })
      continue
    }
    const before = parts(named(yield* Processes.getDefinition(id), ids))
    const after = parts(process)
    const changed = Object.keys(after).filter(
      (part) => canonical(before[part] ?? null) !== canonical(after[part] ?? null)
    )
    if (changed.length === 0) {
      steps.push(unchanged("process", name))
      continue
    }
    const run =
      coded === undefined
        ? Effect.flatMap(definition, (next) => Processes.update(id, next))
        : Process.deploy(coded, code.waiting)
    const detail = coded === undefined ? changed.join(", ") : yield* detailOf(coded, changed.join(", "))
    steps.push({ kind: "process", name, action: "change", detail, run })
  }
  const extra = [...ids.processes]
    .filter(([name]) => !Object.hasOwn(wanted, name))
    .map(([name, id]): Step => ({ kind: "process", name, action: "delete", detail: "", run: Processes.remove(id) }))
  const section: Section = { steps, extra }
  return section
})
