import { assert, describe, it, layer as withLayer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { hostileZips } from "@signalbox/testkit/HostileZips"
import * as RawZip from "@signalbox/testkit/RawZip"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { failureOf } from "../src/internal/zip/Refusal.ts"
import { packageLimits } from "../src/PackageLimits.ts"
import * as TaskPackage from "../src/TaskPackage.ts"

const robot: RawZip.Entry = { name: "robot.yaml", content: "tasks: { A: { shell: x }, B: { shell: y } }" }

/** A folder with a zip in it. */
const folderWith = Effect.fnUntraced(function* (zip: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFile(join(folder, "zip"), zip)
  return { zip: join(folder, "zip"), target: join(folder, "to"), left: () => readdirSync(folder) }
})

withLayer(NodeServices.layer)("a zip of a task package", (it) => {
  for (const { remedy, says, what, zip } of hostileZips) {
    it.effect(`with ${what} is refused, read or unpacked, and leaves nothing behind`, () =>
      Effect.gen(function* () {
        const at = yield* folderWith(zip)
        const inspected = yield* Effect.flip(TaskPackage.inspect(at.zip))
        const unpacked = yield* Effect.flip(TaskPackage.unpack(at.zip, at.target))
        assert.strictEqual(inspected._tag, "InvalidZip")
        assert.match(inspected.message, says)
        assert.match(inspected.message, remedy)
        assert.deepStrictEqual(unpacked, inspected)
        assert.deepStrictEqual(at.left(), ["zip"])
        assert.isFalse(existsSync(join(at.target, "..", "..", "up")))
      })
    )
  }

  const small = { ...packageLimits, unpacked: 40_000, hollow: 20_000, entries: 3, robotYaml: 100 }
  const large: ReadonlyArray<readonly [what: string, entries: ReadonlyArray<RawZip.Entry>, says: RegExp]> = [
    ["bytes", [robot, { name: "a", content: "x".repeat(50_000), deflate: true }], /more than the 40000 bytes/],
    [
      "bytes of zeros",
      [robot, { name: "a", content: Buffer.alloc(30_000), deflate: true }],
      /less than a 200th have 30000 bytes, more than the 20000 that/
    ],
    ["entries", [robot, { name: "a" }, { name: "b" }, { name: "c" }], /4 entries exceed the limit of 3/]
  ]
  for (const [what, entries, says] of large) {
    it.effect(`with more ${what} than it may have is refused`, () =>
      Effect.gen(function* () {
        const at = yield* folderWith(RawZip.make(entries))
        assert.match((yield* Effect.flip(TaskPackage.inspect(at.zip, small))).message, says)
        assert.match((yield* Effect.flip(TaskPackage.unpack(at.zip, at.target, small))).message, says)
        assert.deepStrictEqual(at.left(), ["zip"])
      })
    )
  }

  it.effect("with a package.yaml alone has the tasks that this names", () =>
    Effect.gen(function* () {
      const content = "spec-version: v2\ntasks: { Read: { shell: python main.py } }\n"
      const at = yield* folderWith(RawZip.make([{ name: "package.yaml", content }]))
      assert.deepStrictEqual((yield* TaskPackage.inspect(at.zip)).tasks, ["Read"])
      const both = yield* folderWith(RawZip.make([{ name: "package.yaml", content }, robot]))
      assert.notInclude((yield* TaskPackage.inspect(both.zip)).tasks, "Read")
    })
  )

  const withoutRobot: ReadonlyArray<readonly [what: string, entries: ReadonlyArray<RawZip.Entry>, says: RegExp]> = [
    [
      "none at its root",
      [{ name: "p/robot.yaml", content: robot.content ?? "" }],
      /robot\.yaml is missing at the root/
    ],
    ["an empty one", [{ name: "robot.yaml" }], /or it is empty/],
    ["one that is no UTF-8", [{ name: "robot.yaml", content: Buffer.of(0xff, 0xfe) }], /not valid UTF-8/],
    ["one that is too large", [{ name: "robot.yaml", content: "x".repeat(101) }], /more than 100 bytes/],
    [
      "a package.yaml that does not say what to run",
      [{ name: "package.yaml", content: "spec-version: v2\nname: a\n" }],
      /^package\.yaml has no mapping `tasks`; add a task with its command$/
    ]
  ]
  for (const [what, entries, says] of withoutRobot) {
    it.effect(`needs a robot.yaml: ${what} is refused`, () =>
      Effect.gen(function* () {
        const at = yield* folderWith(RawZip.make(entries))
        const error = yield* Effect.flip(TaskPackage.inspect(at.zip, small))
        assert.strictEqual(error._tag, "InvalidRobotYaml")
        assert.match(error.message, says)
      })
    )
  }

  it.effect("is read to its tasks and its digest", () =>
    Effect.gen(function* () {
      const zip = RawZip.make([
        { ...robot, deflate: true },
        { name: "a/b", content: "x" }
      ])
      const at = yield* folderWith(zip)
      assert.deepStrictEqual(yield* TaskPackage.inspect(at.zip), {
        tasks: ["A", "B"],
        digest: `sha256:${createHash("sha256").update(zip).digest("hex")}`
      })
    })
  )

  it.effect("is unpacked with its folders, and what may be executed stays so", () =>
    Effect.gen(function* () {
      const entries = [
        { name: "a/", mode: 0o40755 },
        { name: "a/run.sh", mode: 0o104755, content: "x", deflate: true },
        { name: "b/data", content: "yy" },
        { name: "empty" }
      ]
      const { target, zip } = yield* folderWith(RawZip.make(entries))
      assert.strictEqual(yield* TaskPackage.unpack(zip, target), 3)
      assert.strictEqual(statSync(join(target, "a/run.sh")).mode & 0o7111, 0o111)
      assert.strictEqual(statSync(join(target, "b/data")).mode & 0o111, 0)
      assert.strictEqual(readFileSync(join(target, "b/data"), "utf8"), "yy")
      assert.strictEqual(readFileSync(join(target, "empty"), "utf8"), "")
    })
  )

  it.effect("is not unpacked into a folder that exists, whose files stay", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { target, zip } = yield* folderWith(RawZip.make([robot]))
      yield* fs.makeDirectory(target)
      yield* fs.writeFileString(join(target, "mine"), "kept")
      assert.strictEqual((yield* Effect.flip(TaskPackage.unpack(zip, target)))._tag, "PlatformError")
      assert.deepStrictEqual(readdirSync(target), ["mine"])
    })
  )

  const others: ReadonlyArray<readonly [what: string, zip: () => Uint8Array]> = [
    ["folders", () => RawZip.make([{ name: "a/", mode: 0o40755 }, robot, { name: "a/b" }, { name: "c/", mode: 0 }])],
    ["the ends of ZIP64", () => RawZip.make([robot], { wide: 0 })],
    ["both ends, where they agree", () => RawZip.make([robot], { wide: 0, narrow: 1 })],
    [
      "an extra field before its data",
      () => RawZip.make([{ ...robot, localExtra: RawZip.extraField(9, Buffer.of(1)) }])
    ]
  ]
  for (const [what, zip] of others) {
    it.effect(`with ${what} is taken`, () =>
      Effect.gen(function* () {
        const at = yield* folderWith(zip())
        assert.deepStrictEqual((yield* TaskPackage.inspect(at.zip)).tasks, ["A", "B"])
        yield* TaskPackage.unpack(at.zip, at.target)
        assert.isTrue(existsSync(join(at.target, "robot.yaml")))
      })
    )
  }
})

describe("a file that cannot be read", () => {
  it.effect("is no bad zip", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(TaskPackage.inspect("/nowhere/zip"))
      assert.strictEqual(error._tag, "PlatformError")
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it("is no bad zip either when the disk fails half way, and its cause is kept", () => {
    const cause = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO", syscall: "read" })
    const error = failureOf("zip")(cause)
    assert.strictEqual(error._tag, "PlatformError")
    assert.strictEqual(error.cause, cause)
  })
})
