/**
 * Task packages on the worker: downloaded, unpacked as untrusted, cached, and run as processes that are ended reliably.
 */
import { assert, describe, layer as withLayer, it } from "@effect/vitest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { StepRunId } from "@signalbox/api/contract/Ids"
import { InvalidRequest } from "@signalbox/api/ControlRoomError"
import { hostileZips } from "@signalbox/testkit/HostileZips"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, utimesSync } from "node:fs"
import { join } from "node:path"
import * as Cache from "../src/internal/packages/Cache.ts"
import * as Variables from "../src/internal/environments/Variables.ts"
import * as Lines from "../src/internal/process/Lines.ts"
import * as PackageWorker from "./support/PackageWorker.ts"
import { isAlive, until } from "./support/PackageWorker.ts"
import * as Zips from "./support/Zips.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
const layer = Layer.mergeAll(NodeServices.layer, NodeHttpClient.layerUndici, Logger.layer([]))
const gb = 1024 ** 3

describe("the environment of a task", () => {
  it("has no more of the worker's than a program needs", () => {
    const own = { PATH: "/bin", HOME: "/h", LC_ALL: "C", https_proxy: "p", SIGNALBOX_LINK_TOKEN: "t", AWS_SECRET: "s" }
    assert.deepStrictEqual(Variables.inheritedFrom(own), { PATH: "/bin", HOME: "/h", LC_ALL: "C", https_proxy: "p" })
  })
})

describe("lines of a program", () => {
  it("are told apart wherever the bytes were cut, and are not kept for ever", () => {
    const lines = Lines.make()
    const bytes = new TextEncoder().encode("one\r\ntwo €\n\nrest")
    const found = [...bytes].flatMap((byte) => lines.push(Uint8Array.of(byte)))
    assert.deepStrictEqual([...found, ...lines.end()], ["one", "two €", "", "rest"])
    const long = Lines.make()
    assert.strictEqual(long.push(new Uint8Array(70_000).fill(120))[0]?.length, 70_000)
    assert.deepStrictEqual(long.end(), [])
  })
})

