/** Downloads the zip of a task package, and checks its digest. */
import { TaggedError } from "@signalbox/transport/Printed"
import { packageLimits } from "@signalbox/task-package/PackageLimits"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { createHash } from "node:crypto"
import { backoff } from "../outcome/Failures.ts"
import { machine, PackageFailure } from "../outcome/SetupFailure.ts"

/** The connection broke, or the service is unavailable: worth another attempt. */
class BrokeOff extends TaggedError<BrokeOff>()("BrokeOff", {}) {}

/** How long a download may make no progress. */
const patience = "30 seconds"

const refused = (message: string) => new PackageFailure({ code: "START_FAILURE", message })
const onDisk = machine("the task package cannot be stored")

/** One attempt, from where the last one ended. Fails with `BrokeOff` unless the file is complete. */
const attempt = Effect.fnUntraced(function* (url: string, target: string) {
  const fs = yield* FileSystem.FileSystem
  const client = yield* HttpClient.HttpClient
  const before = Number((yield* Effect.mapError(fs.stat(target), onDisk)).size)
  const plain = HttpClientRequest.get(url)
  const request = before === 0 ? plain : HttpClientRequest.setHeader(plain, "range", `bytes=${before}-`)
  const response = yield* Effect.timeoutOrElse(client.execute(request), {
    duration: patience,
    orElse: () => Effect.fail(new BrokeOff())
  })
  const { status } = response
  const resumed = status === 206
  if (status === 416) yield* Effect.mapError(fs.truncate(target, 0), onDisk)
  if (status === 416 || status === 429 || status >= 500) return yield* new BrokeOff()
  if (status !== 200 && !resumed) {
    return yield* refused(`the task package cannot be downloaded: the service responded with ${status}`)
  }
  const file = yield* Effect.mapError(fs.open(target, { flag: resumed ? "a" : "w" }), onDisk)
  let size = resumed ? before : 0
  yield* response.stream.pipe(
    Stream.mapError(() => new BrokeOff()),
    Stream.timeoutOrElse({ duration: patience, orElse: () => Stream.fail(new BrokeOff()) }),
    Stream.runForEach((chunk) => {
      size += chunk.length
      return size > packageLimits.zip
        ? Effect.fail(refused(`the task package has more than ${packageLimits.zip} bytes`))
        : Effect.mapError(file.writeAll(chunk), onDisk)
    })
  )
}, Effect.scoped)

const digestOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  yield* Stream.runForEach(fs.stream(path), (chunk) => Effect.sync(() => hash.update(chunk)))
  return `sha256:${hash.digest("hex")}`
})

/**
 * Downloads into a file, resuming where an attempt broke off, without a total time limit. Fails when the service
 * refuses, or when the digest differs.
 */
export const download = Effect.fnUntraced(function* (
  from: { readonly url: string; readonly digest: string },
  target: string
) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.writeFile(target, new Uint8Array(), { flag: "wx" }), onDisk)
  let warned = false
  yield* attempt(from.url, target).pipe(
    Effect.catchTag("HttpClientError", () => Effect.fail(new BrokeOff())),
    Effect.tapErrorTag("BrokeOff", () => {
      if (warned) return Effect.void
      warned = true
      // Without its query, which is a permission.
      const { origin } = new URL(from.url)
      return Effect.annotateLogs(Effect.logWarning("the download of a task package was interrupted; retrying"), {
        origin
      })
    }),
    Effect.retry({ while: (error) => error._tag === "BrokeOff", schedule: backoff }),
    Effect.catchTag("BrokeOff", Effect.die)
  )
  if ((yield* Effect.mapError(digestOf(target), onDisk)) !== from.digest) {
    return yield* new PackageFailure({
      code: "UNZIP_FAILURE",
      message: "the digest of the downloaded task package does not match the lease"
    })
  }
})
