/**
 * How environments of task packages are built: the flags and variables of every command that builds some.
 */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Environments from "@signalbox/worker/Environments"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Flag from "effect/cli/Flag"
import { delimiter, resolve } from "node:path"

/** A flag or variable has a value that cannot be used. */
export class EnvironmentFlagError extends TaggedError<EnvironmentFlagError>()("EnvironmentFlagError", {
  message: Schema.String
}) {}

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)
const many = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar), Flag.atLeast(0))

export const environmentFlags = {
  environments: text(
    "environments",
    `The tool that builds environments: ${Environments.choices.join(", ")}; default: SIGNALBOX_ENVIRONMENTS, else auto, the first on PATH that can`
  ),
  indexUrl: text(
    "index-url",
    "A simple index of Python packages; default: SIGNALBOX_INDEX_URL. Its user and password: SIGNALBOX_INDEX_USERNAME, SIGNALBOX_INDEX_PASSWORD"
  ),
  extraIndexUrl: many(
    "extra-index-url",
    "URL",
    "A further index; default: SIGNALBOX_EXTRA_INDEX_URLS, separated by spaces"
  ),
  channel: many("channel", "NAME", "A further channel of conda; default: SIGNALBOX_CHANNELS, separated by spaces"),
  wheels: text("wheels", "A folder of wheels to install from, and from nowhere else; default: SIGNALBOX_WHEELS"),
  allowEnvironment: many(
    "allow-environment",
    "FOLDER",
    `A folder below which steps may name an environment that is there; default: SIGNALBOX_ALLOW_ENVIRONMENTS, separated by ${delimiter}`
  ),
  caFile: text("ca-file", "Certificates that tools trust, PEM; default: SIGNALBOX_CA_FILE"),
  allowSourceBuilds: Flag.Boolean("allow-source-builds").pipe(
    Flag.withDescription(
      "Build packages from source also with the password of an index, which their scripts could read then"
    ),
    Flag.withDefault(false)
  )
}

type Given = {
  readonly [Name in keyof typeof environmentFlags]: (typeof environmentFlags)[Name] extends Flag.Flag<infer A>
    ? A
    : never
}

const variable = (name: string) =>
  Effect.map(Effect.option(Config.String(name)), (value) => Option.getOrElse(value, () => "") || null)

const isChoice = (name: string): name is Environments.Choice => Environments.choices.some((choice) => choice === name)

const wrong = (message: string) => new EnvironmentFlagError({ message })

/** The settings in force, with these flags. */
export const settingsOf = Effect.fnUntraced(function* (
  given: Given
): Effect.fn.Return<Environments.Settings, EnvironmentFlagError> {
  const one = (flag: Option.Option<string>, name: string) =>
    Option.isSome(flag) ? Effect.succeed(flag.value) : variable(name)
  const list = Effect.fnUntraced(function* (
    flag: ReadonlyArray<string>,
    name: string,
    separator: RegExp | string = /\s+/
  ) {
    return flag.length > 0 ? flag : ((yield* variable(name)) ?? "").split(separator).filter((word) => word !== "")
  })
  const provider = yield* one(given.environments, "SIGNALBOX_ENVIRONMENTS")
  if (provider !== null && !isChoice(provider)) {
    return yield* wrong(`--environments: expected one of ${Environments.choices.join(", ")}, got ${provider}`)
  }
  const indexUrl = yield* one(given.indexUrl, "SIGNALBOX_INDEX_URL")
  if (indexUrl !== null && (!/^https?:\/\//.test(indexUrl) || !URL.canParse(indexUrl))) {
    return yield* wrong("--index-url: expected an address that begins with http:// or https://")
  }
  if (indexUrl !== null && new URL(indexUrl).password !== "") {
    return yield* wrong(
      "--index-url: leave user and password out, and set SIGNALBOX_INDEX_USERNAME and SIGNALBOX_INDEX_PASSWORD"
    )
  }
  const username = yield* variable("SIGNALBOX_INDEX_USERNAME")
  const password = yield* variable("SIGNALBOX_INDEX_PASSWORD")
  const [uv, micromamba, python] = [
    yield* variable("SIGNALBOX_UV"),
    yield* variable("SIGNALBOX_MICROMAMBA"),
    yield* variable("SIGNALBOX_PYTHON")
  ]
  const wheels = yield* one(given.wheels, "SIGNALBOX_WHEELS")
  const caFile = yield* one(given.caFile, "SIGNALBOX_CA_FILE")
  return {
    extraIndexUrls: yield* list(given.extraIndexUrl, "SIGNALBOX_EXTRA_INDEX_URLS"),
    channels: yield* list(given.channel, "SIGNALBOX_CHANNELS"),
    allowEnvironments: yield* list(given.allowEnvironment, "SIGNALBOX_ALLOW_ENVIRONMENTS", delimiter),
    allowSourceBuilds: given.allowSourceBuilds,
    tools: {
      ...(uv === null ? {} : { uv }),
      ...(micromamba === null ? {} : { micromamba }),
      ...(python === null ? {} : { python })
    },
    ...(provider === null ? {} : { provider }),
    ...(indexUrl === null ? {} : { indexUrl }),
    ...(wheels === null ? {} : { wheels: resolve(wheels) }),
    ...(caFile === null ? {} : { caFile: resolve(caFile) }),
    ...(password === null ? {} : { credentials: { username: username ?? "", password: Redacted.make(password) } })
  }
})
