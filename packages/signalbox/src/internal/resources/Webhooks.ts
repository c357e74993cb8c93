/** `signalbox webhooks`: who is notified of runs, and what was delivered. */
import { WebhookDeliveryId } from "@signalbox/api/contract/Ids"
import { deliveryStates, webhookEventTypes } from "@signalbox/api/contract/Webhooks"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { type Columns, printFields, printList } from "../output/List.ts"
import { deleteCommand, find, limitFlag, listCommand, nameArgument, type Noun, showCommand } from "./Resource.ts"
import { processNoun } from "./Processes.ts"

export const webhookNoun: Noun<Webhooks.WebhookListed> = {
  one: "webhook",
  many: "webhooks",
  command: "webhooks",
  list: () => Webhooks.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ endpoint }) => endpoint,
  columns: {
    id: ({ id }) => id,
    enabled: ({ enabled }) => (enabled ? "yes" : "no"),
    events: ({ enabled_events }) => enabled_events.join(" "),
    endpoint: ({ endpoint }) => endpoint
  },
  first: "create one with `signalbox webhooks create`"
}

const webhookArgument = nameArgument(webhookNoun).pipe(Argument.withDescription("The id or the address of a webhook"))

const withoutSecret = ({ secret: _, ...webhook }: Webhooks.Webhook) => webhook

/** Prints a webhook with its secret, which its receiver needs to verify what it gets. */
const printWithSecret = Effect.fnUntraced(function* (json: boolean, webhook: Webhooks.Webhook) {
  yield* printFields(json, { ...webhook, secret: Redacted.value(webhook.secret) })
  yield* Console.error("The receiver verifies signatures with this secret. Treat it like a password.")
})

/** The events of runs, which a webhook gets when none are named. */
const runEvents = webhookEventTypes.filter((event) => event.startsWith("process_run."))

const create = Command.make(
  "create",
  {
    endpoint: Argument.String("endpoint").pipe(Argument.withDescription("The address to notify")),
    event: Flag.Literals("event", webhookEventTypes).pipe(
      Flag.withDescription("An event to send; may be repeated. Default: all events of runs"),
      Flag.withMetavar("EVENT"),
      Flag.atLeast(0)
    ),
    process: Flag.String("process").pipe(
      Flag.withDescription("Only events of this process, by name or id"),
      Flag.optional
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, endpoint, event, json, process }) {
    const program = Effect.gen(function* () {
      const only = Option.isNone(process) ? {} : { process: (yield* find(processNoun, process.value)).id }
      return yield* Webhooks.create({ endpoint, events: event.length === 0 ? runEvents : event, ...only })
    })
    yield* printWithSecret(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription("Creates a webhook, and prints it with the secret"),
  Command.withExamples([
    {
      command: "signalbox webhooks create https://example.com/hook --event process_run.unresolved",
      description: "Notify when a run needs attention"
    }
  ])
)

const changes = {
  enable: { apply: { enabled: true }, description: "Enables a webhook" },
  disable: { apply: { enabled: false }, description: "Disables a webhook: no events are sent" }
} as const

const change = (name: keyof typeof changes) => {
  const { apply, description } = changes[name]
  return Command.make(
    name,
    { webhook: webhookArgument, ...connectionFlags },
    Effect.fnUntraced(function* ({ data, json, webhook }) {
      const changed = Effect.flatMap(find(webhookNoun, webhook), ({ id }) => Webhooks.update(id, apply))
      yield* printFields(json, withoutSecret(yield* connected(data)(changed)))
    })
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: `signalbox webhooks ${name} https://example.com/hook`, description: "By address" }
    ])
  )
}

const rotateSecret = Command.make(
  "rotate-secret",
  { webhook: webhookArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, webhook }) {
    const rotated = Effect.flatMap(find(webhookNoun, webhook), ({ id }) => Webhooks.rotateSecret(id))
    yield* printWithSecret(json, yield* connected(data)(rotated))
  })
).pipe(
  Command.withDescription(
    "Rotates the secret of a webhook, and prints the new one; for 24 hours events are signed with both"
  ),
  Command.withExamples([{ command: "signalbox webhooks rotate-secret 0199a1b2-...", description: "By its id" }])
)

const test = Command.make(
  "test",
  { webhook: webhookArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, webhook }) {
    const sent = Effect.flatMap(find(webhookNoun, webhook), ({ id }) => Webhooks.test(id))
    yield* printFields(json, yield* connected(data)(sent))
  })
).pipe(
  Command.withDescription("Sends a test event to a webhook, and prints the delivery"),
  Command.withExamples([
    { command: "signalbox webhooks test https://example.com/hook", description: "Send a test event" }
  ])
)

const deliveryColumns: Columns<Webhooks.WebhookDelivery> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  event: ({ event_type }) => event_type,
  "created at": ({ created_at }) => created_at,
  attempts: ({ attempts }) => String(attempts),
  "next attempt": ({ next_attempt_at }) => next_attempt_at ?? "",
  "last response": ({ error, response_status }) => error ?? (response_status === null ? "" : String(response_status))
}

const deliveries = Command.make(
  "deliveries",
  {
    webhook: webhookArgument,
    state: Flag.Literals("state", deliveryStates).pipe(
      Flag.withDescription("Only deliveries in this state"),
      Flag.optional
    ),
    limit: limitFlag,
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, json, limit, state, webhook }) {
    const program = Effect.gen(function* () {
      const { id } = yield* find(webhookNoun, webhook)
      const all = Webhooks.deliveries(id, Option.isNone(state) ? {} : { state: state.value })
      const found = Option.isNone(limit) ? all : Stream.take(all, limit.value)
      yield* printList(json, found, deliveryColumns, "No deliveries in the last 14 days")
    })
    yield* connected(data)(program)
  })
).pipe(
  Command.withDescription("Lists the deliveries to a webhook of the last 14 days, newest first"),
  Command.withExamples([
    {
      command: "signalbox webhooks deliveries https://example.com/hook --state failed",
      description: "List failed deliveries"
    }
  ])
)

const redeliver = Command.make(
  "redeliver",
  {
    webhook: webhookArgument,
    delivery: Argument.String("delivery").pipe(
      Argument.withDescription("The id of a delivery"),
      Argument.withSchema(WebhookDeliveryId)
    ),
    ...connectionFlags
  },
  Effect.fnUntraced(function* ({ data, delivery, json, webhook }) {
    const sent = Effect.flatMap(find(webhookNoun, webhook), ({ id }) => Webhooks.redeliver(id, delivery))
    yield* printFields(json, yield* connected(data)(sent))
  })
).pipe(
  Command.withDescription("Redelivers an event with the same payload"),
  Command.withExamples([
    {
      command: "signalbox webhooks redeliver https://example.com/hook 0199a1b2-...",
      description: "Redeliver after the receiver was repaired"
    }
  ])
)

export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription("Lists, shows, creates, changes, tests and deletes webhooks, and lists deliveries"),
  Command.withSubcommands([
    listCommand(webhookNoun),
    showCommand(webhookNoun, ({ id }) => Effect.map(Webhooks.get(id), withoutSecret)),
    create,
    change("enable"),
    change("disable"),
    rotateSecret,
    test,
    deliveries,
    redeliver,
    deleteCommand(webhookNoun, ({ id }) => Webhooks.remove(id))
  ])
)
