/**
 * A Postgres for tests: one server per test run, and a separate schema for each caller. Name this file as `globalSetup`
 * of a vitest project, and `UsePostgres` in its `setupFiles`. `DATABASE_URL` in the environment replaces the started
 * server; with `SIGNALBOX_TEST_POOLER=transaction` (or `session`) tests reach it through a connection pooler.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"
import { freePort } from "./FreePort.ts"
import type { HostAnswer, HostOptions } from "./PostgresHost.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The URL of the Postgres for the tests of this project. */
    readonly postgresUrl: string
    /** Its URL through a connection pooler, if the tests shall use one. */
    readonly poolerUrl: string | null
  }
}

/** The variable with the URL for tests and their processes; not set in projects without Postgres. */
export const urlVariable = "SIGNALBOX_TEST_POSTGRES"

/** The variable with the URL through a connection pooler; not set without one. */
export const poolerVariable = "SIGNALBOX_TEST_POSTGRES_POOLER"

/** Where the code under test finds the database of this URL, of the server of the tests: through their pooler, if there is one. */
export const addressesOf = (url: string): { readonly url: string; readonly directUrl?: string } => {
  const pooler = process.env[poolerVariable]
  if (pooler === undefined) return { url }
  const through = new URL(url)
  through.host = new URL(pooler).host
  return { url: through.href, directUrl: url }
}

/** Like `addressesOf`, as options of a storage or an engine. */
export const databaseOf = (
  given: string
): { readonly url: Redacted.Redacted; readonly directUrl?: Redacted.Redacted } => {
  const { directUrl, url } = addressesOf(given)
  return directUrl === undefined
    ? { url: Redacted.make(url) }
    : { url: Redacted.make(url), directUrl: Redacted.make(directUrl) }
}

/** Like `addressesOf`, as variables of the command. */
export const databaseVariablesOf = (given: string): Readonly<Record<string, string>> => {
  const { directUrl, url } = addressesOf(given)
  return directUrl === undefined
    ? { SIGNALBOX_DATABASE_URL: url }
    : { SIGNALBOX_DATABASE_URL: url, SIGNALBOX_DATABASE_DIRECT_URL: directUrl }
}

export interface Server {
  readonly url: string
  /** Kills the server. Not with `DATABASE_URL`. */
  readonly stop: () => Promise<void>
  /** Starts a stopped server again, on its data and its port. */
  readonly start: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** Settings that make a server fast whose data need not survive a crash of the machine. */
const carefree = [
  ["fsync", "off"],
  ["synchronous_commit", "off"],
  ["full_page_writes", "off"]
]

const program = fileURLToPath(new URL("PostgresHost.ts", import.meta.url))

/**
 * Starts a server in a temporary folder, in a separate process that ends with this one. It never waits for the disk,
 * unless it is `durable`: it then has the defaults of Postgres, for measurements.
 */
export const startServer = async (options: { readonly durable?: boolean } = {}): Promise<Server> => {
  const port = await freePort()
  const flags = [
    ...(options.durable === true ? [] : carefree),
    ["max_connections", "300"],
    ["listen_addresses", "127.0.0.1"],
    ["unix_socket_directories", ""]
  ].flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const host = spawn(process.execPath, [program, JSON.stringify({ port, flags } satisfies HostOptions)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const answers = createInterface({ input: host.stdout })[Symbol.asyncIterator]()
  const ask = async (command: "start" | "stop") => {
    host.stdin.write(`${command}\n`)
    const { value } = await answers.next()
    const answer: HostAnswer = value === undefined ? { failed: "its process ended" } : JSON.parse(value)
    if ("failed" in answer) {
      throw new Error(
        "no Postgres for the tests: set DATABASE_URL to one, or see why this one does not start " +
          `(as root, the clone must be where other users may read, so not in /root)\n${answer.failed}`
      )
    }
  }
  const remove = async () => {
    host.stdin.end()
    if (host.exitCode === null && host.signalCode === null) await once(host, "exit")
  }
  await ask("start").catch((cause: unknown) => remove().then(() => Promise.reject(cause)))
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: () => ask("stop"),
    start: () => ask("start"),
    remove
  }
}

/** Starts the pooler that the tests shall use, and returns how it is removed. */
const providePooler = async (project: TestProject, url: string): Promise<() => Promise<void>> => {
  const mode = process.env["SIGNALBOX_TEST_POOLER"] ?? ""
  if (mode === "") {
    project.provide("poolerUrl", null)
    return () => Promise.resolve()
  }
  if (mode !== "transaction" && mode !== "session") {
    throw new Error(`SIGNALBOX_TEST_POOLER=${mode}: set it to transaction or session`)
  }
  const { missing, startPooler } = await import("./PgBouncer.ts")
  if (missing !== null) throw new Error(missing)
  // Files that run concurrently share it.
  const pooler = await startPooler(url, { mode, size: 20 })
  project.provide("poolerUrl", pooler.url)
  return pooler.remove
}

export default async (project: TestProject) => {
  const given = process.env["DATABASE_URL"]
  const server = given === undefined || given === "" ? await startServer() : null
  const url = server?.url ?? given ?? ""
  project.provide("postgresUrl", url)
  const removePooler = await providePooler(project, url)
  return async () => {
    await removePooler()
    await server?.remove()
  }
}

/** Uses a connection of the tests themselves. */
const connected = <A, E>(
  url: string,
  startupParameters: Readonly<Record<string, string>>,
  use: (sql: PgClient.PgClient) => Effect.Effect<A, E>
) =>
  Effect.flatMap(PgClient.PgClient, use).pipe(
    Effect.provide(
      PgClient.layer({
        url: Redacted.make(url),
        maxConnections: 1,
        startupParameters: { client_min_messages: "warning", ...startupParameters }
      })
    ),
    Effect.orDie
  )

/** Creates a database of a user who has its name. */
export const createDatabase = (url: string, name: string, password: string) =>
  connected(url, {}, (sql) =>
    Effect.andThen(
      sql`CREATE ROLE ${sql(name)} LOGIN PASSWORD ${sql.literal(`'${password}'`)}`,
      Effect.asVoid(sql`CREATE DATABASE ${sql(name)} OWNER ${sql(name)}`)
    )
  )

/** Drops a schema after a test. */
export const dropSchema = (url: string, schema: string) =>
  connected(url, {}, (sql) => Effect.asVoid(sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`))

/** Deletes all rows of a schema, except those of applied migrations: in a tenth of the time that a new schema takes. */
export const emptySchema = (url: string, schema: string) =>
  // Foreign keys are not checked, whatever the order of the tables.
  connected(
    url,
    { session_replication_role: "replica" },
    Effect.fnUntraced(function* (sql) {
      const tables = yield* sql<{ readonly name: string }>`
        SELECT tablename AS name FROM pg_tables WHERE schemaname = ${schema} AND tablename NOT LIKE '%migration%'`
      yield* Effect.forEach(tables, ({ name }) => sql`DELETE FROM ${sql(schema)}.${sql(name)}`, { discard: true })
    })
  )
