/**
 * Task packages from git: a fetched package passes the same checks as an upload, and replaces the content as a whole or
 * not at all.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { GitConfiguration } from "@signalbox/api/contract/TaskPackages"
import { packageLimits } from "@signalbox/task-package/PackageLimits"
import * as TaskPackage from "@signalbox/task-package/TaskPackage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { steady } from "../background/BackgroundTask.ts"
import { BlobStore } from "../../BlobStore.ts"
import { TargetGuard } from "../delivery/TargetGuard.ts"
import * as BlobCommit from "../blobs/BlobCommit.ts"
import { GitFailure } from "./Failure.ts"
import { Git, type Remote } from "./Git.ts"
import { Refused } from "../engine/Refused.ts"
import { type Fetched, PackageSources, type Source, type SourceSettings } from "../store/packages/PackageSources.ts"
import { EntryOfRequest } from "../store/audit/AuditEntries.ts"
import { Database } from "../store/database/Database.ts"
import { Changes } from "../store/room/Changes.ts"
import { RoomState } from "../store/room/RoomState.ts"
import { notSentTo, Secrets } from "../store/vault/Secrets.ts"
import { type StoredPackage, TaskPackages } from "../store/packages/TaskPackages.ts"

type Host = "github" | "gitlab"

/** The user names that hosts expect with a token. */
const usernames: Readonly<Record<Host, string>> = { github: "x-access-token", gitlab: "oauth2" }

const decodeCredentials = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ password: Schema.String, username: Schema.optionalKey(Schema.String) }))
)

/** Concurrent polls of one node, and how many sources it claims at a time. */
const atOnce = 4
const claimed = 20
/** How often a node checks for due sources; each branch is polled every minute. */
const interval = "20 seconds"

const field = (name: string, message: string) =>
  new Refused({ code: "INVALID_REQUEST", message: `configuration.${name}: ${message}` })

/** The requested settings, with the stored ones as defaults. */
const settingsOf = Effect.fnUntraced(function* (configuration: GitConfiguration, known: Source | null) {
  const repository = configuration.repository ?? known?.repository
  if (repository === undefined) {
    return yield* field(
      "repository",
      "the address of the repository is required for the first fetch; later ones use the stored address"
    )
  }
  const { credentials_secret: secret, directory, mode } = configuration
  const settings: SourceSettings = {
    repository,
    directory: directory === undefined ? (known?.directory ?? null) : directory,
    credentialsSecret: secret === undefined ? (known?.credentialsSecret ?? null) : secret,
    mode,
    reference: configuration.mode === "attached" ? configuration.branch : configuration.reference,
    automatic: configuration.mode === "attached" && configuration.automatic_deployment
  }
  return settings
})

export class GitPackages extends Context.Service<
  GitPackages,
  {
    /** Whether a configuration sends a secret of the vault somewhere for the first time: another secret, or to another repository. */
    readonly sendsSecret: (
      taskPackage: StoredPackage,
      configuration: GitConfiguration
    ) => Effect.Effect<boolean, Refused>
    /** Fetches the repository, and stores it as the source and the content of the package. */
    readonly configure: (
      taskPackage: StoredPackage,
      type: Host,
      configuration: GitConfiguration
    ) => Effect.Effect<void, Refused>
    /** Polls the branches that are due once. */
    readonly tick: Effect.Effect<void>
  }
