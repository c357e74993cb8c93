/** The file of `signalbox apply`: the resources of a workspace, by name. */
import { TaggedError } from "@signalbox/transport/Printed"
import { alertChannelTypes } from "@signalbox/api/contract/AlertChannels"
import { AlertDefinition } from "@signalbox/api/contract/Alerts"
import { Permission } from "@signalbox/api/contract/Authorization"
import { CallbackUrl, Name, RelativePath } from "@signalbox/api/contract/Common"
import { SecretName } from "@signalbox/api/contract/Ids"
import { StepDefinition, ProcessDefinition } from "@signalbox/api/contract/Processes"
import { RoleName } from "@signalbox/api/contract/Roles"
import { ScheduleInputs, scheduleRules } from "@signalbox/api/contract/Schedules"
import { NewSecretName, SecretHosts } from "@signalbox/api/contract/Secrets"
import { GitReference, RepositoryUrl } from "@signalbox/api/contract/TaskPackages"
import { TriggerDefinition, TriggerSignature, TriggerWebhook } from "@signalbox/api/contract/Triggers"
import { webhookEventTypes } from "@signalbox/api/contract/Webhooks"
import * as SchemaProblem from "@signalbox/transport/SchemaProblem"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as Yaml from "effect/encoding/Yaml"

/** The file, or something it refers to, is invalid; nothing was changed. */
export class ApplyFileError extends TaggedError<ApplyFileError>()("ApplyFileError", {
  message: Schema.String
}) {}

const PathText = Schema.NonEmptyString

/** A task of a package of this name, or a worker's own. */
const Task = Schema.Struct({ name: Name, package: Schema.optionalKey(Name) })

const Step = Schema.Struct({ ...StepDefinition.fields, task: Task, worker_group: Schema.optionalKey(Name) })

const Process = Schema.Struct({
  description: ProcessDefinition.fields.description,
  steps: Schema.Array(Step).check(Schema.isMaxLength(100)),
  default_work_item: ProcessDefinition.fields.default_work_item,
  input_schema: ProcessDefinition.fields.input_schema,
  check_payloads: ProcessDefinition.fields.check_payloads,
  forward_done_items: ProcessDefinition.fields.forward_done_items,
  pause_after_failures: ProcessDefinition.fields.pause_after_failures,
  concurrency: ProcessDefinition.fields.concurrency,
  rate: ProcessDefinition.fields.rate,
  sensitive: ProcessDefinition.fields.sensitive,
  sensitive_files: ProcessDefinition.fields.sensitive_files
})
export type Process = typeof Process.Type

const Git = Schema.Struct({
  type: Schema.Literals(["github", "gitlab"]),
  repository: RepositoryUrl,
  /** Followed: polled, or (`automatic_deployment` false) fetched only when this changes. */
  branch: Schema.optionalKey(GitReference),
  automatic_deployment: Schema.optionalKey(Schema.Boolean),
  /** A fixed commit, tag or branch: fetched only when this changes. */
  reference: Schema.optionalKey(GitReference),
  directory: Schema.optionalKey(RelativePath),
  credentials_secret: Schema.optionalKey(SecretName)
}).check(
  Schema.makeFilter(({ automatic_deployment, branch, reference }) =>
    (branch === undefined) === (reference === undefined)
      ? "Expected either a branch to follow or a reference to stay at"
      : branch !== undefined || automatic_deployment !== true || "Expected a branch: a reference is not followed"
  )
)
export type Git = typeof Git.Type

/** A zip, a folder that is zipped by `apply`, a tasks file that it packages, or a git repository that the service fetches. */
const Package = Schema.Struct({
  zip: Schema.optionalKey(PathText),
  folder: Schema.optionalKey(PathText),
  tasks: Schema.optionalKey(PathText),
  git: Schema.optionalKey(Git)
}).check(
  Schema.makeFilter((source) => Object.keys(source).length === 1 || "Expected one of zip, folder, tasks and git")
)

const Assistant = Schema.Struct({ task: Schema.Struct({ name: Name, package: Name }) })

/** The content of an asset: bytes of a file, a text, or JSON. */
const Asset = Schema.Union([
  Schema.Struct({ file: PathText, content_type: Schema.optionalKey(Schema.NonEmptyString) }),
  Schema.Struct({ text: Schema.String, content_type: Schema.optionalKey(Schema.NonEmptyString) }),
  Schema.Struct({ json: Schema.Json })
])
export type Asset = typeof Asset.Type

/** The value of an item: given literally, or read from where it is stored. */
const SecretItem = Schema.Union([
  Schema.String,
  Schema.Finite,
  Schema.Boolean,
  Schema.Struct({ env: Schema.NonEmptyString }),
  Schema.Struct({ file: PathText }),
  Schema.Struct({ value: Schema.Json })
])
export type SecretItem = typeof SecretItem.Type

const Secret = Schema.Struct({
  description: Schema.optionalKey(Schema.NullOr(Schema.String)),
  hosts: Schema.optionalKey(SecretHosts),
  items: Schema.Record(Schema.String, SecretItem)
})
export type Secret = typeof Secret.Type

const Webhook = Schema.Struct({
  endpoint: CallbackUrl,
  events: Schema.Array(Schema.Literals(webhookEventTypes)).check(Schema.isMinLength(1)),
  process: Schema.optionalKey(Name),
  enabled: Schema.optionalKey(Schema.Boolean)
})
export type Webhook = typeof Webhook.Type

