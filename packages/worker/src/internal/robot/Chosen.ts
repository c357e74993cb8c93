/**
 * Reads from the environment where a robot's items, secrets, assets and artifacts are. The variables are those of
 * existing robots and workers.
 */
import { ProcessId, ProcessRunId, StepRunId, WorkItemId, WorkspaceId } from "@signalbox/api/contract/Ids"
import * as RunAssets from "@signalbox/api/robot/RunAssets"
import * as StepRunSession from "@signalbox/api/robot/StepRunSession"
import * as Vault from "@signalbox/api/robot/Vault"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { type LocalFileError, RobotNotConfigured } from "../../RobotError.ts"
import * as LocalFiles from "../items/LocalFiles.ts"
import * as LocalItems from "../items/LocalItems.ts"
import * as OfFiles from "./OfFiles.ts"
import * as OfService from "./OfService.ts"
import * as SessionSource from "../items/SessionSource.ts"

/** The first of these variables that is set and not empty. */
const lookUp = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  for (const name of names) {
    const value = yield* Effect.orDie(Config.option(Config.String(name)))
    if (Option.isSome(value) && value.value !== "") return value.value
  }
  return null
})

type Read = (...names: ReadonlyArray<string>) => Effect.Effect<string>

/** Reads required variables; fails once, with the names of all that are missing. */
const needed = Effect.fnUntraced(function* <A>(what: string, read: (get: Read) => Effect.Effect<A>) {
  const missing: Array<string> = []
  const get: Read = (...names) =>
    Effect.map(lookUp(names), (value) => {
      if (value === null) missing.push(names[0] ?? "")
      return value ?? ""
    })
  const made = yield* read(get)
  if (missing.length === 0) return made
  const message = `${what} of a service need the environment variables of a task package; missing: ${missing.join(", ")}`
  return yield* new RobotNotConfigured({ message })
})

const endpoint = (get: Read, url: ReadonlyArray<string>, token: ReadonlyArray<string>, suffix = "") =>
  Effect.all({
    url: Effect.map(get(...url), (text) => text.replace(/\/+$/, "") + suffix),
    token: Effect.map(get(...token), Redacted.make<string>)
  })

const workspaceId = (get: Read) => Effect.map(get("RC_WORKSPACE_ID"), WorkspaceId.make)

export const remoteItems = needed("work items", (get) =>
  Effect.all({
    process: endpoint(get, ["RC_API_PROCESS_HOST"], ["RC_API_PROCESS_TOKEN"]),
    workItem: endpoint(get, ["RC_API_WORKITEM_HOST"], ["RC_API_WORKITEM_TOKEN"]),
    ids: Effect.all({
      workspaceId: workspaceId(get),
      processId: Effect.map(get("RC_PROCESS_ID"), ProcessId.make),
      processRunId: Effect.map(get("RC_PROCESS_RUN_ID"), ProcessRunId.make),
      stepRunId: Effect.map(get("RC_ACTIVITY_RUN_ID", "RC_ROBOT_RUN_ID"), StepRunId.make)
    })
  })
).pipe(
  Effect.flatMap(({ ids, process, workItem }) => StepRunSession.makeItems({ process, workItem }, ids)),
  Effect.flatMap((session) =>
    Effect.map(lookUp(["RC_WORKITEM_ID"]), (first) =>
      SessionSource.make(session, first === null ? null : WorkItemId.make(first))
    )
  )
)

export const remoteSecrets = needed("secrets", (get) =>
  Effect.all([endpoint(get, ["RC_API_SECRET_HOST"], ["RC_API_SECRET_TOKEN"]), workspaceId(get)])
).pipe(
  Effect.flatMap(([at, workspaceId]) => Vault.make({ ...at, workspaceId })),
  Effect.map(OfService.secrets)
)

/** Without a separate address, assets are at the address of the secrets. */
export const remoteAssets = Effect.flatMap(lookUp(["RC_API_URL_V1"]), (own) =>
  needed("assets", (get) =>
    Effect.all([
      own === null
        ? endpoint(get, ["RC_API_SECRET_HOST"], ["RC_API_TOKEN_V1", "RC_API_SECRET_TOKEN"], "/v1")
        : endpoint(get, ["RC_API_URL_V1"], ["RC_API_TOKEN_V1", "RC_API_SECRET_TOKEN"]),
      workspaceId(get)
    ])
  )
).pipe(
  Effect.flatMap(([at, workspaceId]) => RunAssets.make({ ...at, workspaceId })),
  Effect.map(OfService.assets)
)

