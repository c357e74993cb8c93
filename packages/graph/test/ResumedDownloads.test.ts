/**
 * Downloads that broke off and continue later, as another process does, against the sandbox.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { join } from "node:path"
import * as Downloads from "../src/Downloads.ts"
import * as Drive from "../src/Drive.ts"
import * as Drives from "../src/Drives.ts"
import * as Files from "../src/Files.ts"
import * as QuickXorHash from "../src/QuickXorHash.ts"
import * as Sites from "../src/Sites.ts"
import * as Uploads from "../src/Uploads.ts"
import { askedOfFiles, faults, inSandbox, someBytes } from "./support/Sandbox.ts"

const MiB = 1024 * 1024
const large = someBytes(5 * MiB)
const target = { path: "/Big/large.bin" }

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const namesIn = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(path))
const read = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFile(path))

/** Downloads until so much is there, and stops. */
const breakOff = Effect.fnUntraced(function* (to: string, after = 2 * MiB, drive: Drive.DriveAddress = Drive.me) {
  const exit = yield* Effect.exit(
    Files.download(drive, target, {
      to,
      resume: true,
      onProgress: (bytes) => (bytes >= after ? Effect.interrupt : Effect.void)
    })
  )
  assert.isTrue(Exit.hasInterrupts(exit))
  const [part = "", ...others] = yield* namesIn(to)
  assert.match(part, /^\.[\da-f]{20}\.[\da-f]{20}\.part$/)
  assert.lengthOf(others, 0)
  return join(to, part)
})

const ranges = Effect.map(askedOfFiles, (all) => all.map(({ headers }) => headers["range"] ?? "all"))

describe("a local file", () => {
  it.live("that broke off continues after what is there, with nothing left beside it", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        const to = yield* folder
        const there = (yield* read(yield* breakOff(to))).length
        assert.isAtLeast(there, MiB)
        yield* faults()
        const progress: Array<number> = []
        const { path } = yield* Files.download(Drive.me, target, {
          to,
          resume: true,
          onProgress: (bytes) => Effect.sync(() => void progress.push(bytes))
        })
        assert.deepStrictEqual(yield* ranges, [`bytes=${there}-`])
        assert.isTrue(Buffer.from(yield* read(path)).equals(large))
        assert.deepStrictEqual(yield* namesIn(to), ["large.bin"])
        assert.isAbove(progress[0] ?? 0, there)
        assert.strictEqual(progress.at(-1), large.length)
      })
    )
  )

  it.live("that changed since begins anew, and nothing of the older one stays", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        const to = yield* folder
        yield* breakOff(to)
        const other = someBytes(6 * MiB).toReversed()
        yield* Uploads.upload(Drive.me, target, other)
        yield* faults()
        const { path } = yield* Files.download(Drive.me, target, { to, resume: true })
        assert.deepStrictEqual(yield* ranges, ["all"])
        assert.isTrue(Buffer.from(yield* read(path)).equals(other))
        assert.deepStrictEqual(yield* namesIn(to), ["large.bin"])
      })
    )
  )

  it.live("whose bytes here are damaged begins anew, in a library of a site too", () =>
    inSandbox(
      Effect.gen(function* () {
        const { id } = yield* Sites.get(["contoso.sharepoint.test", "/sites/team"])
        for (const drive of [Drive.me, Drive.of({ site: id })]) {
          yield* Uploads.upload(drive, target, large)
          const to = yield* folder
          const part = yield* breakOff(to, 2 * MiB, drive)
          const bytes = yield* read(part)
          bytes[1000] = (bytes[1000] ?? 0) ^ 1
          yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFile(part, bytes))
          yield* faults()
          const { difference, path } = yield* Files.download(drive, target, { to, resume: true })
          assert.deepStrictEqual(yield* ranges, [`bytes=${bytes.length}-`, "all"])
          assert.isTrue(Buffer.from(yield* read(path)).equals(large))
          assert.isNull(difference)
        }
      })
    )
  )

  it.live("that was whole, and only not in its place, is not asked for again", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        const to = yield* folder
        yield* Effect.flatMap(FileSystem.FileSystem, (fs) =>
          Effect.flatMap(breakOff(to), (part) => fs.writeFile(part, large))
        )
        yield* faults()
        const { path } = yield* Files.download(Drive.me, target, { to, resume: true })
        assert.lengthOf(yield* askedOfFiles, 0)
        assert.isTrue(Buffer.from(yield* read(path)).equals(large))
      })
    )
  )

  it.live("that is longer here than on the service begins anew", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        const to = yield* folder
        const longer = new Uint8Array(large.length + 1)
        yield* Effect.flatMap(FileSystem.FileSystem, (fs) =>
          Effect.flatMap(breakOff(to), (part) => fs.writeFile(part, longer))
        )
        const { path } = yield* Files.download(Drive.me, target, { to, resume: true })
        assert.isTrue(Buffer.from(yield* read(path)).equals(large))
      })
    )
  )
})

