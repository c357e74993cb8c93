import * as Assistants from "@signalbox/api/Assistants"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ApplyFileError, type Document } from "./Document.ts"
import { idOf, type Ids, type Section, type Step, unchanged } from "./Step.ts"

/** Assistants can be created, but neither changed nor deleted: the interface has no operation for it. */
export const plan = Effect.fnUntraced(function* (wanted: NonNullable<Document["assistants"]>, ids: Ids) {
  const existing = yield* Stream.runCollect(Assistants.stream({ limit: 500 }))
  const steps: Array<Step> = []
  for (const [name, { task }] of Object.entries(wanted)) {
    const found = existing.find((assistant) => assistant.name === name)
    if (found === undefined) {
      const run = Effect.flatMap(idOf(ids.packages, task.package), (taskPackage) =>
        Assistants.create({ name, task: task.name, taskPackage })
      )
      steps.push({ kind: "assistant", name, action: "create", detail: "", run })
    } else if (found.task.name === task.name && ids.packages.get(task.package) === found.task.package_id) {
      steps.push(unchanged("assistant", name))
    } else {
      return yield* new ApplyFileError({
        message: `assistants.${name}.task: the assistant exists with another task, and assistants cannot be changed; choose another name`
      })
    }
  }
  const section: Section = { steps, extra: [] }
  return section
})
