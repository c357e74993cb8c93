/**
 * A connection pooler for tests: pgbouncer in front of a Postgres. It has few connections to the server, so that what one
 * transaction leaves behind is found by another.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile, chmod } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "./FreePort.ts"

/** Debian installs it where only root looks. */
const path = `${process.env["PATH"] ?? ""}:/usr/sbin`

/** Why no pooler can be started; null when one can. */
export const missing: string | null =
  spawnSync("pgbouncer", ["--version"], { env: { PATH: path } }).error === undefined
    ? null
    : "pgbouncer is not installed: run .ci/tools, or install it by hand"

export interface Pooler {
  /** The address of the server through the pooler. */
  readonly url: string
  readonly remove: () => Promise<void>
}

export interface Options {
  /** Default: `transaction`. */
  readonly mode?: "session" | "transaction"
  /** Settings that clients send at the start and that the pooler drops; it refuses others. Default: none. */
  readonly ignored?: ReadonlyArray<string>
  /** Connections to the server. Default: 4. */
  readonly size?: number
}

/** Kills the pooler when its input ends, however this process ends. Other signals mean other things from version to version. */
const script = 'trap "" INT HUP; pgbouncer "$@" & pid=$!; while read -r line; do :; done; kill -KILL $pid; wait $pid'

/** Starts a pooler in front of the Postgres of an address. */
export const startPooler = async (url: string, options: Options = {}): Promise<Pooler> => {
  const { ignored = [], mode = "transaction", size = 4 } = options
  const server = new URL(url)
  const [port, folder] = await Promise.all([freePort(), mkdtemp(join(tmpdir(), "signalbox-pgbouncer-"))])
  // As root it runs as another user, who reads the file.
  await chmod(folder, 0o755)
  const file = join(folder, "pgbouncer.ini")
  const text = `[databases]
* = host=${server.hostname} port=${server.port === "" ? 5432 : server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 1000
max_packet_size = 67108864
ignore_startup_parameters = ${ignored.join(",")}
log_connections = 0
log_disconnections = 0
`
  await writeFile(file, text, { mode: 0o644 })
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : []
  const child = spawn("sh", ["-c", script, "pgbouncer", "-q", ...user, file], {
    env: { PATH: path },
    stdio: ["pipe", "ignore", "pipe"]
  })
  const said: Array<string> = []
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()))
  const remove = async () => {
    child.stdin.end()
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
    await rm(folder, { recursive: true, force: true })
  }
  for (let tries = 0; !(await listens(port)); tries++) {
    if (tries === 100) {
      await remove()
      throw new Error(`pgbouncer does not start: ${said.join("")}`)
    }
    await sleep(50)
  }
  server.host = `127.0.0.1:${port}`
  return { url: server.href, remove }
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port })
    const end = (value: boolean) => () => {
      socket.destroy()
      resolve(value)
    }
    socket.on("connect", end(true))
    socket.on("error", end(false))
  })
