/** When an item is due, and whether that is near. */
import type { WorkItemListed } from "@signalbox/api/contract/WorkItems"
import { Time } from "../../kit/Basics.tsx"
import * as text from "../../text/text.ts"

export const Due = ({ item: { due_at, due_state } }: { readonly item: Pick<WorkItemListed, "due_at" | "due_state"> }) =>
  due_at === null ? null : (
    <span class={due_state === "late" ? "wrong" : "quiet"}>
      {due_state === "late" ? text.items.wasDue : text.items.dueAt} <Time at={due_at} />
    </span>
  )
