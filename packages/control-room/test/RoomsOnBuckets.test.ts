/** A room whose files are in a bucket: transfers, a bucket that fails, backups, kills, and nodes without a common folder. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { ControlRoom } from "@signalbox/api/ControlRoom"
import * as Assets from "@signalbox/api/Assets"
import * as Processes from "@signalbox/api/Processes"
import * as TaskPackages from "@signalbox/api/TaskPackages"
import * as WorkItems from "@signalbox/api/WorkItems"
import { robotYaml, zipOf } from "@signalbox/testkit/PackageZips"
import type { S3Server } from "@signalbox/testkit/S3Server"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { createHash, randomBytes } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import * as Administration from "../src/Administration.ts"
import { S3Policy } from "../src/internal/blobs/S3Client.ts"
import type { StorageOptions } from "../src/Options.ts"
import { optionsOf, s3Server } from "./support/Bucket.ts"
import * as Child from "./support/Child.ts"
import { assertError, send } from "./support/Http.ts"
import { blobsIn, layerIn, onPostgres, Service, storageIn, temporaryFolder } from "./support/Service.ts"

/** Gives up soon, so that a bucket that is away costs a test no time. */
const hasty = Layer.succeed(S3Policy, {
  attempts: 2,
  baseMillis: 1,
  capMillis: 5,
  maxRetryAfterMillis: 10,
  attemptTimeoutMillis: 5000,
  totalTimeoutMillis: 5000,
  idleTimeoutMillis: 1000
})

/** The service of this storage, with its files in the bucket. */
const room = (server: S3Server, storage: StorageOptions) =>
  Layer.fresh(layerIn(storage.data, { rateLimit: null }, { ...storage, s3: optionsOf(server) })).pipe(
    Layer.provide(hasty)
  )

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
const large = randomBytes(11_000_000)

const newItem = Effect.gen(function* () {
  const { id } = yield* Processes.create({ name: crypto.randomUUID(), steps: [{ name: "s", task: { name: "t" } }] })
  return yield* WorkItems.create({ process: id })
})

/** Attaches a file and returns the address of its download. */
const attach = Effect.fnUntraced(function* (name: string, bytes: Uint8Array) {
  const item = yield* newItem
  yield* WorkItems.attachFile(item.id, { name, bytes })
  const [file] = (yield* WorkItems.get(item.id)).files
  return file?.download.url ?? assert.fail("no file")
})

const download = (origin: string, url: string, method = "GET", headers = {}) =>
  send(origin, method, url.slice(new URL(url).origin.length), { headers })

const bytesAt = (url: string) => Effect.promise(async () => Buffer.from(await (await fetch(url)).arrayBuffer()))