withLayer(layer, { excludeTestServices: true })("the packages that a worker caches", (it) => {
  const robot = (content: string) => [
    { name: "robot.yaml", content: "tasks: {}" },
    { name: "big", content }
  ]
  const noise = randomBytes(100_000).toString("hex")

  it.effect("are fetched once, going on where a download broke off, and copied for each step run", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const { bytes, digest } = Zips.write(join(folder, "z"), robot(noise))
      const server = yield* Zips.serve(bytes, (request) => (request < 3 ? 20_000 : undefined))
      const cache = yield* Cache.make({ folder: join(folder, "cache"), limit: gb })
      let fetches = 0
      const onFetch = Effect.sync(() => void fetches++)
      const targets = ["one", "two"].map((name) => join(folder, name))
      yield* Effect.forEach(targets, (target) => cache.checkOut({ digest, url: server.url }, target, onFetch), {
        concurrency: 2
      })
      assert.strictEqual(fetches, 1)
      assert.isAbove(server.requests.length, 2)
      assert.match(server.requests[1]?.headers.range ?? "", /^bytes=[1-9]\d*-$/)
      yield* (yield* FileSystem.FileSystem).writeFileString(join(folder, "one", "big"), "changed by a task")
      assert.strictEqual(readFileSync(join(folder, "two", "big"), "utf8"), noise)
    })
  )

  it.effect("say once where they cannot be downloaded from, without the signature", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const { bytes, digest } = Zips.write(join(folder, "z"), robot(noise))
      const server = yield* Zips.serve(bytes, (request) => (request < 3 ? 20_000 : undefined))
      const cache = yield* Cache.make({ folder: join(folder, "cache"), limit: gb })
      const logged: Array<string> = []
      const logger = Logger.make((entry) => void logged.push(Logger.formatLogFmt.log(entry)))
      yield* Effect.provide(
        cache.checkOut({ digest, url: server.url }, join(folder, "one"), Effect.void),
        Logger.layer([logger])
      )
      assert.lengthOf(logged, 1)
      assert.include(logged[0], `origin=${new URL(server.url).origin}`)
      assert.notInclude(logged[0], "signature")
    })
  )

  it.effect("are never another package than the one that was meant", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const { bytes } = Zips.write(join(folder, "z"), robot("x"))
      const server = yield* Zips.serve(bytes)
      const cache = yield* Cache.make({ folder: join(folder, "cache"), limit: gb })
      const ref = { digest: `sha256:${"0".repeat(64)}`, url: server.url }
      const error = yield* Effect.flip(cache.checkOut(ref, join(folder, "to"), Effect.void))
      assert.match(error.message, /does not match the lease/)
      assert.notInclude(error.message, "signature")
      assert.deepStrictEqual(readdirSync(join(folder, "cache")), [])
    })
  )

  it.effect("are refused when no worker should unpack them, and leave nothing behind", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const cache = yield* Cache.make({ folder: join(folder, "cache"), limit: gb })
      yield* Effect.forEach(
        hostileZips,
        Effect.fnUntraced(function* ({ remedy, says, what, zip }) {
          const server = yield* Zips.serve(zip)
          const ref = { digest: Zips.digestOf(zip), url: server.url }
          const error = yield* Effect.flip(cache.checkOut(ref, join(folder, "to"), Effect.void))
          assert.strictEqual(error.code, "UNZIP_FAILURE", what)
          assert.match(error.message, /^the task package cannot be unpacked: /, what)
          assert.match(error.message, says, what)
          assert.match(error.message, remedy, what)
          assert.deepStrictEqual(readdirSync(join(folder, "cache")), [], what)
          assert.deepStrictEqual(readdirSync(folder), ["cache"], what)
        }, Effect.scoped)
      )
    })
  )

  it.effect("are evicted, least recently used first, but none that may be in use", () =>
    Effect.gen(function* () {
      const folder = yield* temporary
      const cache = yield* Cache.make({ folder: join(folder, "cache"), limit: 25_000 })
      const names: Array<string> = []
      const take = Effect.fnUntraced(function* (content: string) {
        const { bytes, digest } = Zips.write(join(folder, "z"), robot(content.repeat(10_000)))
        const server = yield* Zips.serve(bytes)
        yield* cache.checkOut({ digest, url: server.url }, join(folder, crypto.randomUUID()), Effect.void)
        names.push(digest.slice("sha256:".length))
      })
      const kept = () => names.map((name) => existsSync(join(folder, "cache", name)))
      for (const content of ["a", "b", "c"]) yield* take(content)
      assert.deepStrictEqual(kept(), [true, true, true])
      const age = (index: number, minutes: number) => {
        const then = new Date(Date.now() - minutes * 60_000)
        utimesSync(join(folder, "cache", names[index] ?? "", "bytes"), then, then)
      }
      age(0, 20)
      age(1, 30)
      yield* take("d")
      assert.deepStrictEqual(kept(), [false, false, true, true])
    })
  )
})

