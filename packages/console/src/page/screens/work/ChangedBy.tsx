/** Who changed a resource last, in the head of its screen. */
import type { AuditEntry } from "@signalbox/api/contract/Audit"
import type { Page } from "../../api.ts"
import { Time } from "../../kit/Basics.tsx"
import { useResource } from "../../load.ts"
import { to } from "../../route.ts"
import { may } from "../../state.ts"
import * as text from "../../text/text.ts"

export const nameOf = ({ id, name, type }: AuditEntry["actor"]) =>
  name ?? (type === "system" ? text.audit.system : type === "command" ? text.audit.command : (id ?? type))

export const ChangedBy = ({ type, id }: { readonly type: string; readonly id: string }) => {
  const path = may("Audit.read_audit") ? "audit" : null
  const [last] =
    useResource<Page<AuditEntry>>(path, { resource_type: type, resource_id: id, limit: 1 }).data?.data ?? []
  return last === undefined ? null : (
    <a class="quiet" href={to(["audit"], { resource: id })}>
      {text.audit.changedBy(nameOf(last.actor), <Time at={last.created_at} />)}
    </a>
  )
}
