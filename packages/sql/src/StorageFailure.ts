/** How storage fails, and how the service responds: one table for SQLite, Postgres and the disk. */
import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** A failure of the storage as it appears in responses, `/readyz` and logs. */
export interface StorageFailure {
  readonly kind: Kind
  readonly status: 500 | 503 | 507
  readonly code: "UNAVAILABLE" | "UNEXPECTED_ERROR"
  /** For clients and operators; contains neither paths nor statements. */
  readonly message: string
  /** Seconds until a retry may succeed; null: not before an operator has acted. */
  readonly retryAfter: number | null
}

const unavailable = (message: string, status: 503 | 507, retryAfter: number) =>
  ({ status, code: "UNAVAILABLE", message, retryAfter }) as const

const kinds = {
  unavailable: unavailable("the database is unavailable; try again in a moment", 503, 1),
  full: unavailable(
    "the disk is full: free space on the disk of the data folder or of the database; the service then resumes automatically",
    507,
    10
  ),
  openFiles: unavailable(
    "too many files are open: raise the limit of open files of the service (`ulimit -n`); try again in a moment",
    503,
    5
  ),
  readOnly: unavailable(
    "the storage is read-only: give the service write access to its data folder, or connect it to the primary database",
    503,
    10
  ),
  disk: unavailable(
    "the disk cannot be read or written: check the disk of the data folder and its free space; try again in a moment",
    503,
    10
  ),
  bucket: unavailable("the bucket of the files is unavailable; try again in a moment", 503, 5),
  bucketFull: unavailable(
    "the bucket of the files is full: raise its quota or delete objects; the service then resumes automatically",
    507,
    10
  ),
  bucketRefused: unavailable(
    "the bucket of the files refuses requests: run `signalbox doctor` to check its name, region and credentials",
    503,
    10
  ),
  damaged: {
    status: 500,
    code: "UNEXPECTED_ERROR",
    message: "the database is damaged: stop the service, run `signalbox check`, and restore a backup",
    retryAfter: null
  }
} as const

export type Kind = keyof typeof kinds

export const make = (kind: Kind): StorageFailure => ({ kind, ...kinds[kind] })

/** By primary result code. */
const ofSqlite: Readonly<Record<number, Kind>> = {
  5: "unavailable",
  6: "unavailable",
  7: "unavailable",
  8: "readOnly",
  10: "disk",
  11: "damaged",
  13: "full",
  14: "disk",
  26: "damaged"
}

/** By SQLSTATE: the server starts, stops, was failed over, or has no connection, memory or disk left. */
const ofPostgres: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/^53100$/, "full"],
  [/^(08...|28...|53...|57P0[1-5]|57014|25P03|55P03|40...)$/, "unavailable"],
  [/^25006$/, "readOnly"],
  [/^58...$/, "disk"],
  [/^XX00[12]$/, "damaged"]
]

/** By error code of the operating system. */
const ofSystem: Readonly<Record<string, Kind>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EMFILE: "openFiles",
  ENFILE: "openFiles",
  EROFS: "readOnly",
  EIO: "disk",
  ESTALE: "disk"
}

const property = (value: unknown, name: string): unknown =>
  Predicate.isObjectOrArray(value) ? Reflect.get(value, name) : undefined

/** The first code in the chain of causes. */
const codeOf = (error: unknown): string | number | undefined => {
  let at = error
  for (let depth = 0; depth < 6 && at !== undefined; depth++) {
    for (const name of ["errcode", "errno", "code"]) {
      const value = property(at, name)
      // Errors of the system have a code and a negative `errno`.
      if (typeof value === "string" || (typeof value === "number" && value > 0)) return value
    }
    at = property(at, "reason") ?? property(at, "cause")
  }
  return undefined
}

const bucketKinds: ReadonlyArray<Kind> = ["bucket", "bucketFull", "bucketRefused"]

/** An error of a bucket has its kind. */
const kindOfBucket = (error: unknown): Kind | null =>
  property(error, "_tag") === "BucketError"
    ? (bucketKinds.find((kind) => kind === property(error, "kind")) ?? null)
    : null

const kindOfSql = (tag: string, code: string | number | undefined): Kind | null => {
  const known =
    typeof code === "number"
      ? ofSqlite[code & 0xff]
      : (ofPostgres.find(([state]) => state.test(code ?? ""))?.[1] ?? ofSystem[code ?? ""])
  if (known !== undefined) return known
  return tag === "ConnectionError" || tag === "LockTimeoutError" || tag === "StatementTimeoutError"
    ? "unavailable"
    : null
}

/** The kind of a storage failure; null when the error is not one of the storage. */
export const of = (error: unknown): StorageFailure | null => {
  const kind = isSqlError(error)
    ? kindOfSql(error.reason._tag, codeOf(error))
    : property(error, "_tag") === "PlatformError"
      ? (ofSystem[String(codeOf(error))] ?? null)
      : kindOfBucket(error)
  return kind === null ? null : make(kind)
}

export const ofCause = (cause: Cause.Cause<unknown>): StorageFailure | null => {
  for (const reason of cause.reasons) {
    const failure = Cause.isInterruptReason(reason)
      ? null
      : of(Cause.isFailReason(reason) ? reason.error : reason.defect)
    if (failure !== null) return failure
  }
  return null
}

/** The message of the driver or the system, for the log: storage failures contain no values of rows. */
export const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const underlying = isSqlError(error) ? property(error.reason.cause, "message") : undefined
  if (typeof underlying === "string") return underlying
  return error instanceof Error ? error.message : String(error)
}

/**
 * Whether a retry of the statement may succeed: the storage is unavailable or full, or another transaction conflicted.
 */
export const isPassing = (error: SqlError): boolean => {
  const failure = of(error)
  return failure === null ? error.isRetryable : failure.kind !== "damaged"
}
