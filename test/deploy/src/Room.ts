/** A real room in a process of its own, and what a proxy in front of it is asked. */
import { spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "./Files.ts"

/** The address that the files of deploy/ name. */
export const publicHost = "robots.example.com"

export const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Waits until a condition holds; the limit is for what never comes. */
export const eventually = async <A>(what: string, read: () => A | undefined | Promise<A | undefined>): Promise<A> => {
  const limit = performance.now() + 60_000
  while (performance.now() < limit) {
    const found = await read()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${what}: not within a minute`)
}

/** A program that runs until the test has ended. `said` is all that it has printed. */
export interface Running {
  readonly child: ChildProcess
  readonly said: () => string
  readonly ended: Promise<number | null>
  /** Sends SIGTERM, and resolves to the exit code. */
  readonly stop: () => Promise<number | null>
}

export const start = (program: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): Running => {
  const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`
  const child = spawn(program, args, { env: { ...process.env, PATH, ...env }, stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)))
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve)
    child.once("error", (error) => resolve(((said += String(error)), null)))
  })
  const stop = () => {
    child.kill("SIGTERM")
    return ended
  }
  return { child, said: () => said, ended, stop }
}

/** Rejects when a program ends before what is waited for is there. */
export const unlessEnded = <A>(running: Running, wait: Promise<A>): Promise<A> =>
  Promise.race([
    wait,
    running.ended.then((code) => Promise.reject(new Error(`it ended with ${String(code)}: ${running.said()}`)))
  ])

export interface Room {
  readonly data: string
  readonly port: number
  readonly key: string
  readonly workspace: string
  /** Calls an operation of the workspace directly, past every proxy. */
  readonly call: (method: string, path: string, json?: unknown) => Promise<Readonly<Record<string, unknown>>>
  readonly running: Running
  /** Stops it, and removes its data. */
  readonly close: () => Promise<void>
}

/** Starts a room as the files of deploy/ do, with the public address that they name. */
export const startRoom = async (environment: NodeJS.ProcessEnv = {}): Promise<Room> => {
  const data = mkdtempSync(join(tmpdir(), "signalbox-deploy-room-"))
  const port = await freePort()
  const running = start(process.execPath, [join(root, "packages/signalbox/src/bin.ts"), "up", "--json"], {
    SIGNALBOX_DATA: data,
    SIGNALBOX_PORT: String(port),
    SIGNALBOX_WORKERS: "0",
    SIGNALBOX_METRICS: "true",
    SIGNALBOX_PUBLIC_URL: `https://${publicHost}`,
    ...environment
  })
  await unlessEnded(
    running,
    eventually("the room is ready", () => (running.said().includes("api_key") ? true : undefined))
  )
  const { api_key, workspace_id } = JSON.parse(readFileSync(join(data, "credentials.json"), "utf8"))
  const call = async (method: string, path: string, json?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/workspaces/${workspace_id}/${path}`, {
      method,
      headers: { authorization: `RC-WSKEY ${api_key}`, "content-type": "application/json" },
      ...(json === undefined ? {} : { body: JSON.stringify(json) })
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    // A cast: each caller reads the members that it has asked for.
    return (await response.json()) as Readonly<Record<string, unknown>>
  }
  const close = async () => {
    await running.stop()
    rmSync(data, { recursive: true, force: true })
  }
  return { data, port, key: api_key, workspace: workspace_id, call, running, close }
}
