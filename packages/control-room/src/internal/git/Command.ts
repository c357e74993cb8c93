/**
 * The `git` program, isolated from everything on the machine that could change its behaviour: no configuration but
 * ours, no hooks, no prompts, no helpers, no protocol but HTTP, no redirects.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { devNull } from "node:os"
import { failureOf, GitFailure } from "./Failure.ts"

/** What git needs to reach a remote, besides its address. */
export interface Access {
  /**
   * `host:port:addresses`: the connection uses these, whatever the name resolves to by then. Null when the host is an
   * address.
   */
  readonly resolve: string | null
  /** The value of the header `Authorization`. */
  readonly authorization: Redacted.Redacted | null
}

const settings: ReadonlyArray<readonly [key: string, value: string]> = [
  ["core.hooksPath", devNull],
  ["core.askPass", ""],
  ["core.fsmonitor", "false"],
  ["credential.helper", ""],
  ["protocol.version", "2"],
  ["http.followRedirects", "false"],
  ["http.proxy", ""],
  ["http.lowSpeedLimit", "100"],
  ["http.lowSpeedTime", "30"],
  ["transfer.bundleURI", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // Objects stay packed, large files never lie in memory, and one processor is enough.
  ["fetch.unpackLimit", "1"],
  ["core.bigFileThreshold", "1m"],
  ["pack.threads", "1"]
]

/** Git gets these variables of the service's environment, for programs and trusted certificates, and no others. */
const inherited = ["PATH", "SystemRoot", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"] as const

const environment = (folder: string, access: Access | null) => {
  const pairs: ReadonlyArray<readonly [string, string | Redacted.Redacted]> = [
    ...settings,
    ...(access === null || access.resolve === null ? [] : [["http.curloptResolve", access.resolve] as const]),
    ...(access === null || access.authorization === null
      ? []
      : [
          [
            "http.extraHeader",
            Redacted.make(`Authorization: ${Redacted.value(access.authorization)}`, { label: "authorization" })
          ] as const
        ])
  ]
  return {
    ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])),
    HOME: folder,
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_ALLOW_PROTOCOL: "http:https",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LFS_SKIP_SMUDGE: "1",
    LC_ALL: "C",
    GIT_CONFIG_COUNT: String(pairs.length),
    ...Object.fromEntries(
      pairs.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value]
      ])
    )
  }
}

/** How much of git's messages is read; the rest is discarded. */
const maxText = 64 * 1024

const textOf = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  Effect.map(
    Stream.runFold(
      bytes,
      () => "",
      (text, chunk) => (text.length > maxText ? text : text + Buffer.from(chunk).toString("latin1"))
    ),
    (text) => text.trim()
  )

/** Why no repository can be read on this machine. */
export const noGit = (why: string) =>
  new GitFailure({
    message: `${why} on the machine of the control room; install git 2.37 or newer there, or upload the zip of the package instead`
  })

export interface Invocation {
  /** The repository that git works in, also its home. */
  readonly folder: string
  readonly args: ReadonlyArray<string>
  readonly access?: Access
  /** Texts that must not appear in any failure. */
  readonly confidential?: ReadonlyArray<string>
}

/** Starts git; the process and its children are killed when the scope closes. */
export const start = Effect.fnUntraced(function* ({ access, args, confidential = [], folder }: Invocation) {
  const command = ChildProcess.make("git", args, {
    cwd: folder,
    env: environment(folder, access ?? null),
    stdin: "ignore",
    forceKillAfter: "2 seconds"
  })
  const child = yield* Effect.mapError(command, () => noGit("the program git cannot be run"))
  const said = yield* Effect.forkScoped(textOf(child.stderr))
  /** Fails unless git ends well. */
  const ended = Effect.gen(function* () {
    const code = yield* child.exitCode
    if (code !== 0) return yield* failureOf(code, yield* Fiber.join(said), confidential)
  })
  return { stdout: child.stdout, ended }
})

export const endedOutside = new GitFailure({ message: "git was terminated by another process" })

/** Runs git to its end and returns what it wrote. */
export const run = (invocation: Invocation) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { ended, stdout } = yield* start(invocation)
      const text = yield* textOf(stdout)
      yield* ended
      return text
    })
  ).pipe(Effect.catchTag("PlatformError", () => Effect.fail(endedOutside)))