it.live("a folder continues with the file that broke off, and what is whole does not come again", () =>
  inSandbox(
    Effect.gen(function* () {
      yield* Uploads.upload(Drive.me, target, large)
      yield* Uploads.upload(Drive.me, { path: "/Big/small.txt" }, new Uint8Array(10))
      const to = yield* folder
      const there = (yield* read(yield* breakOff(to))).length
      yield* faults()
      const big = { path: "/Big" }
      const { files, present } = yield* Files.downloadFolder(Drive.me, big, { to, resume: true })
      assert.deepStrictEqual([files, present], [2, 0])
      assert.sameMembers([...(yield* ranges)], [`bytes=${there}-`, "all"])
      assert.isTrue(Buffer.from(yield* read(join(to, "large.bin"))).equals(large))
      const again = yield* Files.downloadFolder(Drive.me, big, { to, resume: true })
      assert.deepStrictEqual([again.files, again.present], [0, 2])
    })
  )
)

describe("a stream", () => {
  const arrived = Effect.fnUntraced(function* (bytes: number) {
    const { eTag } = yield* Drives.item(Drive.me, target)
    const hash = QuickXorHash.make()
    hash.add(large.subarray(0, bytes))
    return { eTag: eTag ?? "", hash }
  })

  it.live("emits what follows the bytes that came before, as often as it is run", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        const from = yield* arrived(3 * MiB)
        const rest = Downloads.stream(Drive.me, target, { from })
        for (const _ of [1, 2]) {
          const bytes = yield* Stream.mkUint8Array(rest)
          assert.isTrue(Buffer.from(bytes).equals(large.subarray(3 * MiB)))
        }
        assert.strictEqual(from.hash.size, 3 * MiB)
      })
    )
  )

  it.live("continues also where the connection breaks, and the address has expired", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        const from = yield* arrived(1 * MiB)
        const get = { host: "files", method: "GET" } as const
        yield* faults(
          { fault: "truncate", ...get, bytes: MiB, times: 2 },
          { fault: "status", ...get, status: 401, skip: 2, times: 1 }
        )
        const bytes = yield* Downloads.bytes(Drive.me, target, { from })
        assert.isTrue(Buffer.from(bytes).equals(large.subarray(MiB)))
      })
    )
  )

  it.live("fails as Changed when they are of another state, and as InvalidRequest of what is converted", () =>
    inSandbox(
      Effect.gen(function* () {
        yield* Uploads.upload(Drive.me, target, large)
        const from = yield* arrived(1 * MiB)
        const converted = yield* Effect.flip(Downloads.bytes(Drive.me, target, { from, format: "pdf" }))
        assert.strictEqual(converted.reason._tag, "InvalidRequest")
        yield* Uploads.upload(Drive.me, target, large.toReversed())
        const error = yield* Effect.flip(Downloads.bytes(Drive.me, target, { from }))
        assert.strictEqual(error.reason._tag, "Changed")
      })
    )
  )
})
