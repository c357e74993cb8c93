/** Assistants, which can be created, but neither changed nor deleted. */
import type { Assistant } from "@signalbox/api/contract/Assistants"
import * as AssistantList from "@signalbox/api/Assistants"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Assistants from "../apply/Assistants.ts"
import type { Ids } from "../apply/Step.ts"
import { type Names, nameIn } from "./Converted.ts"
import type { Gaps } from "./Gaps.ts"
import * as Parts from "./Parts.ts"
import type { IsThere } from "./Processes.ts"
import type { ImportStep } from "./Step.ts"

interface Context {
  readonly names: Names
  readonly ids: Ids
  readonly isPackage: IsThere
}

export const plan = Effect.fnUntraced(function* (
  assistants: ReadonlyArray<Assistant>,
  { ids, isPackage, names }: Context,
  gaps: Gaps
) {
  const kind = "assistant"
  const here = yield* Stream.runCollect(AssistantList.stream({ limit: 500 }))
  const steps: Array<ImportStep> = []
  const entries: Array<readonly [string, { readonly task: { readonly name: string; readonly package: string } }]> = []
  for (const { name, task } of assistants) {
    const of = nameIn(names.packages, task.package_id)
    const known = here.find((one) => one.name === name)
    if (known === undefined || (known.task.name === task.name && ids.packages.get(of) === known.task.package_id)) {
      entries.push([name, { task: { name: task.name, package: of } }])
    } else
      steps.push({ kind, name, action: "different", detail: "its task, which cannot be changed", run: Effect.void })
  }
  const needs = ([, { task }]: (typeof entries)[number]) => [
    { what: "package", name: task.package, isThere: isPackage(task.package) }
  ]
  const possible = Parts.withNeeds(kind, entries, needs, gaps)
  const wanted = (yield* Parts.accepted(kind, "assistants", possible, gaps)) ?? {}
  return [...steps, ...(yield* Parts.stepsOf(kind, wanted, (some) => Assistants.plan(some, ids), gaps))]
})
