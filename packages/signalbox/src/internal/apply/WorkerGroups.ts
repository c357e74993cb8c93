import * as WorkerGroups from "@signalbox/api/WorkerGroups"
import * as Effect from "effect/Effect"
import { type Ids, type Section, type Step, unchanged } from "./Step.ts"

/** Worker groups have nothing but a name. */
export const plan = (wanted: ReadonlyArray<string>, ids: Ids): Section => ({
  steps: wanted.map((name): Step => {
    if (ids.groups.has(name)) return unchanged("worker group", name)
    const run = Effect.map(WorkerGroups.create(name), ({ id }) => ids.groups.set(name, id))
    return { kind: "worker group", name, action: "create", detail: "", run }
  }),
  extra: [...ids.groups]
    .filter(([name]) => !wanted.includes(name))
    .map(([name, id]): Step => ({
      kind: "worker group",
      name,
      action: "delete",
      detail: "",
      run: WorkerGroups.remove(id)
    }))
})
