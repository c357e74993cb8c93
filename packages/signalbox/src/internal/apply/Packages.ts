import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as Effect from "effect/Effect"
import { digestOf, fileDigest, resolve } from "./Content.ts"
import type { Document } from "./Document.ts"
import { zipped } from "./Folder.ts"
import { type Ids, type Section, type Step, unchanged } from "./Step.ts"

/** Task packages: a zip, or that of a folder, that differs from the one there is uploaded. */
export const plan = Effect.fnUntraced(function* (wanted: NonNullable<Document["packages"]>, folder: string, ids: Ids) {
  const steps: Array<Step> = []
  for (const [name, source] of Object.entries(wanted)) {
    const field = `packages.${name}`
    const detail = "zip" in source ? source.zip : source.folder
    const path =
      "zip" in source ? resolve(folder, source.zip) : yield* zipped(`${field}.folder`, resolve(folder, source.folder))
    const digest = yield* fileDigest(`${field}.zip`, path)
    const id = ids.packages.get(name)
    if (id === undefined) {
      const run = Effect.gen(function* () {
        const made = yield* TaskPackages.create(name)
        ids.packages.set(name, made.id)
        yield* TaskPackages.upload(made.id, path)
      })
      steps.push({ kind: "package", name, action: "create", detail, run })
    } else if ((yield* digestOf(TaskPackages.download(id))) === digest) {
      steps.push(unchanged("package", name))
    } else {
      steps.push({ kind: "package", name, action: "change", detail, run: TaskPackages.upload(id, path) })
    }
  }
  const extra = [...ids.packages]
    .filter(([name]) => !Object.hasOwn(wanted, name))
    .map(([name, id]): Step => ({
      kind: "package",
      name,
      action: "delete",
      detail: "",
      run: TaskPackages.remove(id)
    }))
  const section: Section = { steps, extra }
  return section
})
