/** Work items and outputs in the form of the interface, with their files. */
import type { File } from "@signalbox/api/contract/Files"
import type { CurrentPrincipal } from "@signalbox/api/contract/Authorization"
import type { ProcessId, WorkspaceId } from "@signalbox/api/contract/Ids"
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dueStateOf } from "../engine/Order.ts"
import { Database } from "../store/database/Database.ts"
import { Files } from "../store/files/Files.ts"
import type { StoredPageOutput } from "../store/items/Outputs.ts"
import type { StoredPageItem, StoredSummary } from "../store/items/StoredItem.ts"
import { FileLinks } from "../transfers/FileLinks.ts"
import { Masking, type Seen } from "./Masking.ts"

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

/** The JSON text of an object with payload and files added; the payload is JSON text already. */
export const withData = (head: object, { masked, payload }: Seen, files: ReadonlyArray<object>): string =>
  `${JSON.stringify(head).slice(0, -1)},"payload":${payload},"masked":${masked.length === 0 ? "[]" : JSON.stringify(masked)},"files":${JSON.stringify(files)}}`

/** In the place of a payload that is not there. */
const unseen: Seen = { payload: "null", masked: [] }

/** A work item or output. */
interface Owner {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly processId: ProcessId
  readonly mayHaveFiles?: boolean
}

export class Views extends Context.Service<
  Views,
  {
    /** The files of a page of owners, read in one query; those that the caller may not read have an address that says so. */
    readonly filesOf: (
      owners: ReadonlyArray<Owner>
    ) => Effect.Effect<(id: string) => ReadonlyArray<File>, never, CurrentPrincipal>
    /** As JSON text. */
    readonly itemText: (item: StoredPageItem) => Effect.Effect<string, never, CurrentPrincipal>
    /** As JSON texts. */
    readonly items: (
      items: ReadonlyArray<StoredPageItem>
    ) => Effect.Effect<ReadonlyArray<string>, never, CurrentPrincipal>
    /** As JSON texts. */
    readonly outputs: (
      outputs: ReadonlyArray<StoredPageOutput>
    ) => Effect.Effect<ReadonlyArray<string>, never, CurrentPrincipal>
  }
>()("@signalbox/control-room/endpoints/Views") {
  static readonly layer = Layer.effect(
    Views,
    Effect.gen(function* () {
      const files = yield* Files
      const links = yield* FileLinks
      const masking = yield* Masking
      const { now } = yield* Database
      const filesOf = Effect.fnUntraced(function* (owners: ReadonlyArray<Owner>) {
        const asked = owners.filter((owner) => owner.mayHaveFiles !== false)
        if (asked.length === 0) return (): ReadonlyArray<File> => []
        const byId = new Map(asked.map((owner) => [owner.id, owner]))
        const found = yield* files.ofOwners([...byId.keys()])
        if (found.length === 0) return (): ReadonlyArray<File> => []
        const hidden = yield* masking.withoutFiles(asked.map(({ processId }) => processId))
        const byOwner = new Map<string, Array<File>>()
        for (const file of found) {
          const owner = byId.get(file.ownerId)
          if (owner === undefined) continue
          const known = byOwner.get(file.ownerId) ?? []
          const link = hidden.has(owner.processId) ? links.hidden : links.file
          known.push(yield* link(owner.workspaceId, file))
          byOwner.set(file.ownerId, known)
        }
        return (id: string): ReadonlyArray<File> => byOwner.get(id) ?? []
      })
      /** Each of a page with its payload and its files. */
      const texts = Effect.fnUntraced(function* <A extends Owner & { readonly payload: string }>(
        rows: ReadonlyArray<A>,
        head: (row: A) => object
      ) {
        const ofOwner = yield* filesOf(rows)
        const seen = yield* masking.payloads(rows)
        return rows.map((row, index) => withData(head(row), seen[index] ?? unseen, ofOwner(row.id)))
      })
      const items = (items: ReadonlyArray<StoredPageItem>) =>
        Effect.flatMap(now, (at) => texts(items, (item) => summary(item, at)))
      return Views.of({
        filesOf,
        itemText: (item) => Effect.map(items([item]), ([text = ""]) => text),
        items,
        outputs: (outputs) =>
          texts(outputs, (output) => ({
            id: output.id,
            created_at: output.createdAt,
            process: { id: output.processId },
            process_run: { id: output.processRunId }
          }))
      })
    })
  )
}
