/**
 * Files in a bucket beside files in a folder, in turns: how many a second are stored and read, and the CPU of this process.
 * The bucket is a server in a process of its own, or the one that `SIGNALBOX_TEST_S3` names (`http://host/bucket`, with the
 * variables of AWS for its key); the folder is below that of temporary files. Usage: `node src/blobs.ts [rounds]`.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { BlobStore } from "@signalbox/control-room/BlobStore"
import type { S3Options } from "@signalbox/control-room/Options"
import * as Server from "@signalbox/control-room/Server"
import { startS3 } from "@signalbox/testkit/S3Server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const cases = [
  { name: "10 KB", bytes: 10_000, count: 400 },
  { name: "1 MB", bytes: 1_000_000, count: 100 },
  { name: "64 MB", bytes: 64_000_000, count: 8 }
]
const concurrency = 8

/** The bucket of the environment; null: none is named. */
const external = (): S3Options | null => {
  const address = process.env["SIGNALBOX_TEST_S3"]
  if (address === undefined) return null
  const { origin, pathname } = new URL(address)
  return {
    bucket: pathname.slice(1),
    endpoint: origin,
    prefix: `bench-${crypto.randomUUID()}/`,
    region: process.env["AWS_REGION"] ?? "us-east-1",
    accessKeyId: process.env["AWS_ACCESS_KEY_ID"] ?? "",
    secretAccessKey: Redacted.make(process.env["AWS_SECRET_ACCESS_KEY"] ?? "")
  }
}

const chunk = Buffer.alloc(64 * 1024, 7)
/** One chunk at a time, as they come from a connection. */
const bytesOf = (size: number) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(size / chunk.length) }, (_, n) =>
      chunk.subarray(0, Math.min(chunk.length, size - n * chunk.length))
    )
  ).pipe(Stream.rechunk(1))

const cpu = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

const measure = async (run: () => Promise<unknown>) => {
  const [before, started] = [cpu(), performance.now()]
  await run()
  return { seconds: (performance.now() - started) / 1000, cpu: cpu() - before }
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const main = async (rounds: number) => {
  const server = external() === null ? fork(import.meta.filename, ["serve"]) : null
  const s3 =
    external() ??
    (await new Promise<S3Options>((resolve) => {
      server?.once(
        "message",
        (told: { endpoint: string; bucket: string; region: string; id: string; secret: string }) =>
          resolve({ ...told, accessKeyId: told.id, secretAccessKey: Redacted.make(told.secret) })
      )
    }))
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const open = (options: Parameters<typeof Server.layerStorage>[0]) =>
    Effect.map(Layer.build(Layer.fresh(Server.layerStorage(options))), (context) => Context.get(context, BlobStore))

  const program = Effect.gen(function* () {
    const stores = {
      folder: yield* open({ data: join(folder, "a") }),
      bucket: yield* open({ data: join(folder, "b"), s3 })
    }
    for (const { bytes, count, name } of cases) {
      const results: Record<string, Array<{ seconds: number; cpu: number }>> = {}
      for (let round = 0; round < rounds; round++) {
        for (const [where, store] of Object.entries(stores)) {
          const names: Array<string> = []
          const write = Effect.scoped(Effect.flatMap(store.stage(bytesOf(bytes)), ({ commit }) => commit)).pipe(
            Effect.map((blob) => void names.push(blob))
          )
          const all = Array.from({ length: count }, () => write)
          const stored = yield* Effect.promise(() =>
            measure(() => Effect.runPromise(Effect.all(all, { concurrency, discard: true })))
          )
          const read = yield* Effect.promise(() =>
            measure(() =>
              Effect.runPromise(
                Effect.forEach(names, (blob) => Effect.orDie(Effect.flatMap(store.read(blob), Stream.runDrain)), {
                  concurrency,
                  discard: true
                })
              )
            )
          )
          ;(results[`store ${where}`] ??= []).push(stored)
          ;(results[`read ${where}`] ??= []).push(read)
          yield* Effect.forEach(names, store.remove, { concurrency, discard: true })
        }
      }
      for (const what of ["store", "read"]) {
        const of = (where: string, key: "seconds" | "cpu") =>
          median((results[`${what} ${where}`] ?? []).map((result) => result[key]))
        const rate = (where: string) => (count / of(where, "seconds")).toFixed(count < 20 ? 1 : 0)
        const each = (where: string) => ((of(where, "cpu") / count) * 1000).toFixed(2)
        const ratio = (of("bucket", "seconds") / of("folder", "seconds")).toFixed(1)
        process.stdout.write(
          `${name} ${what}: folder ${rate("folder")}/s (${each("folder")} ms CPU each), bucket ${rate("bucket")}/s (${each("bucket")} ms CPU each); the bucket takes ${ratio} times as long\n`
        )
      }
    }
    process.stdout.write(`most memory of this process: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB\n`)
  })
  await Effect.runPromise(program.pipe(Effect.provide(NodeServices.layer), Effect.scoped))
  rmSync(folder, { recursive: true, force: true })
  server?.kill()
}

if (process.argv[2] === "serve") {
  const { bucket, credentials, endpoint, region } = await startS3()
  process.send?.({ bucket, endpoint, region, id: credentials.accessKeyId, secret: credentials.secretAccessKey })
} else await main(Number(process.argv[2] ?? 3))
