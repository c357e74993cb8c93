import { AlertChannelDefinition } from "@signalbox/api/contract/AlertChannels"
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { isDeepStrictEqual } from "node:util"
import { fileText, resolve, variable } from "./Content.ts"
import { type AlertChannel, ApplyFileError } from "./Document.ts"
import { asSet, type Ids, type Section, type Step, unchanged } from "./Step.ts"

// Without the input in its errors: it may have a secret.
const decodeDefinition = Schema.decodeUnknownEffect(AlertChannelDefinition, {
  reportInput: false,
  onExcessProperty: "error"
})

/** The texts that the file takes from elsewhere; the others as they are. */
const definitionOf = Effect.fnUntraced(function* (name: string, channel: AlertChannel, folder: string) {
  const field = `alert_channels.${name}`
  const text = Effect.fnUntraced(function* (part: string, source: NonNullable<AlertChannel["url"]>) {
    if (typeof source === "string") return source
    return yield* "env" in source
      ? variable(`${field}.${part}`, source.env)
      : fileText(`${field}.${part}`, resolve(folder, source.file))
  })
  const { ca, password, token, url, ...rest } = channel
  const taken = yield* Effect.forEach(Object.entries({ ca, password, token, url }), ([part, source]) =>
    source === undefined ? Effect.succeed([]) : Effect.map(text(part, source), (value) => [[part, value] as const])
  )
  return yield* Effect.mapError(
    decodeDefinition({ name, settings: { ...rest, ...Object.fromEntries(taken.flat()) } }),
    ({ message }) => new ApplyFileError({ message: `${field}: ${message}` })
  )
})

/** An address in the form of the URL standard, so that `https://example.com` is `https://example.com/`. */
const addressOf = (target: string) => (URL.canParse(target) ? new URL(target).href : target)

/** What the file says of what the service shows; the target is null where the file only says where it is. */
const shown = ({ type, url, ...channel }: AlertChannel) => {
  if (type === "email") {
    const { from, host, password_from = null, port, security = "starttls", to = [], username = null } = channel
    return { target: `${host}:${port}`, email: { security, from, to: asSet(to), username, password_from } }
  }
  const target =
    typeof url === "string" && URL.canParse(url) ? (type === "webhook" ? addressOf(url) : new URL(url).origin) : null
  return { target, email: null }
}

const shownTarget = ({ target, type }: AlertChannels.AlertChannel) => (type === "webhook" ? addressOf(target) : target)

const shownEmail = ({ email }: AlertChannels.AlertChannel) =>
  email === null ? null : { ...email, to: asSet(email.to) }

/** Channels are identified by their names. Secrets cannot be read back: those of existing ones are written with a change. */
export const plan = Effect.fnUntraced(function* (
  wanted: Readonly<Record<string, AlertChannel>>,
  ids: Ids,
  folder: string,
  rewrite: boolean
) {
  const left = new Map<string, AlertChannels.AlertChannel>()
  for (const channel of yield* Stream.runCollect(AlertChannels.stream({ limit: 500 }))) left.set(channel.name, channel)
  const steps: Array<Step> = []
  for (const [name, channel] of Object.entries(wanted)) {
    const found = left.get(name)
    left.delete(name)
    const next = shown(channel)
    const changed =
      found === undefined
        ? []
        : [
            ...(found.type === channel.type ? [] : ["type"]),
            ...(next.target === null || shownTarget(found) === next.target ? [] : ["target"]),
            ...(isDeepStrictEqual(shownEmail(found), next.email) ? [] : ["e-mail"]),
            ...(rewrite && channel.type !== "webhook" ? ["secrets"] : [])
          ]
    if (found !== undefined && changed.length === 0) {
      steps.push(unchanged("alert channel", name))
      continue
    }
    const definition = yield* definitionOf(name, channel, folder)
    const written = found === undefined ? AlertChannels.create(definition) : AlertChannels.update(found.id, definition)
    steps.push({
      kind: "alert channel",
      name,
      action: found === undefined ? "create" : "change",
      detail: changed.join(", "),
      run: Effect.tap(written, ({ id }) => Effect.sync(() => ids.channels.set(name, id)))
    })
  }
  const extra = [...left.values()].map(({ id, name }): Step => ({
    kind: "alert channel",
    name,
    action: "delete",
    detail: "",
    run: AlertChannels.remove(id)
  }))
  const section: Section = { steps, extra }
  return section
})
