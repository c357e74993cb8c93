/** A trigger while it is edited. */
import type { Trigger, TriggerListed } from "@signalbox/api/contract/Triggers"

export interface TriggerDraft {
  readonly name: string
  readonly process: string
  readonly enabled: boolean
  readonly atLeast: string
  readonly oldestMinutes: string
  readonly maxRuns: string
  readonly hasAddress: boolean
  readonly signature: "none" | "standard_webhooks" | "hmac"
  readonly secret: string
  readonly header: string
  readonly prefix: string
  readonly handshake: string
  readonly eventId: "none" | "header" | "pointer"
  readonly eventIdAt: string
  readonly maxWaiting: string
}

const text = (number: number | null | undefined) => (number == null ? "" : String(number))

const signatures = ["hmac", "standard_webhooks"] as const

export const draftOf = (trigger: Trigger | undefined, process: string): TriggerDraft => {
  const { start, webhook } = trigger ?? { start: null, webhook: null }
  const kind = signatures.find((known) => known === webhook?.signature?.type)
  const eventId = webhook?.event_id
  return {
    name: trigger?.name ?? "",
    process: trigger?.process.id ?? process,
    enabled: trigger?.enabled ?? true,
    atLeast: trigger === undefined ? "1" : text(start?.at_least),
    oldestMinutes: start?.oldest_seconds == null ? "" : String(start.oldest_seconds / 60),
    maxRuns: text(start?.max_runs ?? 1),
    hasAddress: webhook !== null,
    signature: kind ?? "none",
    secret: "",
    header: webhook?.signature?.header ?? "X-Hub-Signature-256",
    prefix: webhook?.signature?.prefix ?? "sha256=",
    handshake: webhook?.handshake ?? "",
    eventId: eventId == null ? "none" : eventId.header === null ? "pointer" : "header",
    eventIdAt: eventId?.header ?? eventId?.pointer ?? "",
    maxWaiting: text(webhook?.max_waiting ?? 1000)
  }
}

/** A change without a secret leaves it as it is. */
const secretOf = ({ secret }: TriggerDraft) => (secret === "" ? {} : { secret })

const signatureOf = (draft: TriggerDraft) => {
  if (draft.signature === "none") return {}
  return {
    signature:
      draft.signature === "hmac"
        ? { type: "hmac", header: draft.header, prefix: draft.prefix, ...secretOf(draft) }
        : { type: "standard_webhooks", ...secretOf(draft) }
  }
}

const eventIdOf = ({ eventId, eventIdAt }: TriggerDraft) =>
  eventId === "none" ? {} : { event_id: eventId === "header" ? { header: eventIdAt } : { pointer: eventIdAt } }

const startOf = ({ atLeast, maxRuns, oldestMinutes }: TriggerDraft) =>
  atLeast === "" && oldestMinutes === ""
    ? {}
    : {
        start: {
          at_least: atLeast === "" ? undefined : Number(atLeast),
          oldest_seconds: oldestMinutes === "" ? undefined : Math.round(Number(oldestMinutes) * 60),
          max_runs: maxRuns === "" ? undefined : Number(maxRuns)
        }
      }

/** What is sent; the service checks it and names the field that is wrong. */
export const definitionOf = (draft: TriggerDraft, before: TriggerListed | undefined): object => ({
  name: draft.name.trim(),
  process: { id: draft.process },
  enabled: draft.enabled,
  ...startOf(draft),
  webhook: draft.hasAddress
    ? {
        ...signatureOf(draft),
        ...eventIdOf(draft),
        handshake: draft.handshake === "" ? undefined : draft.handshake,
        payload: before?.webhook?.payload == null ? undefined : before.webhook.payload,
        max_waiting: draft.maxWaiting === "" ? undefined : Number(draft.maxWaiting)
      }
    : undefined
})

/** The same trigger, on or off. */
export const switched = (trigger: Trigger): object =>
  definitionOf({ ...draftOf(trigger, ""), enabled: !trigger.enabled }, trigger)
