/**
 * The service in a child process that a test can kill.
 */
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const Ready = Schema.fromJsonString(
  Schema.Struct({ key: Schema.String, origin: Schema.String, workspaceId: WorkspaceId })
)

/** A process that ended before it was ready. */
export class Ended extends Schema.TaggedError<Ended>()("Ended", {
  code: Schema.NullOr(Schema.Finite),
  output: Schema.String
}) {}

/** Starts the service on a folder and waits until it serves; killed with the scope at the latest. */
export const start = Effect.fnUntraced(function* (folder: string) {
  const script = fileURLToPath(new URL("serve.ts", import.meta.url))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "pipe"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const line = yield* Effect.callback<string, Ended>((resume) => {
    let output = ""
    let errors = ""
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()))
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
      const [first, ...rest] = output.split("\n")
      if (first !== undefined && rest.length > 0 && first.startsWith("{")) resume(Effect.succeed(first))
    })
    child.on("close", (code) => resume(Effect.fail(new Ended({ code, output: output + errors }))))
  })
  const ready = yield* Effect.orDie(Schema.decodeEffect(Ready)(line))
  return {
    ...ready,
    pid: child.pid ?? 0,
    /** Ends the process without giving it a chance to do anything, and waits until it is gone. */
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
