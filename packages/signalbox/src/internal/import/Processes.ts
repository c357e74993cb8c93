/** Processes: by their definitions, or as a file for `apply` where the source does not show them. */
import * as ProcessList from "@signalbox/api/Processes"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Processes from "../apply/Processes.ts"
import type { Ids } from "../apply/Step.ts"
import * as Converted from "./Converted.ts"
import type { Gaps } from "./Gaps.ts"
import * as Parts from "./Parts.ts"
import type { Reading, SourceProcess } from "./Reading.ts"
import * as Skeleton from "./Skeleton.ts"
import type { ImportStep } from "./Step.ts"

const kind = "process"

/** The versions that steps name, by the names of their packages. */
export const pinnedBy = ({ processes }: Reading, { packages }: Converted.Names) => {
  const pinned = new Map<string, Array<number>>()
  for (const { task, task_package_version: version } of processes.flatMap(
    ({ definition }) => definition?.steps ?? []
  )) {
    const name = task.package_id === undefined ? undefined : packages.get(task.package_id)
    if (name === undefined || version === undefined || version === null) continue
    pinned.set(name, [...(pinned.get(name) ?? []), version])
  }
  return pinned
}

/** Whether something of this name is in the workspace, or will be. */
export type IsThere = (name: string) => boolean

interface Context {
  readonly names: Converted.Names
  readonly ids: Ids
  readonly isPackage: IsThere
  readonly isGroup: IsThere
  readonly versionOf: Converted.VersionOf
}

const needsOf = ({ steps }: ReturnType<typeof Converted.process>, { isGroup, isPackage }: Context) =>
  steps.flatMap(({ task, task_package_version: version, worker_group: group }) => [
    ...(task.package === undefined
      ? []
      : [
          { what: "package", name: task.package, isThere: isPackage(task.package) },
          { what: "pinned version of the package", name: task.package, isThere: version !== 0 }
        ]),
    ...(group === undefined ? [] : [{ what: "worker group", name: group, isThere: isGroup(group) }])
  ])

/** Those that the source defines. */
export const plan = Effect.fnUntraced(function* (
  processes: ReadonlyArray<SourceProcess>,
  context: Context,
  gaps: Gaps
) {
  for (const { definition, name } of processes) gaps.addMasked(kind, name, definition?.masked ?? [])
  const converted = processes.flatMap(({ definition, name }) =>
    definition === null ? [] : [[name, Converted.process(definition, context.names, context.versionOf)] as const]
  )
  const possible = Parts.withNeeds(kind, converted, ([, process]) => needsOf(process, context), gaps)
  const wanted = (yield* Parts.accepted(kind, "processes", possible, gaps)) ?? {}
  const code = { processes: new Map<string, never>(), waiting: {} }
  return yield* Parts.stepsOf(kind, wanted, (some) => Processes.plan(some, context.ids, code), gaps)
})

/** Those of which it shows only the names of steps: a file for `apply` with what is not here. */
export const outline = Effect.fnUntraced(function* (
  processes: ReadonlyArray<SourceProcess>,
  ids: Ids,
  file: string,
  gaps: Gaps
) {
  const fs = yield* FileSystem.FileSystem
  const steps: Array<ImportStep> = []
  const missing: Array<Skeleton.Outline> = []
  for (const { name, outline } of processes) {
    if (outline === null) continue
    const id = ids.processes.get(name)
    if (id === undefined) {
      missing.push({ name, ...outline })
      gaps.add(kind, name, `the interface does not say what its steps run: complete it in ${file}, and apply that`)
      continue
    }
    const here = yield* ProcessList.get(id)
    const stepsHere = here.steps.map((step) => step.name)
    const isSame =
      here.description === outline.description &&
      (outline.steps.length === 0 || JSON.stringify(stepsHere) === JSON.stringify(outline.steps))
    steps.push({
      kind,
      name,
      action: isSame ? "unchanged" : "different",
      detail: isSame ? "as far as the source shows it" : "its description or the names of its steps",
      run: Effect.void
    })
  }
  if (missing.length === 0) return steps
  const text = Skeleton.textOf(missing)
  const before = yield* Effect.orElseSucceed(fs.readFileString(file), () => null)
  const action = before === null ? "create" : before === text ? "unchanged" : "change"
  const run = fs.writeFileString(file, text, before === null ? { flag: "wx" } : {})
  steps.push({ kind: "file", name: file, action, detail: `${missing.length} of the processes, for apply`, run })
  return steps
})