const artifactsFolder = Effect.map(lookUp(["ROBOT_ARTIFACTS"]), (folder) => folder ?? "output")

export const localItems = Effect.gen(function* () {
  const local = yield* LocalFiles.make
  const folder = yield* artifactsFolder
  const named = yield* lookUp(["RC_WORKITEM_INPUT_PATH", "RPA_INPUT_WORKITEM_PATH"])
  const defaultInput = local.path.join(folder, "work-items-in", "workitems.json")
  const input = named ?? ((yield* local.exists(defaultInput)) ? defaultInput : null)
  const output =
    (yield* lookUp(["RC_WORKITEM_OUTPUT_PATH", "RPA_OUTPUT_WORKITEM_PATH"])) ??
    local.path.join(folder, "work-items-out", "workitems.json")
  return yield* LocalItems.make(local, { input, output, defaultInput })
}).pipe(
  Effect.catchTag("LocalFileError", (error: LocalFileError) => {
    const remedy = "set RC_WORKITEM_INPUT_PATH to a list of items, or unset it for one empty item"
    return Effect.fail(new RobotNotConfigured({ message: `local work items: ${error.message}; ${remedy}` }))
  })
)

export const localSecrets = Effect.gen(function* () {
  const file = yield* lookUp(["RC_VAULT_SECRETS_FILE", "RPA_SECRET_FILE"])
  return OfFiles.secrets(yield* LocalFiles.make, file ?? "secrets.json")
})

export const localAssets = Effect.gen(function* () {
  const folder = yield* lookUp(["SIGNALBOX_ASSETS"])
  return OfFiles.assets(yield* LocalFiles.make, folder ?? "assets")
})

export const localArtifacts = Effect.gen(function* () {
  return OfFiles.artifacts(yield* LocalFiles.make, yield* artifactsFolder)
})

/** An adapter is named by its class, with or without its module. */
const chosen = Effect.fnUntraced(function* (
  variables: ReadonlyArray<string>,
  kinds: Readonly<Record<string, "local" | "remote">>
) {
  const given = yield* lookUp(variables)
  if (given === null) return null
  const kind = kinds[given.split(".").at(-1) ?? ""]
  if (kind !== undefined) return kind
  const names = Object.keys(kinds).join(", ")
  const message = `${variables.join(" or ")}: "${given}" is not supported in TypeScript; supported: ${names}`
  return yield* new RobotNotConfigured({ message })
})

const areSet = (...names: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(names, (name) => lookUp([name])),
    (values) => values.every((value) => value !== null)
  )

export const items = Effect.gen(function* () {
  const adapters = { FileAdapter: "local", RobocorpAdapter: "remote" } as const
  const kind = yield* chosen(["RC_WORKITEM_ADAPTER", "RPA_WORKITEMS_ADAPTER"], adapters)
  const inRun = yield* areSet("RC_WORKSPACE_ID", "RC_PROCESS_RUN_ID", "RC_ACTIVITY_RUN_ID")
  return yield* (kind === null ? inRun : kind === "remote") ? remoteItems : localItems
})

export const secrets = Effect.gen(function* () {
  const managers = { FileSecrets: "local", RobocorpVault: "remote", RobocloudVault: "remote" } as const
  const kind = yield* chosen(["RC_VAULT_SECRET_MANAGER", "RPA_SECRET_MANAGER"], managers)
  const inWorkspace = yield* areSet("RC_WORKSPACE_ID", "RC_API_SECRET_HOST")
  return yield* (kind === null ? inWorkspace : kind === "remote") ? remoteSecrets : localSecrets
})

export const assets = Effect.gen(function* () {
  const host = (yield* areSet("RC_API_URL_V1")) || (yield* areSet("RC_API_SECRET_HOST"))
  return yield* host && (yield* areSet("RC_WORKSPACE_ID")) ? remoteAssets : localAssets
})
