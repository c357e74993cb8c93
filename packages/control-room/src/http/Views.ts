/**
 * Work items and outputs as the interface shows them, with their files.
 */
import type { File } from "@signalbox/api/contract/Files"
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Output } from "@signalbox/api/contract/Outputs"
import type { WorkItem, WorkItemListed } from "@signalbox/api/contract/WorkItems"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Files } from "../store/Files.ts"
import type { StoredItem, StoredOutput, StoredSummary } from "../store/WorkItems.ts"
import { FileLinks } from "./FileLinks.ts"

export const summary = (item: StoredSummary): WorkItemListed => ({
  id: item.id,
  created_at: item.createdAt,
  state: item.state,
  state_updated_at: item.stateUpdatedAt,
  process: { id: item.processId },
  process_run: item.processRunId === null ? null : { id: item.processRunId },
  step: item.stepId === null ? null : { id: item.stepId },
  step_run: item.stepRun === null ? null : { id: item.stepRun },
  exception: item.exception
})

/** A work item with its payload and files. */
export const whole = (item: StoredItem, files: ReadonlyArray<File>): WorkItem => ({
  ...summary(item),
  payload: item.payload,
  files
})

export class Views extends Context.Service<
  Views,
  {
    readonly item: (item: StoredItem) => Effect.Effect<WorkItem>
    readonly items: (items: ReadonlyArray<StoredItem>) => Effect.Effect<ReadonlyArray<WorkItem>>
    readonly outputs: (outputs: ReadonlyArray<StoredOutput>) => Effect.Effect<ReadonlyArray<Output>>
  }
>()("@signalbox/control-room/http/Views") {
  static readonly layer = Layer.effect(
    Views,
    Effect.gen(function* () {
      const files = yield* Files
      const links = yield* FileLinks
      /** The files of a page of owners, with one query. */
      const filesOf = Effect.fnUntraced(function* (
        owners: ReadonlyArray<{
          readonly id: string
          readonly workspaceId: WorkspaceId
          readonly mayHaveFiles?: boolean
        }>
      ) {
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
        item: (item) =>
          item.mayHaveFiles
            ? Effect.map(filesOf([item]), (ofOwner) => whole(item, ofOwner(item.id)))
            : Effect.succeed(whole(item, [])),
        items: Effect.fnUntraced(function* (items) {
          const ofOwner = yield* filesOf(items)
          return items.map((item) => whole(item, ofOwner(item.id)))
        }),
        outputs: Effect.fnUntraced(function* (outputs) {
          const ofOwner = yield* filesOf(outputs)
          return outputs.map((output) => ({
            id: output.id,
            created_at: output.createdAt,
            process: { id: output.processId },
            process_run: { id: output.processRunId },
            payload: output.payload,
            files: ofOwner(output.id)
          }))
        })
      })
    })
  )
}
