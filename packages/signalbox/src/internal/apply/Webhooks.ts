import type { WebhookListed } from "@signalbox/api/contract/Webhooks"
import * as Webhooks from "@signalbox/api/Webhooks"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import { ApplyFileError, type Webhook } from "./Document.ts"
import { asSet, idOf, type Ids, type Section, type Step, unchanged } from "./Step.ts"

const label = (endpoint: string, process: string | undefined) =>
  process === undefined ? endpoint : `${endpoint} (${process})`

/** No host has this name (RFC 2606). */
const nowhere = "https://disabled.invalid/"

/**
 * Creates a webhook that is disabled. It has its endpoint only then, so that nothing is sent there before. `begun`: one that a killed
 * command has begun to create.
 */
const createDisabled = Effect.fnUntraced(function* (
  { endpoint, ...webhook }: Webhooks.NewWebhook,
  begun: WebhookListed | undefined
) {
  const { id } = begun ?? (yield* Webhooks.create({ ...webhook, endpoint: nowhere }))
  yield* Webhooks.update(id, { enabled: false }).pipe(
    Effect.andThen(Webhooks.update(id, { endpoint, events: webhook.events })),
    Effect.tapError(() => Effect.ignore(Webhooks.remove(id)))
  )
})

/** Webhooks have no name: they are identified by endpoint and process. */
export const plan = Effect.fnUntraced(function* (wanted: ReadonlyArray<Webhook>, ids: Ids) {
  const left: Array<WebhookListed> = [...(yield* Stream.runCollect(Webhooks.stream({ limit: 500 })))]
  const nameOfProcess = (listed: WebhookListed) =>
    [...ids.processes].find(([, id]) => id === listed.process?.id)?.[0] ?? listed.process?.id
  const labels = new Set<string>()
  const steps: Array<Step> = []
  for (const [index, { enabled, endpoint, events, process }] of wanted.entries()) {
    const name = label(endpoint, process)
    if (labels.has(name)) {
      return yield* new ApplyFileError({
        message: `webhooks.${index}: another webhook has the same endpoint and process; list all events in one webhook`
      })
    }
    labels.add(name)
    const at = left.findIndex((listed) => listed.endpoint === endpoint && nameOfProcess(listed) === process)
    const found = at < 0 ? undefined : left.splice(at, 1)[0]
    if (found === undefined) {
      const unfinished = left.findIndex((one) => one.endpoint === nowhere && nameOfProcess(one) === process)
      const begun = unfinished < 0 || enabled !== false ? undefined : left.splice(unfinished, 1)[0]
      const run = Effect.gen(function* () {
        const of = process === undefined ? {} : { process: yield* idOf(ids.processes, process) }
        const webhook = { endpoint, events, ...of }
        return yield* enabled === false ? createDisabled(webhook, begun) : Webhooks.create(webhook)
      })
      steps.push({ kind: "webhook", name, action: "create", detail: events.join(", "), run })
      continue
    }
    const change = defined({
      events: isDeepStrictEqual(asSet(found.enabled_events), asSet(events)) ? undefined : events,
      enabled: enabled === undefined || enabled === found.enabled ? undefined : enabled
    })
    const changed = Object.keys(change)
    steps.push(
      changed.length === 0
        ? unchanged("webhook", name)
        : {
            kind: "webhook",
            name,
            action: "change",
            detail: changed.join(", "),
            run: Webhooks.update(found.id, change)
          }
    )
  }
  const extra = left.map((listed): Step => ({
    kind: "webhook",
    name: label(listed.endpoint, nameOfProcess(listed)),
    action: "delete",
    detail: "",
    run: Webhooks.remove(listed.id)
  }))
  const section: Section = { steps, extra }
  return section
})
