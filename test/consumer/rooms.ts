/** Control rooms that the command starts for a check, and their clients. */
import { spawn } from "node:child_process"
import { mkdtempSync, statSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { type Consumer, expected } from "./consumer.ts"

/** Waits until nothing listens at an address any more. */
const closed = async ({ hostname, port }: URL) => {
  const limit = performance.now() + 30_000
  while (performance.now() < limit) {
    const refused = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(false))
      socket.once("error", () => resolve(true)).once("connect", () => socket.destroy())
    })
    if (refused) return
    await setTimeout(200)
  }
  throw new Error(`something still listens on port ${port} after \`up\` was stopped`)
}

/** Starts `signalbox up` by a command line, runs a client against it, and stops it by SIGTERM. */
export const up = async (
  { environment, folder }: Consumer,
  file: string,
  args: ReadonlyArray<string>,
  client: (room: string, data: string) => Promise<unknown>,
  env: Readonly<Record<string, string>> = {}
) => {
  const data = mkdtempSync(join(folder, "up-"))
  const child = spawn(file, [...args, "up", "--json", "--port=0", `--data=${data}`, "--tasks=tasks.ts"], {
    cwd: folder,
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let said = ""
  let room = ""
  child.stderr.on("data", (chunk) => (said += String(chunk)))
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  try {
    const line = new Promise<string>((resolve) => createInterface(child.stdout).once("line", resolve))
    const first = await Promise.race([line, exited])
    if (typeof first !== "string") throw new Error(`up ended with ${String(first)}: ${said}`)
    room = first
    await client(first, data)
  } finally {
    child.kill("SIGTERM")
  }
  const code = await exited
  // npm's runner ends by the signal itself.
  if (file !== "npx") expected("the exit code of `up` after SIGTERM", code, 0)
  expected("a warning of `up`", said.match(/\w*Warning.*/)?.[0], undefined)
  await closed(new URL(JSON.parse(room).base_url))
}

/** Bytes of the largest page that SQLite has. */
const largestPage = 65_536

/** Waits until the thread of checkpoints has copied the log into the database, whose file has one page until then. */
export const checkpointed = async (data: string) => {
  while (statSync(join(data, "control-room.db")).size <= largestPage) await setTimeout(50)
}

/** The page of the documentation is the one part of the command that is not in its bundle. */
export const documented = async (room: string) => {
  const response = await fetch(JSON.parse(room).docs_url)
  if (!response.ok || !(await response.text()).includes("scalar")) throw new Error(`/docs is ${response.status}`)
}

/** Runs `client.mjs` with a runtime against a room. */
export const greet =
  ({ sh }: Consumer, file: string, ...args: ReadonlyArray<string>) =>
  (room: string) =>
    sh(file, [...args, "client.mjs"], { ROOM: room })
