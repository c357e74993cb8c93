/** The file of the providers with which people sign in. Secrets are not in it: it names a variable or another file. */
import { checkProviders, type SignInProvider } from "@signalbox/control-room/Options"
import { defined } from "@signalbox/transport/Defined"
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { dirname, resolve } from "node:path"
import * as FlagValues from "./FlagValues.ts"
import { SettingsError } from "./Setting.ts"

const Text = Schema.NonEmptyString
const texts = Schema.Array(Text)

const Role = Schema.Struct({
  group: Text,
  workspace: Text,
  role: Text,
  create_accounts: Schema.optionalKey(Schema.Boolean)
})

const Provider = Schema.Struct({
  id: Text,
  name: Text,
  issuer: Text,
  client_id: Text,
  /** The variable with the secret. */
  client_secret_variable: Schema.optionalKey(Text),
  /** The file with the secret, below the folder of this one unless it is absolute. */
  client_secret_file: Schema.optionalKey(Text),
  scopes: Schema.optionalKey(texts),
  subject_claim: Schema.optionalKey(Text),
  groups_claim: Schema.optionalKey(Text),
  roles: Schema.optionalKey(Schema.Array(Role))
})
type Provider = typeof Provider.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Provider)), {
  ...SchemaProblem.parseOptions,
  onExcessProperty: "error"
})

const wrong = (message: string) => new SettingsError({ message: `--providers or SIGNALBOX_PROVIDERS: ${message}` })

const textOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(fs.readFileString(path), () =>
    wrong(`cannot read ${path}; check the path, and that you may read it`)
  )
})

/** The secret of a provider; undefined: it is a public client. */
const secretOf = Effect.fnUntraced(function* (folder: string, provider: Provider) {
  const { client_secret_file: file, client_secret_variable: variable, id } = provider
  if (file !== undefined && variable !== undefined) {
    return yield* wrong(`${id}: give client_secret_variable or client_secret_file, and not both`)
  }
  if (file !== undefined) return Redacted.make((yield* textOf(resolve(folder, file))).trim())
  if (variable === undefined) return undefined
  const value = yield* FlagValues.variable(variable)
  return value === null ? yield* wrong(`${id}: the variable ${variable} is not set`) : Redacted.make(value)
})

/** The providers of the settings. */
export const read = Effect.fnUntraced(function* (settings: {
  readonly providers: string | null
  readonly publicUrl: string | null
}) {
  if (settings.providers === null) return []
  const path = resolve(settings.providers)
  const given = yield* Effect.mapError(decode(yield* textOf(path)), (error) =>
    wrong(`${path}: ${SchemaProblem.describe(error)}`)
  )
  const providers = yield* Effect.forEach(given, (provider) =>
    Effect.map(secretOf(dirname(path), provider), (clientSecret): SignInProvider => ({
      id: provider.id,
      name: provider.name,
      issuer: provider.issuer,
      clientId: provider.client_id,
      ...defined({
        clientSecret,
        scopes: provider.scopes,
        subjectClaim: provider.subject_claim,
        groupsClaim: provider.groups_claim,
        roles: provider.roles?.map(({ create_accounts, ...role }) => ({
          ...role,
          ...defined({ createAccounts: create_accounts })
        }))
      })
    }))
  )
  yield* Effect.try({
    try: () => checkProviders(path, providers, settings.publicUrl ?? undefined),
    catch: (error) => wrong(error instanceof Error ? error.message : String(error))
  })
  return providers
})
