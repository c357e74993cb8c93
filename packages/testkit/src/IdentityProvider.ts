/** A provider of OpenID Connect in a child process. */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { freePort } from "./FreePort.ts"

const program = join(import.meta.dirname, "IdentityProviderProcess.ts")

/** A provider that has not started, at a port of its own: rooms can be told of it before. */
export const make = Effect.fnUntraced(function* (id: string) {
  const port = yield* Effect.promise(freePort)
  const origin = `http://localhost:${port}`
  const clientId = `room-${id}`
  const clientSecret = `secret of ${id}`
  /** Runs it for the room at this address until the scope ends; `end` ends it before. */
  const start = Effect.fnUntraced(function* (room: string) {
    const client = {
      id: clientId,
      secret: clientSecret,
      callback: `${room}/console/sign-in/provider/${id}/callback`,
      home: `${room}/console/`
    }
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [program, JSON.stringify({ port, clients: [client] })], {
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    let said = ""
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
    yield* Effect.callback<void>((resume) => {
      child.stdout.on("data", (chunk: Buffer) => {
        if (chunk.toString().includes("ready")) resume(Effect.void)
      })
      child.on("close", () => resume(Effect.die(new Error(`the provider ended: ${said}`))))
    })
    const end = Effect.callback<void>((resume) => {
      child.on("close", () => resume(Effect.void))
      child.kill("SIGKILL")
    })
    return { end }
  })
  const ask = (path: string) => Effect.promise(() => fetch(`${origin}${path}`).then((response) => response.json()))
  return {
    id,
    origin,
    clientId,
    clientSecret,
    start,
    /** From now on it is wrong in this way; without one, right. */
    behave: (as = "") => Effect.asVoid(ask(`/test/behave?as=${as}`)),
    /** How often a path was asked for. */
    asked: (path: string) =>
      Effect.map(ask("/test/counts"), (counts: Readonly<Record<string, number>>) => counts[path] ?? 0)
  }
})
