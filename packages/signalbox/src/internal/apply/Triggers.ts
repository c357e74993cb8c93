import type { TriggerId } from "@signalbox/api/contract/Ids"
import type { TriggerWebhook } from "@signalbox/api/contract/Triggers"
import * as Triggers from "@signalbox/api/Triggers"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import { fileText, resolve, variable } from "./Content.ts"
import type { Trigger } from "./Document.ts"
import { idOf, type Ids, type Section, type Step, unchanged } from "./Step.ts"

const defaultMaxWaiting = 1000

/** The webhook of a trigger as the service shows it. */
const shownWebhook = ({ event_id, handshake, max_waiting, payload, signature }: NonNullable<Trigger["webhook"]>) => ({
  signature:
    signature === undefined
      ? null
      : signature.type === "hmac"
        ? { type: signature.type, header: signature.header, prefix: signature.prefix || null }
        : { type: signature.type, header: null, prefix: null },
  handshake: handshake ?? null,
  payload: payload === "" ? null : (payload ?? null),
  event_id:
    event_id === undefined
      ? null
      : {
          header: "header" in event_id ? event_id.header : null,
          pointer: "pointer" in event_id ? event_id.pointer : null
        },
  max_waiting: max_waiting ?? defaultMaxWaiting
})

/** A trigger of the file as the service shows it. */
const shown = ({ enabled, start, webhook }: Trigger) => ({
  enabled: enabled ?? true,
  start:
    start === undefined
      ? null
      : {
          at_least: start.at_least ?? null,
          oldest_seconds: start.oldest_seconds ?? null,
          max_runs: start.max_runs ?? 1
        },
  webhook: webhook === undefined ? null : shownWebhook(webhook)
})

/** The webhook with the secret that the file names. */
const webhookOf = Effect.fnUntraced(function* (
  name: string,
  { signature, ...webhook }: NonNullable<Trigger["webhook"]>,
  folder: string
) {
  if (signature === undefined) return webhook satisfies TriggerWebhook
  const { secret } = signature
  const field = `triggers.${name}.webhook.signature.secret`
  const text =
    "env" in secret ? yield* variable(field, secret.env) : yield* fileText(field, resolve(folder, secret.file))
  const signed: TriggerWebhook = { ...webhook, signature: { ...signature, secret: Redacted.make(text) } }
  return signed
})

/** Triggers are identified by their names. Secrets cannot be read back: those of existing ones are written with a change. */
export const plan = Effect.fnUntraced(function* (
  wanted: Readonly<Record<string, Trigger>>,
  ids: Ids,
  folder: string,
  rewrite: boolean
) {
  const left = new Map<string, Triggers.TriggerListed>()
  for (const trigger of yield* Stream.runCollect(Triggers.stream({ limit: 500 }))) left.set(trigger.name, trigger)
  const steps: Array<Step> = []
  for (const [name, trigger] of Object.entries(wanted)) {
    const { process, webhook, ...rest } = trigger
    const found = left.get(name)
    left.delete(name)
    const next = shown(trigger)
    const changed =
      found === undefined
        ? []
        : [
            ...(found.enabled === next.enabled ? [] : ["enabled"]),
            ...(isDeepStrictEqual(found.start, next.start) ? [] : ["start"]),
            ...(isDeepStrictEqual(found.webhook, next.webhook) ? [] : ["webhook"]),
            ...(found.process.id === ids.processes.get(process) ? [] : ["process"]),
            ...(rewrite && webhook?.signature !== undefined ? ["secret"] : [])
          ]
    if (found !== undefined && changed.length === 0) {
      steps.push(unchanged("trigger", name))
      continue
    }
    const address = webhook === undefined ? {} : { webhook: yield* webhookOf(name, webhook, folder) }
    const write = (id: TriggerId | null) =>
      Effect.flatMap(idOf(ids.processes, process), (of) => {
        const definition = { name, process: { id: of }, ...rest, ...address }
        return id === null ? Triggers.create(definition) : Triggers.update(id, definition)
      })
    steps.push({
      kind: "trigger",
      name,
      action: found === undefined ? "create" : "change",
      detail: changed.join(", "),
      run: write(found?.id ?? null)
    })
  }
  const extra = [...left.values()].map(({ id, name }): Step => ({
    kind: "trigger",
    name,
    action: "delete",
    detail: "",
    run: Triggers.remove(id)
  }))
  const section: Section = { steps, extra }
  return section
})
