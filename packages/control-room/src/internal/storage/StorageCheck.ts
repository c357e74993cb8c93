/**
 * Checks everything a control room has stored: the database, the master key, and the bytes of files. Changes nothing,
 * and may run beside the service.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { BlobStore } from "../../BlobStore.ts"
import type { StorageOptions } from "../../Options.ts"
import { Files } from "../store/files/Files.ts"
import { Integrity, type NamedBlob, type Recount } from "../store/database/Integrity.ts"
import { auditKeyId } from "../store/audit/AuditEntries.ts"
import type { ChainHead } from "../store/audit/AuditReading.ts"
import { storedKey } from "../store/vault/DataKeys.ts"
import { checkChains } from "./AuditCheck.ts"
import * as BlobStores from "./BlobStores.ts"
import { unhurried } from "@signalbox/sql/QueryDeadline"
import * as StorageFailure from "@signalbox/sql/StorageFailure"
import { fingerprint, MasterKey } from "../vault/MasterKey.ts"

/** A file whose bytes are missing, or have another size or digest than its row. */
export interface LostFile extends NamedBlob {
  /** How many bytes are on disk; null: none at all. */
  readonly found: number | null
  /** Whether there are as many bytes as there should be, and not these. */
  readonly altered: boolean
}

/** The outcome of one check. */
export interface Finding {
  readonly check: "database" | "counters" | "master key" | "audit" | "files" | "orphans"
  readonly ok: boolean
  readonly message: string
  /** Files without their bytes, of the check `files`. */
  readonly files?: ReadonlyArray<LostFile>
}

/** Rows and names that are checked in one step. */
const stepSize = 500

const wrong = (check: Finding["check"], message: string): Finding => ({ check, ok: false, message })
const right = (check: Finding["check"], message: string): Finding => ({ check, ok: true, message })

const damaged = (how: string) => wrong("database", `damaged: ${how}. Stop the service and restore a backup`)

/** Why the database could not be checked; null: it cannot be reached, or the failure is not one of the storage. */
export const findingOf = (cause: Cause.Cause<unknown>): Finding | null => {
  const failure = StorageFailure.ofCause(cause)
  if (failure === null || failure.kind === "unavailable") return null
  return failure.kind === "damaged" ? damaged(StorageFailure.reasonOf(cause)) : wrong("database", failure.message)
}

const checkDatabase = Effect.gen(function* () {
  const { problems } = yield* Integrity
  const found = yield* problems
  return found.length === 0 ? right("database", "readable and not damaged") : damaged(found.join("; "))
}).pipe(
  Effect.catchCause((cause) => {
    const finding = findingOf(cause)
    return finding === null ? Effect.failCause(cause) : Effect.succeed(finding)
  })
)

/** The counters of a run decide when it ends. */
const checkCounters = Effect.gen(function* () {
  const { counters } = yield* Integrity
  const wrongRuns: Array<string> = []
  let count = 0
  for (let after: string | null = ""; after !== null;) {
    const recount: Recount = yield* counters(after, stepSize)
    wrongRuns.push(...recount.wrong)
    count += recount.runs
    after = recount.last
  }
  if (wrongRuns.length === 0) return right("counters", `consistent for all ${count} runs`)
  const some = wrongRuns.slice(0, 20).join(", ")
  return wrong("counters", `inconsistent for ${wrongRuns.length} of ${count} runs: restore a backup (${some})`)
})

/** The master key of the options; null: there is none. */
export const masterKeyOf = Effect.fnUntraced(function* ({ data, masterKey }: StorageOptions) {
  if (masterKey !== undefined) return yield* MasterKey.fromText(masterKey)
  const fs = yield* FileSystem.FileSystem
  const file = (yield* Path.Path).join(data, "master.key")
  return (yield* fs.exists(file)) ? MasterKey.fromBytes(yield* fs.readFile(file)) : null
})

const checkMasterKey = Effect.fnUntraced(function* (options: StorageOptions) {
  const { data, masterKey } = options
  const path = yield* Path.Path
  const known = yield* (yield* Integrity).fingerprint
  if (known === null) return right("master key", "not created yet")
  const file = path.join(data, "master.key")
  const given = yield* masterKeyOf(options)
  if (given === null) {
    return wrong("master key", `${file} is missing: restore it from a backup; it is needed to open secrets`)
  }
  return fingerprint(given) === known
    ? right("master key", "matches the database")
    : wrong(
        "master key",
        `${masterKey === undefined ? file : "SIGNALBOX_MASTER_KEY"} does not match the database: restore the right one from a backup`
      )
})

