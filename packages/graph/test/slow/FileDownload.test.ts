/**
 * A large file comes although the program is killed, and what has arrived is not asked for again.
 */
import { assert, it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Drive from "../../src/Drive.ts"
import * as Uploads from "../../src/Uploads.ts"
import { askedOfFiles, faults, GraphSandbox, inSandbox, someBytes } from "../support/Sandbox.ts"

const program = fileURLToPath(new URL("../support/FileDownload.ts", import.meta.url))
const MiB = 1024 * 1024
const size = sized(16, 256) * MiB
const kills = 3

/** Runs the program, and kills it when it says that so many bytes are there; what it said. */
const run = (args: ReadonlyArray<string>, isKilled: boolean) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] })
        let said = ""
        createInterface(child.stdout).on("line", (line) => {
          said = line
          if (isKilled) child.kill("SIGKILL")
        })
        child.once("error", reject)
        child.once("close", () => resolve(said))
      })
  )

it.live(
  `a file comes whole although the program is killed ${kills} times, and no byte twice`,
  () =>
    inSandbox(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const bytes = someBytes(size)
        yield* Uploads.upload(Drive.me, { path: "/large.bin" }, bytes)
        const to = yield* fs.makeTempDirectoryScoped()
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        yield* faults()
        /** Where each run must begin. */
        const expected = ["all"]
        for (let killed = 1; killed <= kills; killed++) {
          yield* run([origin, token, to, String((killed * size) / (kills + 1))], true)
          const [part = "", ...others] = readdirSync(to)
          assert.lengthOf(others, 0)
          const there = statSync(join(to, part)).size
          // What it was told of last may not have been written yet.
          assert.isAbove(there, (killed * size) / (kills + 1) - MiB)
          expected.push(`bytes=${there}-`)
        }
        const path = yield* run([origin, token, to, "Infinity"], false)
        assert.strictEqual(path, join(to, "large.bin"))
        assert.isTrue(readFileSync(path).equals(bytes))
        assert.deepStrictEqual(readdirSync(to), ["large.bin"])
        assert.deepStrictEqual(
          (yield* askedOfFiles).map(({ headers }) => headers["range"] ?? "all"),
          expected
        )
      })
    ),
  sized(60_000, 600_000)
)