>()("@signalbox/control-room/git/GitPackages") {
  static readonly layer = Layer.effect(
    GitPackages,
    Effect.gen(function* () {
      const blobs = yield* BlobStore
      const commitBlob = yield* BlobCommit.make
      const fs = yield* FileSystem.FileSystem
      const git = yield* Git
      const guard = yield* TargetGuard
      const packages = yield* TaskPackages
      const secrets = yield* Secrets
      const sources = yield* PackageSources
      const { transaction } = yield* Database

      const credentialsOf = Effect.fnUntraced(function* (
        workspace: WorkspaceId,
        type: Host,
        { credentialsSecret: secret, repository }: SourceSettings
      ) {
        if (secret === null) return null
        const found = yield* secrets.read(workspace, secret)
        if (found === null) {
          const message = `configuration.credentials_secret: this workspace has no secret "${secret}"`
          return yield* new Refused({ code: "NOT_FOUND", message })
        }
        const host = new URL(repository).hostname
        if (!found.secret.hosts.includes(host)) {
          const message = notSentTo(`configuration.credentials_secret`, secret, host)
          return yield* new Refused({ code: "CONFLICT", message })
        }
        const items = Option.getOrNull(decodeCredentials(Redacted.value(found.items)))
        if (items === null) {
          const message = `the secret "${secret}" needs the item \`password\` and may have the item \`username\`, both texts`
          return yield* new Refused({ code: "CONFLICT", message })
        }
        return { username: items.username ?? usernames[type], password: Redacted.make(items.password) }
      })

      const remoteOf = Effect.fnUntraced(function* (workspace: WorkspaceId, type: Host, settings: SourceSettings) {
        const credentials = yield* credentialsOf(workspace, type, settings)
        const remote: Remote = { repository: settings.repository, credentials }
        return remote
      })

      const within = (bytes: Stream.Stream<Uint8Array, GitFailure>) => {
        let size = 0
        const message = `the files of the repository make a zip of more than the ${packageLimits.zip} bytes that a task package may have`
        return Stream.tap(bytes, (chunk) => {
          size += chunk.length
          return size > packageLimits.zip ? Effect.fail(new GitFailure({ message })) : Effect.void
        })
      }

      /** Fetches, checks like an upload, and stores the result. */
      const take = (
        remote: Remote,
        settings: SourceSettings,
        write: (fetched: Fetched) => Effect.Effect<string | null, Refused>
      ) =>
        Effect.scoped(
          Effect.gen(function* () {
            const { author, commit, subject, zip } = yield* git.snapshot(remote, settings, settings.directory)
            const staged = yield* blobs.stageFile(within(zip))
            const found = yield* TaskPackage.inspect(staged.path).pipe(
              Effect.provideService(FileSystem.FileSystem, fs),
              Effect.catchTag("PlatformError", Effect.die),
              Effect.mapError(({ message }) => {
                const where = settings.directory === null ? "" : ` below ${settings.directory}`
                return new GitFailure({
                  message: `the files of the commit ${commit}${where} are not a task package: ${message}; nothing was stored`
                })
              })
            )
            yield* commitBlob(staged, (blob) =>
              write({ commit, author, subject, content: { ...found, size: staged.size, blob } })
            )
          })
        )

      const refusing = <A, R>(effect: Effect.Effect<A, GitFailure | Refused, R>): Effect.Effect<A, Refused, R> =>
        Effect.catchTag(effect, "GitFailure", ({ message }) => Effect.fail(new Refused({ code: "CONFLICT", message })))

      const configure = Effect.fn("GitPackages.configure")(function* (
        taskPackage: StoredPackage,
        type: Host,
        configuration: GitConfiguration
      ) {
        const settings = yield* settingsOf(configuration, yield* sources.get(taskPackage.id))
        const refusal = guard.refuses(settings.repository)
        if (refusal !== null) return yield* field("repository", `the address ${refusal}`)
        const remote = yield* remoteOf(taskPackage.workspaceId, type, settings)
        yield* take(remote, settings, (fetched) =>
          transaction(
            Effect.tap(sources.configure(taskPackage, type, settings, fetched), Effect.flatten(EntryOfRequest))
          )
        )
      }, refusing)

      const sendsSecret = Effect.fnUntraced(function* (taskPackage: StoredPackage, configuration: GitConfiguration) {
        const known = yield* sources.get(taskPackage.id)
        const { credentialsSecret, repository } = yield* settingsOf(configuration, known)
        return (
          credentialsSecret !== null &&
          (credentialsSecret !== known?.credentialsSecret || repository !== known.repository)
        )
      })

      const pollSource = Effect.fn("GitPackages.pollSource")(function* (source: Source) {
        const taskPackage = yield* packages.get(source.workspaceId, source.packageId)
        if (taskPackage === null || taskPackage.type === "zip") return
        const { type } = taskPackage
        const poll = Effect.gen(function* () {
          const remote = yield* remoteOf(source.workspaceId, type, source)
          const head = yield* git.head(remote, source)
          if (head === source.commit) return yield* sources.recordPoll(source, null)
          yield* take(remote, source, (fetched) => sources.deploy(source, type, fetched))
          yield* Effect.logInfo("task package fetched from git").pipe(Effect.annotateLogs({ head }))
        })
        yield* refusing(poll).pipe(
          Effect.catch(({ message }) =>
            Effect.andThen(
              sources.recordPoll(source, message),
              // The same failure is logged once, not every minute.
              source.error?.message === message
                ? Effect.void
                : Effect.logWarning(`a task package could not be updated from git: ${message}`)
            )
          ),
          Effect.andThen(changes.tell(source.workspaceId, () => [{ topic: "packages", id: source.packageId }])),
          Effect.annotateLogs({ package: source.packageId, name: taskPackage.name })
        )
      })

      const { whenRunning } = yield* RoomState
      const changes = yield* Changes
      const tick = Effect.gen(function* () {
        for (;;) {
          const due = yield* sources.claim(claimed)
          yield* Effect.forEach(due, pollSource, { concurrency: atOnce, discard: true })
          if (due.length < claimed) return
        }
      }).pipe(whenRunning, Effect.withSpan("GitPackages.tick"))

      return GitPackages.of({ configure, sendsSecret, tick })
    })
  )

  static readonly layerTicking = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tick } = yield* GitPackages
      yield* tick.pipe(steady("polling git repositories"), Effect.repeat(Schedule.spaced(interval)), Effect.forkScoped)
    })
  )
}
