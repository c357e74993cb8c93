/**
 * Reads repositories over HTTP: the commit of a branch, and the files of a commit as a zip. Nothing of a repository is
 * ever checked out or executed here.
 */
import * as NodeServices from "@signalbox/platform/NodeServices"
import { packageLimits } from "@signalbox/task-package/PackageLimits"
import * as Packing from "@signalbox/task-package/Packing"
import { refusalOf } from "@signalbox/transport/RefusedTargets"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tar from "effect/encoding/Tar"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import { isIP } from "node:net"
import { join } from "node:path"
import { TargetGuard } from "../delivery/TargetGuard.ts"
import { limits } from "../settings/Limits.ts"
import { type Access, endedOutside, noGit, run, start } from "./Command.ts"
import { GitFailure } from "./Failure.ts"
import * as Hollow from "./Hollow.ts"

export interface Remote {
  readonly repository: string
  readonly credentials: { readonly username: string; readonly password: Redacted.Redacted } | null
}

/** A branch by its name; or a commit by its hash, else a branch or a tag. */
export interface Wanted {
  readonly mode: "attached" | "detached"
  readonly reference: string
}

export interface Snapshot {
  readonly commit: string
  readonly author: string | null
  /** The first line of the message of the commit. */
  readonly subject: string | null
  /** Identical bytes for identical files. Can be read once, while the scope is open. */
  readonly zip: Stream.Stream<Uint8Array, GitFailure>
}

/** A text of a commit, which may be of any length and have anything in it. */
const shortened = (text: string) => {
  const short = text
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, " ")
    .trim()
    .slice(0, 200)
  return short === "" ? null : short.toWellFormed()
}

/** How much a repository may have in transit and on the disk, in bytes, and how long reading it may take. */
export const GitLimits = Context.Reference<{ readonly bytes: number; readonly time: Duration.Input }>(
  "@signalbox/control-room/git/GitLimits",
  { defaultValue: () => ({ bytes: limits.repository, time: "2 minutes" }) }
)

export class Git extends Context.Service<
  Git,
  {
    /** Returns the commit that the reference names now. Fetches nothing. */
    readonly head: (remote: Remote, wanted: Wanted) => Effect.Effect<string, GitFailure>
    /** Returns the files of that commit below a folder, null for all. Fetches that commit only, without submodules. */
    readonly snapshot: (
      remote: Remote,
      wanted: Wanted,
      directory: string | null
    ) => Effect.Effect<Snapshot, GitFailure, Scope.Scope>
  }