describe("a room on a bucket", () => {
  it.live.skipIf(onPostgres && !soak)("serves files, assets and packages from it, and has none in its folder", () =>
    Effect.gen(function* () {
      const server = yield* s3Server
      const folder = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const { origin, raw } = yield* Service
        const url = yield* attach("a.bin", large)
        assert.strictEqual(digest(yield* bytesAt(url)), digest(large))
        const part = yield* download(origin, url, "GET", { range: "bytes=5-14" })
        assert.strictEqual(part.status, 206)
        assert.strictEqual(part.headers["content-range"], `bytes 5-14/${large.length}`)
        assert.strictEqual(part.headers["content-length"], "10")
        const before = server.requests.length
        const head = yield* download(origin, url, "HEAD")
        assert.strictEqual(head.headers["content-length"], String(large.length))
        assert.strictEqual(head.headers["content-type"], "application/octet-stream")
        assert.deepStrictEqual(
          server.requests.slice(before).map(({ method }) => method),
          ["HEAD"]
        )
        yield* Assets.put("text", { name: "text", bytes: Buffer.from("small") })
        const asset = Buffer.concat(yield* Stream.runCollect(Assets.download("name:text")))
        assert.strictEqual(asset.toString(), "small")
        const { id } = yield* TaskPackages.create("p")
        const zip = yield* zipOf({ "robot.yaml": robotYaml("Run") })
        yield* TaskPackages.upload(id, { name: "p.zip", bytes: zip })
        assert.strictEqual(digest(Buffer.concat(yield* Stream.runCollect(TaskPackages.download(id)))), digest(zip))
        assert.strictEqual((yield* raw("GET", "/readyz")).status, 200)
        const objects = () => [...server.objects.keys()].filter((key) => key !== "probe")
        assert.lengthOf(objects(), 3)
        yield* TaskPackages.remove(id)
        yield* Assets.remove("name:text")
        assert.lengthOf(objects(), 1)
        const lost = objects()[0] ?? ""
        server.objects.delete(lost)
        assertError(yield* download(origin, url), 404, "NOT_FOUND", /the bytes of this file are missing/)
        assertError(yield* download(origin, url, "GET", { range: "bytes=0-1" }), 404, "NOT_FOUND", /missing/)
        assert.strictEqual((yield* download(origin, url, "HEAD")).status, 404)
      }).pipe(Effect.provide(room(server, storageIn(folder))))
      assert.deepStrictEqual((yield* blobsIn(folder)).kept, [])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(onPostgres && !soak)(
    "responds with 503 while it is away and 507 while it is full, stores nothing then, and resumes by itself",
    () => {
      const logged: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
      return Effect.gen(function* () {
        const server = yield* s3Server
        const cases = [
          [{ status: 503, code: "ServiceUnavailable" }, 503, /the bucket of the files is unavailable/],
          ["cut", 503, /the bucket of the files is unavailable/],
          [{ status: 403, code: "QuotaExceeded" }, 507, /the bucket of the files is full: raise its quota/],
          [
            { status: 403, code: "AccessDenied" },
            503,
            /the bucket of the files refuses requests: run `signalbox doctor`/
          ]
        ] as const
        yield* Effect.gen(function* () {
          const { origin, raw, rows } = yield* Service
          const url = yield* attach("kept.bin", large)
          const asset = yield* Assets.create("a")
          const stored = yield* rows
          for (const [fault, status, says] of cases) {
            server.fault = () => fault
            const put = raw("POST", `assets/${asset.id}/uploads`, {
              json: { content_type: "text/plain", data: "c2VlZA==" }
            })
            assertError(yield* put, status, "UNAVAILABLE", says)
            // No bytes had been sent before it was known.
            assertError(yield* download(origin, url), status, "UNAVAILABLE", says)
          }
          assertError(yield* raw("GET", "/readyz"), 503, "UNAVAILABLE", /the bucket of the files refuses requests/)
          assert.deepStrictEqual((yield* rows)["file"], stored["file"])
          server.fault = () => null
          yield* Effect.repeat(Effect.delay(raw("GET", "/readyz"), "50 millis"), {
            until: ({ status }) => status === 200
          })
          yield* Assets.put("a", { name: "a", bytes: Buffer.from("later") })
          assert.strictEqual(digest(yield* bytesAt(url)), digest(large))
        }).pipe(Effect.provide(room(server, storageIn(yield* temporaryFolder))))
        const secret = server.credentials.secretAccessKey
        assert.isFalse(
          logged.some((line) => line.includes(secret) || line.startsWith("Error")),
          logged.join("\n")
        )
      }).pipe(Effect.provide(Logger.layer([logger])), Effect.scoped)
    }
  )

  it.live.skipIf(onPostgres)("is checked, backed up, and restored into a prefix of its own", () =>
    Effect.gen(function* () {
      const server = yield* s3Server
      const folder = yield* temporaryFolder
      const options = { data: folder, s3: optionsOf(server) }
      // The small one is restored before the large one, which fails below.
      yield* Effect.provide(
        Effect.all([attach("a.bin", randomBytes(10)), attach("b.bin", large)]),
        room(server, { data: folder })
      )
      const place = yield* temporaryFolder
      const file = join(place, "room.backup")
      yield* Effect.gen(function* () {
        const filesOf = (found: ReadonlyArray<Administration.Finding>) => found.find(({ check }) => check === "files")
        assert.isTrue(filesOf(yield* Administration.check(options))?.ok)
        assert.strictEqual((yield* Administration.backup({ ...options, file })).files, 2)

        const refused = yield* Effect.flip(Administration.restore({ ...options, data: join(place, "r"), file }))
        assert.match(refused.message, /the bucket has files of a room below this prefix already/)
        assert.isFalse(existsSync(join(place, "r")))
        const elsewhere = { data: join(place, "r"), s3: { ...optionsOf(server), prefix: "restored/" } }

        server.fault = ({ key, method }) =>
          method === "POST" && key.startsWith("restored/") ? { status: 403, code: "AccessDenied" } : null
        const failed = yield* Effect.exit(Administration.restore({ ...elsewhere, file }))
        assert.strictEqual(failed._tag, "Failure")
        assert.isFalse([...server.objects.keys()].some((key) => key.startsWith("restored/")))
        server.fault = () => null

        const restored = yield* Administration.restore({ ...elsewhere, file })
        assert.strictEqual(restored.files, 2)
        assert.isTrue(filesOf(yield* Administration.check({ ...elsewhere }))?.ok)
        assert.deepStrictEqual(readdirSync(join(place, "r", "files")), [])

        const [key = ""] = [...server.objects].find(([, { bytes }]) => bytes.length === 10) ?? []
        server.objects.delete(key)
        const finding = filesOf(yield* Administration.check(options))
        assert.match(finding?.message ?? "", /1 of 2 are missing or damaged/)
        server.fault = () => ({ status: 403, code: "AccessDenied" })
        const away = filesOf(yield* Administration.check(options))
        assert.match(away?.message ?? "", /the bucket of the files refuses requests.*HEAD of .*: 403/)
      }).pipe(Effect.provide(Layer.merge(NodeServices.layer, hasty)))
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!onPostgres)("shares a file between nodes that have no folder in common", () =>
    Effect.gen(function* () {
      const server = yield* s3Server
      const storage = storageIn(yield* temporaryFolder)
      const node = (data: string) => Layer.build(room(server, { ...storage, data }))
      const one = yield* node(storage.data)
      const other = yield* node(join(yield* temporaryFolder, "other"))
      const url = yield* Effect.provide(attach("a.bin", large), one)
      const { origin } = Context.get(other, Service)
      const there = `${origin}${url.slice(new URL(url).origin.length)}`
      assert.strictEqual(digest(yield* bytesAt(there)), digest(large))
    }).pipe(Effect.scoped)
  )

  const kills = sized(1, 20)
  it.live.skipIf(onPostgres)(`loses nothing and keeps no half of an upload in ${kills} kills during uploads`, () =>
    Effect.gen(function* () {
      const server = yield* s3Server
      const folder = yield* temporaryFolder
      const environment = {
        SIGNALBOX_TEST_S3: `${server.endpoint}/${server.bucket}`,
        AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
        AWS_REGION: server.region
      }
      const start = Child.start(folder, undefined, environment)
      let node = yield* start
      const confirmed = new Map<string, string>()
      let sent = 0
      for (let n = 1; n <= kills; n++) {
        const upload: Effect.Effect<void, unknown, ControlRoom> = Effect.gen(function* () {
          sent += 1
          const bytes = randomBytes(sent % 2 === 0 ? 6_000_000 : 1000)
          const name = `asset ${sent}`
          yield* Assets.put(name, { name, bytes })
          confirmed.set(name, digest(bytes))
        })
        const before = confirmed.size
        const writing = yield* Effect.forkChild(
          Effect.provide(Effect.all([Effect.forever(upload), Effect.forever(upload)], { concurrency: 2 }), node.client)
        )
        yield* Effect.repeat(Effect.sleep("1 millis"), {
          until: () => confirmed.size > before && server.uploads.size > 0
        })
        yield* node.kill
        yield* Fiber.interrupt(writing)
        node = yield* start
      }
      for (const [name, expected] of confirmed) {
        const bytes = Buffer.concat(
          yield* Stream.runCollect(Assets.download(`name:${name}`)).pipe(Effect.provide(node.client))
        )
        assert.strictEqual(digest(bytes), expected, name)
      }
      // What the killed ones left is swept by a start a day later.
      yield* node.kill
      server.age(25 * 3_600_000)
      node = yield* start
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => server.uploads.size === 0 })
      const checked = yield* Administration.check({ data: folder, s3: optionsOf(server) }).pipe(
        Effect.provide(NodeServices.layer)
      )
      assert.isTrue(checked.find(({ check }) => check === "files")?.ok)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.scoped)
  )
})