/** A schedule of a process of this name. */
const Schedule = Schema.Struct({
  process: Name,
  ...scheduleRules,
  inputs: Schema.optionalKey(ScheduleInputs)
})
export type Schedule = typeof Schedule.Type

/** Where the secret of signatures is. */
const HookSecret = Schema.Union([Schema.Struct({ env: Schema.NonEmptyString }), Schema.Struct({ file: PathText })])
const [timed, namedHeader] = TriggerSignature.members

/** A trigger of a process of this name. */
const Trigger = Schema.Struct({
  process: Name,
  enabled: TriggerDefinition.fields.enabled,
  start: TriggerDefinition.fields.start,
  webhook: Schema.optionalKey(
    Schema.Struct({
      ...TriggerWebhook.fields,
      signature: Schema.optionalKey(
        Schema.Union([
          Schema.Struct({ ...timed.fields, secret: HookSecret }),
          Schema.Struct({ ...namedHeader.fields, secret: HookSecret })
        ])
      )
    })
  )
})
export type Trigger = typeof Trigger.Type

/** A text, or where it is. */
const AlertText = Schema.Union([
  Schema.NonEmptyString,
  Schema.Struct({ env: Schema.NonEmptyString }),
  Schema.Struct({ file: PathText })
])

/** A channel of alerts; which settings it has is checked by its type. */
const AlertChannel = Schema.Struct({
  type: Schema.Literals(alertChannelTypes),
  url: Schema.optionalKey(AlertText),
  token: Schema.optionalKey(AlertText),
  host: Schema.optionalKey(Schema.String),
  port: Schema.optionalKey(Schema.Int),
  security: Schema.optionalKey(Schema.String),
  from: Schema.optionalKey(Schema.String),
  to: Schema.optionalKey(Schema.Array(Schema.String)),
  username: Schema.optionalKey(Schema.String),
  password: Schema.optionalKey(AlertText),
  password_from: Schema.optionalKey(Schema.Struct({ secret: Name, item: Name })),
  ca: Schema.optionalKey(AlertText)
})
export type AlertChannel = typeof AlertChannel.Type

/** An alert to channels of these names; its rule names process, worker group and schedule, and is checked by its type. */
const Alert = Schema.Struct({
  rule: Schema.Record(Schema.String, Schema.Json),
  channels: Schema.Array(Name).check(Schema.isMinLength(1)),
  enabled: AlertDefinition.fields.enabled,
  repeat_seconds: AlertDefinition.fields.repeat_seconds,
  gather_seconds: AlertDefinition.fields.gather_seconds,
  quiet: AlertDefinition.fields.quiet
})
export type Alert = typeof Alert.Type

/** A role of the workspace: what its members may do. Who has it is no part of the file. */
const Role = Schema.Struct({ permissions: Schema.Array(Permission).check(Schema.isBetweenLength(1, 100)) })
export type Role = typeof Role.Type

/** A section that is absent changes nothing. */
export const Document = Schema.Struct({
  roles: Schema.optionalKey(Schema.Record(RoleName, Role)),
  secrets: Schema.optionalKey(Schema.Record(NewSecretName, Secret)),
  packages: Schema.optionalKey(Schema.Record(Name, Package)),
  worker_groups: Schema.optionalKey(Schema.Array(Name).check(Schema.isUnique())),
  assets: Schema.optionalKey(Schema.Record(Name, Asset)),
  processes: Schema.optionalKey(Schema.Record(Name, Process)),
  assistants: Schema.optionalKey(Schema.Record(Name, Assistant)),
  webhooks: Schema.optionalKey(Schema.Array(Webhook)),
  schedules: Schema.optionalKey(Schema.Record(Name, Schedule)),
  triggers: Schema.optionalKey(Schema.Record(Name, Trigger)),
  alert_channels: Schema.optionalKey(Schema.Record(Name, AlertChannel)),
  alerts: Schema.optionalKey(Schema.Record(Name, Alert))
})
export type Document = typeof Document.Type

const parse = (path: string, text: string) =>
  Effect.try({
    try: (): unknown => (path.endsWith(".json") ? JSON.parse(text) : Yaml.parse(text)),
    catch: (cause) =>
      new ApplyFileError({
        message: `${path}: not ${path.endsWith(".json") ? "JSON" : "YAML"}: ${cause instanceof Error ? cause.message : "cannot be read"}`
      })
  })

const decode = Schema.decodeUnknownEffect(Document, { errors: "all", onExcessProperty: "error", reportInput: false })
/** Where and what was expected, never the value: it may be secret. */
const describe = (error: Schema.SchemaError): string =>
  SchemaProblem.all(error)
    .map(({ field, message }) => {
      const problem =
        message === "Expected no excess property" ? "unknown key; check its spelling, or remove it" : message
      return `${field === "" ? "the file" : field}: ${problem}`
    })
    .join("; ")

/** Validates what a file, or a module, says. */
export const check = (path: string, parsed: unknown) =>
  Effect.mapError(decode(parsed), (error) => new ApplyFileError({ message: `${path}: ${describe(error)}` }))

/** Reads and validates the file. An empty one is an empty document. */
export const load = Effect.fn("apply.load")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(path),
    () => new ApplyFileError({ message: `cannot read ${path}: check the path, and that you may read it` })
  )
  const parsed = yield* parse(path, text)
  return yield* check(path, parsed ?? {})
})