>()("@signalbox/control-room/git/Git") {
  /** Works on the disk of this machine, even when all other storage is in memory. */
  static readonly layer = Layer.effect(
    Git,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const guard = yield* TargetGuard
      const { bytes, time } = yield* GitLimits
      // Nothing else: with the scope of the service, folders of repositories were kept until its end.
      const services = Context.make(ChildProcessSpawner, yield* ChildProcessSpawner)

      const folder = Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "signalbox-git-" }))

      let isChecked = false
      /** Older versions cannot be given the addresses to connect to, so DNS could lead them elsewhere. */
      const checkVersion = Effect.fnUntraced(function* (path: string) {
        if (isChecked) return
        const said = yield* run({ folder: path, args: ["version"] })
        const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(said) ?? []).map(Number)
        if (major < 2 || (major === 2 && minor < 37)) return yield* noGit(`git ${major}.${minor} is too old`)
        isChecked = true
      })

      /** Resolves the host, and refuses targets that are not allowed. */
      const accessTo = Effect.fnUntraced(function* ({ credentials, repository }: Remote) {
        const refusal = guard.refuses(repository)
        if (refusal !== null) return yield* new GitFailure({ message: `the address of the repository ${refusal}` })
        const { hostname, port, protocol } = new URL(repository)
        const authorization =
          credentials === null
            ? null
            : Redacted.make(
                `Basic ${Buffer.from(`${credentials.username}:${Redacted.value(credentials.password)}`).toString("base64")}`
              )
        if (isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0) return { resolve: null, authorization }
        const addresses = yield* Effect.callback<ReadonlyArray<string>, GitFailure>((resume) => {
          guard.lookup(hostname, { all: true }, (error, found) => {
            const message = refusalOf(error) ?? "the host of the repository cannot be found; check `repository`"
            if (error !== null || typeof found === "string") return resume(Effect.fail(new GitFailure({ message })))
            resume(Effect.succeed(found.map(({ address }) => (isIP(address) === 6 ? `[${address}]` : address))))
          })
        })
        const number = port === "" ? (protocol === "https:" ? "443" : "80") : port
        return { resolve: `${hostname}:${number}:${addresses.join(",")}`, authorization } satisfies Access
      })

      /** Creates an empty repository, and git for this remote in it. */
      const open = Effect.fnUntraced(function* (remote: Remote) {
        const path = yield* folder
        yield* checkVersion(path)
        const access = yield* accessTo(remote)
        const hidden = [access.authorization, remote.credentials?.password ?? null].flatMap((it) =>
          it === null ? [] : [Redacted.value(it).replace("Basic ", "")]
        )
        const confidential = [...hidden, remote.repository, path]
        const git = (...args: ReadonlyArray<string>) => run({ folder: path, args, access, confidential })
        yield* git("init", "--bare", "--quiet", "--template=", path)
        return { path, git }
      })

      const advertised = Effect.fnUntraced(function* (
        git: (...args: ReadonlyArray<string>) => Effect.Effect<string, GitFailure, ChildProcessSpawner>,
        { repository }: Remote,
        { mode, reference }: Wanted
      ) {
        if (mode === "detached" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(reference)) {
          return { commit: reference, name: reference }
        }
        const names = [`refs/heads/${reference}`]
        if (mode === "detached") names.push(`refs/tags/${reference}`)
        const lines = (yield* git("ls-remote", "--", repository, ...names, ...names.map((name) => `${name}^{}`)))
          .split("\n")
          .map((line) => line.split("\t"))
        const of = (name: string) => lines.find(([, known]) => known === name)?.[0]
        for (const name of names) {
          // An annotated tag is its own object; the commit that it names is listed beside it.
          const commit = of(`${name}^{}`) ?? of(name)
          if (commit !== undefined) return { commit, name }
        }
        const what = mode === "attached" ? "branch" : "branch, tag or full commit hash"
        return yield* new GitFailure({ message: `the repository has no ${what} "${reference}"` })
      })

      const sizeOf = Effect.fnUntraced(function* (path: string) {
        let size = 0
        for (const name of yield* fs.readDirectory(path, { recursive: true })) {
          // Git renames and deletes files while this runs.
          const info = yield* Effect.option(fs.stat(join(path, name)))
          if (info._tag === "Some" && info.value.type === "File") size += Number(info.value.size)
        }
        return size
      })

      const tooLarge = new GitFailure({
        message: `the repository has more than the ${bytes} bytes that one may have; make it smaller, or upload the zip of the package instead`
      })

      const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.timeoutOrElse(effect, {
          duration: time,
          orElse: () => {
            const within = Duration.format(Duration.fromInputUnsafe(time))
            return Effect.fail(new GitFailure({ message: `the repository could not be read within ${within}` }))
          }
        })

      const checkSize = Effect.fnUntraced(function* (path: string) {
        if ((yield* Effect.orElseSucceed(sizeOf(path), () => 0)) > bytes) return yield* tooLarge
      })

      /** Fails when the folder has grown too large; otherwise it never ends. */
      const watch = (path: string) => Effect.forever(Effect.delay(checkSize(path), "100 millis"))

      /** The files of a tree, as git writes them to an archive. */
      const zipOf = (path: string, tree: string): Stream.Stream<Uint8Array, GitFailure, ChildProcessSpawner> =>
        Stream.unwrap(
          Effect.map(start({ folder: path, args: ["archive", "--format=tar", tree] }), ({ ended, stdout }) => {
            let unpacked = 0
            const hollow = Hollow.counter()
            return stdout.pipe(
              Stream.tap((chunk) => {
                unpacked += chunk.length
                return unpacked > packageLimits.unpacked ? Effect.fail(tooLarge) : Effect.void
              }),
              Stream.concat(Stream.drain(Stream.fromEffect(ended))),
              Stream.pipeThroughChannel(Tar.decode()),
              Stream.mapEffect(({ body, header: { mode, path: name, size, type } }) => {
                // A folder entry in git's archive is a submodule.
                if (type === "Directory") return Effect.succeed([])
                if (type !== "File") {
                  const message = `${JSON.stringify(name)} in the repository is a link, which task packages must not contain`
                  return Effect.fail(new GitFailure({ message }))
                }
                return Effect.succeed([{ name, size, mode, body }])
              }),
              Stream.flatMap(Stream.fromIterable),
              hollow.files,
              Packing.encode,
              hollow.zip,
              Stream.catchTag(["PlatformError", "TarError", "ZipError"], (error) =>
                Stream.fail(
                  error._tag === "PlatformError"
                    ? endedOutside
                    : new GitFailure({
                        message: `the files of the repository cannot be packed as a zip: ${error.message}`
                      })
                )
              )
            )
          })
        )

      return Git.of({
        head: Effect.fn("Git.head")(
          function* (remote, wanted) {
            const { git } = yield* open(remote)
            return (yield* advertised(git, remote, wanted)).commit
          },
          Effect.scoped,
          inTime,
          Effect.provideContext(services)
        ),
        snapshot: Effect.fn("Git.snapshot")(function* (remote, wanted, directory) {
          const fetched = Effect.gen(function* () {
            const { git, path } = yield* open(remote)
            const { name } = yield* advertised(git, remote, wanted)
            const fetch = git(
              "fetch",
              "--quiet",
              "--depth=1",
              "--no-tags",
              "--",
              remote.repository,
              `${name}:refs/package`
            )
            yield* Effect.raceFirst(fetch, watch(path))
            yield* checkSize(path)
            const commit = yield* git("rev-parse", "--verify", "--quiet", "refs/package^{commit}")
            const [author = "", subject = ""] = (yield* git("show", "--no-patch", "--format=%an%n%s", commit)).split(
              "\n"
            )
            const named = git(
              "rev-parse",
              "--verify",
              "--quiet",
              directory === null ? commit : `${commit}:${directory}`
            )
            const tree = yield* Effect.mapError(
              Effect.flatMap(named, (object) => git("rev-parse", "--verify", "--quiet", `${object}^{tree}`)),
              () => new GitFailure({ message: `directory: the commit ${commit} has no folder "${directory}"` })
            )
            const zip = Stream.provideContext(zipOf(path, tree), services)
            return { commit, author: shortened(author), subject: shortened(subject), zip }
          })
          return yield* fetched.pipe(inTime, Effect.provideContext(services))
        })
      })
    })
  ).pipe(Layer.provide(NodeServices.layer))
}
