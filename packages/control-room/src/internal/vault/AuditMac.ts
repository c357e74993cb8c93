/**
 * The MACs of the audit. A chain of plain hashes could be computed again by whoever can write the table; these need the key of the
 * room, which is sealed under its master key.
 */
import type { AuditEntry } from "@signalbox/api/contract/Audit"
import { createHmac } from "node:crypto"

/** What is sealed of an entry: all but its place in the chain. Names of keys and people are those of now, and no part of it. */
export type Content = Omit<AuditEntry, "number" | "mac" | "previous_mac" | "actor"> & {
  readonly actor: Omit<AuditEntry["actor"], "name">
}

const hmac = (key: Uint8Array, purpose: string, content: string | Uint8Array) =>
  createHmac("sha256", key).update(`${purpose}\n`).update(content).digest("hex")

/** The MAC of an entry by itself, as it is written. */
export const sealOf = (key: Uint8Array, workspace: string, entry: Content): string => {
  const { action, actor, address, changes, created_at, id, request_id, resource } = entry
  const parts = [
    workspace,
    id,
    created_at,
    [actor.type, actor.id, actor.session_id],
    address,
    request_id,
    action,
    [resource.type, resource.id, resource.name],
    changes.map(({ after, before, field }) => [field, before, after])
  ]
  return hmac(key, "entry", JSON.stringify(parts))
}

/** The MAC of an entry in its place, after the entry with the MAC `previous`; null: it is the first. */
export const linkOf = (key: Uint8Array, number: number, previous: string | null, seal: string): string =>
  hmac(key, "link", JSON.stringify([number, previous, seal]))

/** Whether an entry is the one that was linked in this place. */
export const isLinked = (
  key: Uint8Array,
  workspace: string,
  entry: Content & Pick<AuditEntry, "number" | "mac" | "previous_mac">
): boolean =>
  entry.number !== null && entry.mac === linkOf(key, entry.number, entry.previous_mac, sealOf(key, workspace, entry))

/** Stands for a value that is not stored. The digest of a number of a person would be that number: all can be tried. */
export const digestOf = (key: Uint8Array, value: string | Uint8Array): string => hmac(key, "value", value).slice(0, 32)
