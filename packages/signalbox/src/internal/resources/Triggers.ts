/** `signalbox triggers`: what starts runs, and addresses whose requests become work items. */
import { TriggerDefinition, triggerHandshakes } from "@signalbox/api/contract/Triggers"
import * as Triggers from "@signalbox/api/Triggers"
import { defined } from "@signalbox/transport/Defined"
import { TaggedError } from "@signalbox/transport/Printed"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connected, connectionFlags } from "../connection/Connection.ts"
import { printFields } from "../output/List.ts"
import { deleteCommand, find, listCommand, nameArgument, type Noun, showCommand } from "./Resource.ts"
import { processNoun } from "./Processes.ts"
import * as FlagValues from "../settings/FlagValues.ts"

/** The flags do not describe a trigger. */
export class TriggerFlagError extends TaggedError<TriggerFlagError>()("TriggerFlagError", {
  message: Schema.String
}) {}

const startText = ({ start }: Triggers.TriggerListed) => {
  if (start === null) return ""
  const { at_least, oldest_seconds } = start
  return [
    ...(at_least === null ? [] : [`${at_least} items`]),
    ...(oldest_seconds === null ? [] : [`${oldest_seconds} s`])
  ].join(" or ")
}

export const triggerNoun: Noun<Triggers.TriggerListed> = {
  one: "trigger",
  many: "triggers",
  command: "triggers",
  list: () => Triggers.stream({ limit: 500 }),
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: {
    id: ({ id }) => id,
    name: ({ name }) => name,
    process: ({ process }) => process.name,
    enabled: ({ enabled }) => (enabled ? "yes" : "no"),
    start: startText,
    webhook: ({ webhook }) => (webhook === null ? "no" : (webhook.signature?.type ?? webhook.handshake ?? "unsigned")),
    problem: ({ problem }) => problem?.message ?? ""
  },
  first: "create one with `signalbox triggers create`"
}

const triggerArgument = nameArgument(triggerNoun)

/** Prints a trigger with its address, which is shown only now. */
const printWithUrl = Effect.fnUntraced(function* (json: boolean, { url, ...trigger }: Triggers.TriggerCreated) {
  yield* printFields(json, { ...trigger, url: url === null ? null : Redacted.value(url) })
  if (url !== null) yield* Console.error("Copy this address now; it is not shown again. Treat it like a password.")
})

const count = (name: string, description: string) =>
  FlagValues.whole(name, 1).pipe(Flag.withDescription(description), Flag.optional)

const pairOf = (given: string) => {
  const at = given.indexOf("=")
  return at < 1
    ? Effect.fail(
        new TriggerFlagError({ message: `--payload ${given}: Expected NAME=POINTER, such as order=/order/id` })
      )
    : Effect.succeed([given.slice(0, at), given.slice(at + 1)] as const)
}

// Without the input in its errors: it may have a secret.
const decodeDefinition = Schema.decodeUnknownEffect(TriggerDefinition, { reportInput: false })

