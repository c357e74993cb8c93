import * as Processes from "@signalbox/api/Processes"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import type { UploadSource } from "@signalbox/api/Upload"
import * as Effect from "effect/Effect"

/** Uploads two versions of a robot, goes back to the first, and pins a step. */
export const releaseInvoices = Effect.fnUntraced(function* (
  first: UploadSource,
  second: UploadSource
) {
  const { id } = yield* TaskPackages.create("invoices")
  yield* TaskPackages.upload(id, first)
  yield* TaskPackages.upload(id, second, { note: "reads the new form" })
  const back = yield* TaskPackages.rollback(id, { from: 2 })
  const { data } = yield* TaskPackages.listVersions(id)
  const states = data.map(({ state, version }) => `${version} ${state}`)
  yield* Processes.put({
    name: "orders",
    steps: [
      {
        name: "read",
        task: { name: "Run", package_id: id },
        task_package_version: 1
      }
    ]
  })
  const { version } = yield* TaskPackages.promote(id, 2)
  return { back: back.version, states, promoted: version }
})