/** Only where the master key is, which opens that of the audit. */
const checkAudit = Effect.fnUntraced(function* (options: StorageOptions, known: ReadonlyArray<ChainHead>) {
  const master = yield* masterKeyOf(options)
  const key = master === null ? null : yield* storedKey(master, auditKeyId)
  if (key === null) return known.length === 0 ? right("audit", "no entries yet") : wrong("audit", "its key is gone")
  const { entries, problems } = yield* checkChains(key, known)
  return problems.length === 0
    ? right("audit", `all ${entries} entries are in their place and not altered`)
    : wrong("audit", problems.join("; "))
})

const checkFiles = Effect.gen(function* () {
  const { read, sizeOf } = yield* BlobStore
  const { blobs } = yield* Integrity
  const files = yield* Files
  const digestOf = Effect.fnUntraced(function* (blob: string) {
    const hash = createHash("sha256")
    yield* Stream.runForEach(yield* read(blob), (chunk) => Effect.sync(() => hash.update(chunk)))
    return `sha256:${hash.digest("hex")}`
  })
  const look = Effect.fnUntraced(function* (row: NamedBlob) {
    const size = yield* sizeOf(row.blob)
    const hashed = row.digest !== null && size === row.size
    const altered = hashed && (yield* Effect.orElseSucceed(digestOf(row.blob), () => null)) !== row.digest
    const file: LostFile = { ...row, found: size, altered }
    return file
  })
  const lost: Array<LostFile> = []
  let count = 0
  for (let after = ""; ;) {
    const rows = yield* blobs(after, stepSize)
    const found = yield* Effect.forEach(rows, look, { concurrency: 16 })
    const suspects = found.filter(({ altered, found: bytes, size }) => bytes !== size || altered)
    // Replaced or deleted during the check.
    const still = yield* files.referenced(suspects.map(({ blob }) => blob))
    lost.push(...suspects.filter(({ blob }) => still.has(blob)))
    count += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < stepSize) break
    after = last.id
  }
  const message =
    lost.length === 0
      ? `all ${count} are complete`
      : `${lost.length} of ${count} are missing or damaged: restore the folder \`files\` or the bucket from a backup, or delete their owners`
  return { check: "files" as const, ok: lost.length === 0, message, files: lost }
})

/** Counts blobs that no row names: of uploads that were cut off, and of files whose deletion was interrupted. */
const countOrphans = Effect.gen(function* () {
  const { names } = yield* BlobStore
  const files = yield* Files
  let count = 0
  const countIn = Effect.fnUntraced(function* (page: ReadonlyArray<string>) {
    for (let from = 0; from < page.length; from += stepSize) {
      const some = page.slice(from, from + stepSize)
      const known = yield* files.referenced(some)
      count += some.filter((name) => !known.has(name)).length
    }
  })
  yield* Stream.runForEach(names, countIn)
  return right("orphans", `${count} unreferenced blobs: uploads in progress, and leftovers that the next start deletes`)
})

/** All checks; those that need the database are left out when it cannot be read. `known`: ends of the audit, from outside. */
export const run = Effect.fn("StorageCheck.run")(function* (
  options: StorageOptions,
  known: ReadonlyArray<ChainHead> = []
) {
  const fs = yield* FileSystem.FileSystem
  const { hasTables } = yield* Integrity
  if (!(yield* hasTables)) {
    return [
      wrong("database", "has no tables of a control room: check its folder or address, or run `signalbox migrate`")
    ]
  }
  const findings: Array<Finding> = [yield* checkDatabase]
  if (findings[0]?.ok === true) findings.push(yield* checkCounters)
  const ofKey = yield* checkMasterKey(options)
  findings.push(ofKey)
  if (ofKey.ok && findings[0]?.ok === true) findings.push(yield* checkAudit(options, known))
  const folder = BlobStores.folderOf(options)
  if (options.s3 === undefined && !(yield* fs.exists(folder))) {
    findings.push(wrong("files", `the folder ${folder} does not exist: give the data folder of the control room`))
  } else {
    const ofBlobs = Effect.all([checkFiles, countOrphans]).pipe(
      Effect.provide(BlobStores.layer(options), { local: true }),
      Effect.catchCause((cause) => {
        const failure = StorageFailure.ofCause(cause)
        return failure === null || !failure.kind.startsWith("bucket")
          ? Effect.failCause(cause)
          : Effect.succeed([wrong("files", `${failure.message} (${StorageFailure.reasonOf(cause)})`)])
      })
    )
    findings.push(...(yield* ofBlobs))
  }
  return findings
}, unhurried)
