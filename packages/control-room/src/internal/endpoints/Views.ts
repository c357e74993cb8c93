/** Work items and outputs in the form of the interface, with their files. */
import type { File } from "@signalbox/api/contract/Files"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WorkItem, WorkItemListed } from "@signalbox/api/contract/WorkItems"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dueStateOf } from "../engine/Order.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import type { StoredPageOutput } from "../store/items/Outputs.ts"
import type { StoredItem, StoredPageItem, StoredSummary } from "../store/items/StoredItem.ts"
import { FileLinks } from "../transfers/FileLinks.ts"

/** `at`: the current time, as stored. */
export const summary = (item: StoredSummary, at: string): WorkItemListed => ({
  id: item.id,
  created_at: item.createdAt,
  state: item.state,
  state_updated_at: item.stateUpdatedAt,
  process: { id: item.processId },
  process_run: item.processRunId === null ? null : { id: item.processRunId },
  step: item.stepId === null ? null : { id: item.stepId },
  step_run: item.stepRun === null ? null : { id: item.stepRun },
  exception: item.exception,
  priority: item.priority,
  due_at: item.dueAt,
  due_state: dueStateOf(item, at),
  reference: item.reference,
  tags: item.tags
})

/** A work item with its payload and files. */
const whole = (item: StoredItem, files: ReadonlyArray<File>, at: string): WorkItem => ({
  ...summary(item, at),
  payload: item.payload,
  files
})

/** The JSON text of an object with payload and files added; the payload is JSON text already. */
export const withData = (head: object, payload: string, files: ReadonlyArray<object>): string =>
  `${JSON.stringify(head).slice(0, -1)},"payload":${payload},"files":${JSON.stringify(files)}}`

/** A work item or output. */
interface Owner {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly mayHaveFiles?: boolean
}

export class Views extends Context.Service<
  Views,
  {
    /** The files of a page of owners, read in one query. */
    readonly filesOf: (owners: ReadonlyArray<Owner>) => Effect.Effect<(id: string) => ReadonlyArray<File>>
    readonly item: (item: StoredItem) => Effect.Effect<WorkItem>
    /** As JSON text. */
    readonly itemText: (item: StoredPageItem) => Effect.Effect<string>
    /** As JSON texts. */
    readonly items: (items: ReadonlyArray<StoredPageItem>) => Effect.Effect<ReadonlyArray<string>>
    /** As JSON texts. */
    readonly outputs: (outputs: ReadonlyArray<StoredPageOutput>) => Effect.Effect<ReadonlyArray<string>>
  }
>()("@signalbox/control-room/endpoints/Views") {
  static readonly layer = Layer.effect(
    Views,
    Effect.gen(function* () {
      const files = yield* Files
      const links = yield* FileLinks
      const { now } = yield* Database
      const filesOf = Effect.fnUntraced(function* (owners: ReadonlyArray<Owner>) {
        const asked = owners.filter((owner) => owner.mayHaveFiles !== false)
        if (asked.length === 0) return (): ReadonlyArray<File> => []
        const workspaces = new Map(asked.map((owner) => [owner.id, owner.workspaceId]))
        const byOwner = new Map<string, Array<File>>()
        for (const file of yield* files.ofOwners([...workspaces.keys()])) {
          const workspace = workspaces.get(file.ownerId)
          if (workspace === undefined) continue
          const known = byOwner.get(file.ownerId) ?? []
          known.push(yield* links.file(workspace, file))
          byOwner.set(file.ownerId, known)
        }
        return (id: string): ReadonlyArray<File> => byOwner.get(id) ?? []
      })
      return Views.of({
        filesOf,
        item: Effect.fnUntraced(function* (item) {
          const ofOwner = item.mayHaveFiles ? yield* filesOf([item]) : () => []
          return whole(item, ofOwner(item.id), yield* now)
        }),
        itemText: (item) =>
          Effect.flatMap(now, (at) =>
            item.mayHaveFiles
              ? Effect.map(filesOf([item]), (ofOwner) => withData(summary(item, at), item.payload, ofOwner(item.id)))
              : Effect.succeed(withData(summary(item, at), item.payload, []))
          ),
        items: Effect.fnUntraced(function* (items) {
          const ofOwner = yield* filesOf(items)
          const at = yield* now
          return items.map((item) => withData(summary(item, at), item.payload, ofOwner(item.id)))
        }),
        outputs: Effect.fnUntraced(function* (outputs) {
          const ofOwner = yield* filesOf(outputs)
          return outputs.map((output) => {
            const head = {
              id: output.id,
              created_at: output.createdAt,
              process: { id: output.processId },
              process_run: { id: output.processRunId }
            }
            return withData(head, output.payload, ofOwner(output.id))
          })
        })
      })
    })
  )
}