withLayer(layer, { excludeTestServices: true })("a step run of a package", (it) => {
  /** A package whose task writes its number and that of its child, and then waits. */
  const begin = (shell: string, rest = "") => {
    const main = `import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
`
    return PackageWorker.begin([
      { name: "robot.yaml", content: `tasks:\n  t:\n    shell: ${shell}\n${rest}` },
      { name: "main.py", content: main },
      { name: "say.sh", content: "#!/bin/sh\necho set up in $PWD\n", mode: 0o100755 },
      { name: "fail.sh", content: "#!/bin/sh\nexit 4\n", mode: 0o100755 }
    ])
  }
  const pidsIn = (console: ReadonlyArray<string>) =>
    console.flatMap((line) => (/^\d+ \d+$/.test(line) ? [line.split(" ").map(Number)] : []))[0]

  it.effect("ends with all its processes, unreported, when the lease is lost", () =>
    Effect.gen(function* () {
      const { runs, script } = yield* begin("python3 main.py")
      const pids = yield* until(() => pidsIn(script.console))
      assert.isTrue(pids.every(isAlive))
      script.lost = [StepRunId.make("s1")]
      yield* until(() => !pids.some(isAlive))
      yield* until(() => readdirSync(runs).length === 0)
      assert.strictEqual(script.finished.size, 0)
    })
  )

  it.effect("ends with all its processes when the worker ends", () =>
    Effect.gen(function* () {
      const { fiber, runs, script } = yield* begin("python3 main.py")
      const pids = yield* until(() => pidsIn(script.console))
      yield* Fiber.interrupt(fiber)
      assert.isFalse(pids.some(isAlive))
      assert.strictEqual(script.finished.get("s1")?.code, "TERMINATED")
      assert.deepStrictEqual(readdirSync(runs), [])
    })
  )

  it.effect("is a ROBOT_FAILURE that names the signal by which its program was ended", () =>
    Effect.gen(function* () {
      const { script } = yield* begin("sh -c 'kill -9 $$'")
      yield* until(() => script.finished.has("s1"))
      assert.strictEqual(script.finished.get("s1")?.code, "ROBOT_FAILURE")
      assert.deepStrictEqual(script.console, ["ROBOT_FAILURE: the task was ended by the signal SIGKILL"])
    })
  )

  it.effect("runs its scripts first, in its folder", () =>
    Effect.gen(function* () {
      const { runs, script } = yield* begin("python3 -c 'print(1)'", "preRunScripts: [./say.sh]\n")
      yield* until(() => script.finished.has("s1"))
      assert.deepStrictEqual([...script.finished], [["s1", null]])
      assert.match(script.console[0] ?? "", new RegExp(`^set up in .*${runs}/run-.*/package$`))
      assert.deepStrictEqual(script.console.slice(1), ["1"])
      assert.deepStrictEqual(script.events, ["DOWNLOAD", "SETUP"])
    })
  )

  it.effect("is a SETUP_FAILURE when a script fails; the task is not run", () =>
    Effect.gen(function* () {
      const { script } = yield* begin("python3 -c 'print(1)'", "preRunScripts: [./fail.sh]\n")
      yield* until(() => script.finished.has("s1"))
      assert.strictEqual(script.finished.get("s1")?.code, "SETUP_FAILURE")
      assert.notInclude(script.console, "1")
    })
  )

  it.effect("is a SETUP_FAILURE when a script cannot be read, and a START_FAILURE when another field cannot", () =>
    Effect.gen(function* () {
      const codeOf = Effect.fnUntraced(function* (more: string) {
        const { script } = yield* begin("python3 -c 'print(1)'", more)
        yield* until(() => script.finished.has("s1"))
        return script.finished.get("s1")?.code
      }, Effect.scoped)
      assert.strictEqual(yield* codeOf(`preRunScripts: ["./a 'b"]\n`), "SETUP_FAILURE")
      assert.strictEqual(yield* codeOf("artifactsDir: ../out\n"), "START_FAILURE")
    })
  )

  it.effect("leaves artifacts out whose names the service cannot take, says so, and ends well", () =>
    Effect.gen(function* () {
      const write =
        'python3 -c \'import os; [open(os.environ["ROBOT_ARTIFACTS"] + "/" + n, "w") for n in ("a" + chr(10) + "b", "c")]\''
      const { script } = yield* begin(JSON.stringify(write))
      yield* until(() => script.finished.has("s1"))
      assert.isNull(script.finished.get("s1"))
      assert.deepStrictEqual(script.artifacts, ["c"])
      assert.include(
        script.console,
        'The artifact "a\\nb" is not uploaded: it has a name with a backslash or control characters.'
      )
    })
  )

  it.effect("is an UPLOAD_FAILURE when all went well but an artifact cannot be uploaded", () =>
    Effect.gen(function* () {
      const write = 'python3 -c \'import os; open(os.environ["ROBOT_ARTIFACTS"] + "/a", "w")\''
      const { script } = yield* begin(JSON.stringify(write))
      const request = { method: "POST", path: "/artifacts", attempts: 1, requestId: null }
      script.artifactError = new InvalidRequest({ code: "INVALID_REQUEST", message: "name: not this one", request })
      yield* until(() => script.finished.has("s1"))
      assert.strictEqual(script.finished.get("s1")?.code, "UPLOAD_FAILURE")
      assert.include(script.console, "The artifact a could not be uploaded.")
    })
  )
})
