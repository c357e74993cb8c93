/**
 * New work items with their files. Items have no names: each is marked by a tag with its id at the source, and its request has a
 * key made of that id, so that it is created once.
 */
import type { ProcessId, WorkItemId } from "@signalbox/api/contract/Ids"
import { WorkItem, WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import { withIdempotencyScope } from "@signalbox/api/Idempotency"
import * as WorkItems from "@signalbox/api/WorkItems"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { idOf, type Ids } from "../apply/Step.ts"
import { lineOf } from "../output/Problem.ts"
import { bounds } from "./Bounds.ts"
import { type Gaps, hidden } from "./Gaps.ts"
import { Source, SourceError } from "./Source.ts"
import type { ImportStep } from "./Step.ts"

const kind = "work items"
const maxTags = 20

/** Tags have at most 64 characters. */
const tagOf = (id: string) =>
  `imported:${id.length <= 55 ? id : createHash("sha256").update(id).digest("hex").slice(0, 55)}`

const find = Effect.fnUntraced(function* (process: ProcessId, id: string) {
  const { data } = yield* WorkItems.list({ process, tag: tagOf(id), includeData: true, limit: 1 })
  return data[0] ?? null
})

/** The files of an item at the source that the item here lacks. */
const lacking = (item: WorkItem, here: Pick<WorkItemListed, "files"> | null) =>
  item.files.filter(({ name, size }) => !here?.files?.some((file) => file.name === name && file.size === size))

/** Creates the item unless it is here, and attaches the files that it lacks. */
const bring = Effect.fnUntraced(function* (process: ProcessId, id: WorkItemId) {
  const { discard, download, get, workspace } = yield* Source
  const { uploads } = yield* ControlRoom
  const item = yield* get(["work-items", id], WorkItem)
  if (item.tags.length >= maxTags) {
    return yield* new SourceError({ kind: "refused", message: `it has ${maxTags} tags, and would get one more` })
  }
  // It would be another item with null in their place.
  if (item.masked.length > 0) return yield* new SourceError({ kind: "refused", message: hidden(item.masked) })
  const here = yield* find(process, id)
  const created =
    here ??
    (yield* withIdempotencyScope(
      `import/${workspace}/${id}`,
      WorkItems.create({
        process,
        payload: item.payload,
        priority: item.priority,
        dueAt: item.due_at ?? undefined,
        reference: item.reference ?? undefined,
        tags: [...item.tags, tagOf(id)]
      })
    ))
  for (const file of lacking(item, here)) {
    const { path } = yield* download(file.download.url, bounds.file)
    const bytes = yield* uploads.openPath(path)
    yield* WorkItems.attachFile(created.id, { ...bytes, name: file.name }).pipe(Effect.ensuring(discard(path)))
  }
})

/** Whether the next import has nothing to do for it: it has begun to be worked on here, or has its files. */
const isComplete = Effect.fnUntraced(function* (process: ProcessId, id: WorkItemId) {
  const here = yield* find(process, id)
  if (here === null || here.state !== "new") return here !== null
  const { get } = yield* Source
  return lacking(yield* get(["work-items", id], WorkItem), here).length === 0
})

const counted = (count: number) => `${count} ${count === 1 ? "item" : "items"}`

/** One step for each process that has new items at the source. `isPlanned`: whether the process is here, or will be. */
export const plan = Effect.fnUntraced(function* (
  processes: ReadonlyArray<{ readonly id: ProcessId; readonly name: string }>,
  isPlanned: (name: string) => boolean,
  ids: Ids,
  gaps: Gaps
) {
  const { list } = yield* Source
  const steps: Array<ImportStep> = []
  for (const { id, name } of processes) {
    const query = { process_id: id, state: "new", limit: "100" }
    const listed = yield* gaps.orNull(kind, name, list(["work-items"], WorkItemListed, query, bounds.items))
    if (listed === null || listed.length === 0) continue
    if (!isPlanned(name)) {
      gaps.add(kind, name, `its process is not here: ${counted(listed.length)}; import again when it is`)
      continue
    }
    const process = ids.processes.get(name)
    const missing =
      process === undefined
        ? listed
        : yield* Effect.filter(listed, (item) => Effect.map(isComplete(process, item.id), (complete) => !complete))
    const run = Effect.gen(function* () {
      const target = yield* idOf(ids.processes, name)
      // One that is refused keeps no other from coming.
      yield* Effect.forEach(missing, (item) =>
        Effect.catch(bring(target, item.id), (error) =>
          Effect.sync(() => gaps.add(kind, `${name}: ${item.id}`, lineOf(error)))
        )
      )
    })
    const same = listed.length - missing.length
    steps.push({
      kind,
      name,
      action: missing.length === 0 ? "unchanged" : "create",
      detail:
        missing.length === 0
          ? counted(same)
          : `${counted(missing.length)}${same === 0 ? "" : `; ${same} are here already`}`,
      run
    })
  }
  return steps
})
