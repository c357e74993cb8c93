/**
 * The service in a child process that a test can kill.
 */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { spawn, spawnSync } from "node:child_process"
import { join } from "node:path"

const Ready = Schema.fromJsonString(
  Schema.Struct({ key: Schema.String, origin: Schema.String, workspaceId: WorkspaceId })
)

/** A process that ended before it was ready. */
export class Ended extends Schema.TaggedError<Ended>()("Ended", {
  code: Schema.NullOr(Schema.Finite),
  output: Schema.String
}) {}

/** Gives the folder of a process a separate disk of this size, in memory. */
export interface Disk {
  readonly megabytes: number
  /** Whether it is full when the process starts. */
  readonly full?: boolean
}

/** Runs a command that sees the disk; needs Linux, and only the rights of a user. */
const onDisk = ({ full = false, megabytes }: Disk, folder: string, command: ReadonlyArray<string>) => [
  "unshare",
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && ${full ? 'head -c 1G /dev/zero > "$0/filler" 2>/dev/null; ' : ""}exec "$@"`,
  folder,
  ...command
]

/** Whether this machine lets a process have a separate disk. */
export const disksOfTheirOwn =
  spawnSync("unshare", ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0

/** `serve.ts`, bundled when the tests start. */
const program = join(import.meta.dirname, "../../../signalbox/.bundle-command/service/program.mjs")

/** Starts the service on a folder and waits until it serves; killed with the scope at the latest. */
export const start = Effect.fnUntraced(function* (
  folder: string,
  disk?: Disk,
  environment: Readonly<Record<string, string>> = {}
) {
  const command = [process.execPath, program, folder]
  const [file = "", ...args] = disk === undefined ? command : onDisk(disk, folder, command)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const line = yield* Effect.callback<string, Ended>((resume) => {
    let output = ""
    let errors = ""
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()))
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
      // It may log before, such as that it has deleted unfinished uploads.
      const ready = output
        .split("\n")
        .slice(0, -1)
        .find((line) => line.startsWith("{"))
      if (ready !== undefined) resume(Effect.succeed(ready))
    })
    child.on("close", (code) => resume(Effect.fail(new Ended({ code, output: output + errors }))))
  })
  const ready = yield* Effect.orDie(Schema.decodeEffect(Ready)(line))
  return {
    ...ready,
    pid: child.pid ?? 0,
    /** The folder, as the process sees it. */
    folder: disk === undefined ? folder : `/proc/${child.pid}/root${folder}`,
    /** Its log so far. */
    output: () => said,
    /** Waits until the process has ended by itself. */
    ended: Effect.callback<void>((resume) => {
      if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
      child.on("close", () => resume(Effect.void))
    }),
    /** Kills the process, and waits until it has ended. */
    kill: Effect.callback<void>((resume) => {
      child.on("close", () => resume(Effect.void))
      child.kill("SIGKILL")
    }),
    /** The client of this process. */
    client: ControlRoom.layerHttpClient({
      baseUrl: ready.origin,
      workspaceId: ready.workspaceId,
      apiKey: Redacted.make(ready.key)
    })
  }
})
