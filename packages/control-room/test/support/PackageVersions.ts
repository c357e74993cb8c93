/** Packages with versions of given contents. */
import type { TaskPackageId } from "@signalbox/api/contract/Ids"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"

export const zip = (content: string, task = "Run") =>
  Effect.map(zipOf({ "robot.yaml": robotYaml(task), "tasks.py": content }), (bytes) => ({ name: "p.zip", bytes }))

export const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

export const upload = Effect.fnUntraced(function* (id: TaskPackageId, content: string, note?: string) {
  yield* TaskPackages.upload(id, yield* zip(content), note === undefined ? {} : { note })
})

export const withVersions = Effect.fnUntraced(function* (...contents: ReadonlyArray<string>) {
  const { id } = yield* TaskPackages.create(`package ${crypto.randomUUID()}`)
  for (const content of contents) yield* upload(id, content)
  return id
})
