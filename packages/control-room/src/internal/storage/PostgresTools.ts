/** `pg_dump` and `pg_restore`. The password of the address is passed by the environment, where other users cannot see it. */
import { direct, type PostgresOptions } from "@signalbox/sql/PostgresOptions"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { BackupError } from "./Archive.ts"

type Tool = "pg_dump" | "pg_restore"

/** How much of the output of a tool is stored. */
const maxText = 4096

const textOf = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  Stream.runFold(
    bytes,
    () => "",
    (text, chunk) => (text.length > maxText ? text : text + Buffer.from(chunk).toString())
  )

/** The address without its password, and the password. */
export const withoutPassword = (url: Redacted.Redacted) => {
  const address = new URL(Redacted.value(url))
  const password = address.searchParams.get("password") ?? decodeURIComponent(address.password)
  address.password = ""
  address.searchParams.delete("password")
  return { address: address.toString(), password }
}

const run = Effect.fnUntraced(
  function* (tool: Tool, args: ReadonlyArray<string>, database?: PostgresOptions) {
    const { address = null, password = "" } = database === undefined ? {} : withoutPassword(direct(database).url)
    const child = yield* ChildProcess.make(tool, [...args, ...(address === null ? [] : [`--dbname=${address}`])], {
      env: { LC_ALL: "C", PGCONNECT_TIMEOUT: "30", ...defined({ PGPASSWORD: password === "" ? undefined : password }) },
      extendEnv: true,
      stdin: "ignore",
      forceKillAfter: "2 seconds"
    })
    const said = yield* Effect.forkScoped(textOf(child.stderr))
    const text = yield* textOf(child.stdout)
    const code = yield* child.exitCode
    if (code !== 0) {
      const [line = ""] = (yield* Fiber.join(said)).trim().split("\n")
      return yield* new BackupError({
        message: `${tool} failed with exit code ${code}: ${password === "" ? line : line.replaceAll(password, "***")}`
      })
    }
    return text
  },
  Effect.scoped,
  (effect, tool) =>
    Effect.catchTag(effect, "PlatformError", () =>
      Effect.fail(
        new BackupError({
          message: `${tool} cannot be run: install the client programs of Postgres on this machine, and put them on the PATH`
        })
      )
    )
)

/** Fails when the tool is missing, or older than the server, whose database it then cannot read. */
export const check = Effect.fnUntraced(function* (tool: Tool, major: number) {
  const text = (yield* run(tool, ["--version"])).trim()
  const [, version] = /\(PostgreSQL\) (\d+)/.exec(text) ?? []
  if (version === undefined || Number(version) < major) {
    return yield* new BackupError({
      message: `${tool} is of Postgres ${version ?? "of an unknown version"}, and the server of ${major}: install the client programs of Postgres ${major} or newer, and put them first on the PATH`
    })
  }
})

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Writes one schema at a snapshot to a file, without the rows of some tables. */
export const dump = (
  database: PostgresOptions,
  options: {
    readonly schema: string
    readonly snapshot: string
    readonly leftOut: ReadonlyArray<string>
    readonly file: string
  }
) =>
  run(
    "pg_dump",
    [
      "--format=custom",
      "--no-owner",
      "--no-privileges",
      "--no-password",
      `--schema=${quoted(options.schema)}`,
      ...options.leftOut.map((table) => `--exclude-table-data=${quoted(options.schema)}.${quoted(table)}`),
      `--snapshot=${options.snapshot}`,
      `--file=${options.file}`
    ],
    database
  )

/** Restores a schema that exists and is empty, in one transaction. */
export const restore = (database: PostgresOptions, schema: string, file: string) =>
  run(
    "pg_restore",
    [
      "--no-owner",
      "--no-privileges",
      "--no-password",
      "--exit-on-error",
      "--single-transaction",
      `--schema=${schema}`,
      file
    ],
    database
  )