const decode = (definition: unknown) =>
  Effect.mapError(decodeDefinition(definition), ({ message }) => new TriggerFlagError({ message }))

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("The name of the trigger")),
    process: Argument.String("process").pipe(Argument.withDescription("The name or id of a process")),
    atLeast: count("at-least", "Start a run when this number of items wait"),
    oldest: count("oldest-seconds", "Start a run when the oldest item has waited for this time"),
    maxRuns: count("max-runs", "The most concurrent runs of the trigger; default 1"),
    webhook: Flag.Boolean("webhook").pipe(
      Flag.withDescription("Create an address whose requests create work items"),
      Flag.withDefault(false)
    ),
    secretEnv: FlagValues.text("secret-env", "The environment variable with the secret of the signatures", "VARIABLE"),
    signatureHeader: FlagValues.text(
      "signature-header",
      "The header of hexadecimal signatures; default: Slack's with the Slack handshake, else Standard Webhooks",
      "HEADER"
    ),
    signaturePrefix: FlagValues.text(
      "signature-prefix",
      "The prefix of the hexadecimal digits, such as sha256=",
      "TEXT"
    ),
    handshake: Flag.Literals("handshake", triggerHandshakes).pipe(
      Flag.withDescription("The product whose handshake to complete"),
      Flag.optional
    ),
    eventHeader: FlagValues.text("event-header", "The header with the id of the event", "HEADER"),
    eventPointer: FlagValues.text("event-pointer", "A JSON pointer to the id of the event", "POINTER"),
    payload: Flag.String("payload").pipe(
      Flag.withDescription("A part of the payload and its place in the body; may be repeated. Default: the whole body"),
      Flag.withMetavar("NAME=POINTER"),
      Flag.atLeast(0)
    ),
    maxWaiting: count("max-waiting", "The most waiting items; further requests are refused. Default 1000"),
    ...connectionFlags
  },
  Effect.fnUntraced(function* (flags) {
    const { data, eventHeader, eventPointer, json, name, payload, process, secretEnv, signatureHeader } = flags
    const variable = Option.getOrNull(secretEnv)
    const secret =
      variable === null
        ? null
        : yield* Effect.mapError(
            Config.String(variable),
            () =>
              new TriggerFlagError({
                message: `--secret-env: the environment variable ${variable} is not set: set it, or name another`
              })
          )
    const signature =
      secret === null
        ? {}
        : {
            signature: Option.isNone(signatureHeader)
              ? { type: Option.contains(flags.handshake, "slack") ? "slack" : "standard_webhooks", secret }
              : {
                  type: "hmac",
                  header: signatureHeader.value,
                  ...FlagValues.given("prefix", flags.signaturePrefix),
                  secret
                }
          }
    const parts = yield* Effect.forEach(payload, pairOf)
    const event = Option.isSome(eventHeader)
      ? FlagValues.given("header", eventHeader)
      : FlagValues.given("pointer", eventPointer)
    const start = {
      ...FlagValues.given("at_least", flags.atLeast),
      ...FlagValues.given("oldest_seconds", flags.oldest),
      ...FlagValues.given("max_runs", flags.maxRuns)
    }
    const webhook = {
      ...signature,
      ...FlagValues.given("handshake", flags.handshake),
      ...defined({
        event_id: Object.keys(event).length === 0 ? undefined : event,
        payload: parts.length === 0 ? undefined : Object.fromEntries(parts)
      }),
      ...FlagValues.given("max_waiting", flags.maxWaiting)
    }
    const settings = defined({
      start: Object.keys(start).length === 0 ? undefined : start,
      webhook: flags.webhook ? webhook : undefined
    })
    if (!flags.webhook && flags.atLeast._tag === "None" && flags.oldest._tag === "None") {
      const message = "the trigger has no condition: use --at-least or --oldest-seconds, or --webhook for an address"
      if (Object.keys(webhook).length === 0) return yield* new TriggerFlagError({ message })
    }
    if (!flags.webhook && Object.keys(webhook).length > 0) {
      return yield* new TriggerFlagError({ message: "--webhook: needed with the options of an address" })
    }
    const program = Effect.gen(function* () {
      const { id } = yield* find(processNoun, process)
      return yield* Triggers.create(yield* decode({ name, process: { id }, ...settings }))
    })
    yield* printWithUrl(json, yield* connected(data)(program))
  })
).pipe(
  Command.withDescription("Creates a trigger, and prints it with the address"),
  Command.withExamples([
    {
      command: "signalbox triggers create batches orders --at-least 50 --oldest-seconds 3600",
      description: "Start a run when 50 items wait, or one has waited for an hour"
    },
    {
      command:
        "signalbox triggers create pushes orders --at-least 1 --webhook --secret-env HOOK_SECRET --signature-header X-Hub-Signature-256 --signature-prefix sha256= --event-header X-GitHub-Delivery",
      description: "Start a run for each push to a repository on GitHub"
    }
  ])
)

/** What the service shows of a trigger, as it is written; secrets stay. */
const definitionOf = ({ enabled: _, ...trigger }: Triggers.TriggerListed, enabled: boolean) => {
  const present = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
  const { name, process, start, webhook } = trigger
  return decode({
    name,
    process: { id: process.id },
    enabled,
    ...defined({
      start: start === null ? undefined : present(start),
      webhook:
        webhook === null
          ? undefined
          : {
              ...present(webhook),
              ...defined({
                signature: webhook.signature === null ? undefined : present(webhook.signature),
                event_id: webhook.event_id === null ? undefined : present(webhook.event_id)
              })
            }
    })
  })
}

const switches = {
  enable: { enabled: true, description: "Enables a trigger: it starts runs and accepts requests" },
  disable: { enabled: false, description: "Disables a trigger: it starts no runs and refuses requests" }
} as const

const toggle = (name: keyof typeof switches) => {
  const { description, enabled } = switches[name]
  return Command.make(
    name,
    { trigger: triggerArgument, ...connectionFlags },
    Effect.fnUntraced(function* ({ data, json, trigger }) {
      const program = Effect.gen(function* () {
        const listed = yield* find(triggerNoun, trigger)
        const { url: _, ...changed } = yield* Triggers.update(listed.id, yield* definitionOf(listed, enabled))
        return changed
      })
      yield* printFields(json, yield* connected(data)(program))
    })
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([{ command: `signalbox triggers ${name} pushes`, description: "By its name" }])
  )
}

const rotate = Command.make(
  "rotate-url",
  { trigger: triggerArgument, ...connectionFlags },
  Effect.fnUntraced(function* ({ data, json, trigger }) {
    const rotated = Effect.flatMap(find(triggerNoun, trigger), ({ id }) => Triggers.rotateUrl(id))
    yield* printWithUrl(json, yield* connected(data)(rotated))
  })
).pipe(
  Command.withDescription("Rotates the address of a trigger: prints a new one and revokes the old one"),
  Command.withExamples([{ command: "signalbox triggers rotate-url pushes", description: "Replace a leaked address" }])
)

export const triggers = Command.make("triggers").pipe(
  Command.withDescription("Lists, shows, creates, enables, disables and deletes triggers of processes"),
  Command.withSubcommands([
    listCommand(triggerNoun),
    showCommand(triggerNoun, ({ id }) => Triggers.get(id)),
    create,
    toggle("enable"),
    toggle("disable"),
    rotate,
    deleteCommand(triggerNoun, ({ id }) => Triggers.remove(id))
  ])
)
