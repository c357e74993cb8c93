/**
 * A folder of many files goes up although the service fails and the program is killed, and no file of it is sent twice.
 */
import { assert, it } from "@effect/vitest"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Drive from "../../src/Drive.ts"
import * as Drives from "../../src/Drives.ts"
import * as Files from "../../src/Files.ts"
import type { Graph } from "../../src/Graph.ts"
import type { GraphError } from "../../src/GraphError.ts"
import type { DriveItem } from "../../src/model/Drive.ts"
import { asked, faults, GraphSandbox, inSandbox, someBytes } from "../support/Sandbox.ts"

const program = fileURLToPath(new URL("../support/FolderUpload.ts", import.meta.url))
const many = sized(300, 20_000)
const kills = 3

const pathOf = (n: number): string =>
  n % 50 === 7 ? `deep/${"a/b c/d #1%/".repeat(4)}${n % 500}/file ${n}.txt` : `folder ${n % 100}/file ${n}.txt`

const contentsOf = (n: number): Uint8Array => {
  if (n % 40 === 3) return new Uint8Array()
  // A few of several fragments.
  if (n % Math.floor(many / 4) === 20) return someBytes(5 * 1024 * 1024 + n)
  return new TextEncoder().encode(`contents of ${n}, `.repeat(1 + (n % 30)))
}

/** Runs the program, and kills it when it has sent so many files; the paths of those, or what it said at its end. */
const run = (args: ReadonlyArray<string>, killAfter: number) =>
  Effect.promise(
    () =>
      new Promise<{ readonly sent: ReadonlyArray<string>; readonly code: number | null }>((resolve, reject) => {
        const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] })
        const sent: Array<string> = []
        createInterface(child.stdout).on("line", (line) => {
          sent.push(line)
          if (sent.length === killAfter) child.kill("SIGKILL")
        })
        child.once("error", reject)
        child.once("close", (code) => resolve({ sent, code }))
      })
  )

const allFiles = (folder: DriveItem): Stream.Stream<DriveItem, GraphError, Graph> =>
  Stream.flatMap(Drives.children(Drive.me, folder), (item) =>
    item.folder === undefined ? Stream.succeed(item) : allFiles(item)
  )

it.live(
  `${many} files go up although every tenth request fails and the program is killed ${kills} times; none is sent twice`,
  () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const [folder, back] = [yield* fs.makeTempDirectoryScoped(), yield* fs.makeTempDirectoryScoped()]
        for (let n = 0; n < many; n++) {
          const path = join(folder, pathOf(n))
          mkdirSync(dirname(path), { recursive: true })
          writeFileSync(path, contentsOf(n))
        }
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        yield* faults(
          { fault: "drop", every: 30 },
          { fault: "drop", when: "after", every: 30, skip: 10 },
          { fault: "status", status: 503, every: 30, skip: 20 }
        )
        const started = performance.now()
        const sessions = join(yield* fs.makeTempDirectoryScoped(), "sessions.json")
        const args = [origin, token, folder, sessions]
        const known = new Set<string>()
        for (let killed = 0; killed < kills; killed++) {
          const { code, sent } = yield* run(args, Math.floor(many / (kills + 1)))
          assert.isNull(code, "it was killed")
          for (const path of sent) {
            assert.isFalse(known.has(path), `${path} was sent before`)
            known.add(path)
          }
        }
        const last = yield* run(args, Number.POSITIVE_INFINITY)
        assert.strictEqual(last.code, 0)
        for (const path of last.sent.slice(0, -1)) assert.isFalse(known.has(path), `${path} was sent before`)
        const told: Readonly<Record<string, number>> = JSON.parse(last.sent.at(-1) ?? "{}")
        assert.strictEqual((told["files"] ?? 0) + (told["present"] ?? 0), many)
        const seconds = (performance.now() - started) / 1000

        assert.strictEqual(readFileSync(sessions, "utf8").trim(), "{}")

        const requests = yield* asked
        const faulty = requests.filter((request) => request.faults.length > 0).length
        assert.isAtLeast(faulty, Math.floor(requests.length / 10) - 3)
        yield* faults()
        // The tag of the contents says how often they were stored.
        const stored = yield* Stream.runCollect(allFiles(yield* Drives.item(Drive.me, { path: "/Up" })))
        assert.lengthOf(stored, many)
        for (const { cTag, name } of stored) assert.match(cTag ?? "", /,1"$/, `${name} was stored more than once`)

        yield* Files.downloadFolder(Drive.me, { path: "/Up" }, { to: back, concurrency: 8 })
        const names = (path: string) => readdirSync(path, { recursive: true, encoding: "utf8" }).toSorted()
        assert.deepStrictEqual(names(back), names(folder))
        for (let n = 0; n < many; n++) {
          assert.isTrue(readFileSync(join(back, pathOf(n))).equals(contentsOf(n)), pathOf(n))
        }
        if (soak) {
          const requestsSent = requests.length
          yield* Effect.logInfo("a folder went up", { files: many, seconds, requests: requestsSent, faulty })
        }
      })
    ),
  sized(300_000, 3_600_000)
)
