/** `signalbox backup`, `restore` and `resume`. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { copyFileSync, existsSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs"
import { once } from "node:events"
import { join } from "node:path"
import { signalbox, start, succeed, temporaryFolder, upHere } from "./support/Cli.ts"

const { folder, remove } = temporaryFolder("backup")
afterAll(remove)

const data = join(folder, "room")
const file = join(folder, "room.backup")
const restored = join(folder, "restored")

// One story: what is backed up is restored.
describe("a backup", { shuffle: false }, () => {
  describe("signalbox backup", () => {
    it("writes one file beside the service, says what it lacks, and refuses one that exists", async () => {
      const room = await upHere(data)
      const first = await succeed(["backup", file, "--data", data])
      assert.match(first.stdout, /It does not contain the master key.*master\.key separately/)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const again = await signalbox(["backup", file, "--data", data])
      assert.strictEqual(again.status, 1)
      assert.match(
        again.stderr,
        /^signalbox: .*room\.backup exists: choose another name, or replace it with --force\n$/
      )
      const forced = JSON.parse((await succeed(["backup", file, "--data", data, "--force", "--json"])).stdout)
      assert.deepStrictEqual([forced.files, forced.missing, forced.bytes], [0, [], statSync(file).size])
      assert.strictEqual(await room.end(), 0)
    })

    it("names a folder that has no room", async () => {
      const { status, stderr } = await signalbox(["backup", join(folder, "x"), "--data", join(folder, "none")])
      assert.strictEqual(status, 1)
      assert.match(stderr, /^signalbox: the folder .*none does not exist: give the data folder .* with --data\n$/)
    })

    it("that is killed leaves no file, and the next one is made", async () => {
      const killed = join(folder, "killed.backup")
      const child = start(["backup", killed, "--data", data], {})
      const ended = once(child, "exit")
      while (child.exitCode === null && !readdirSync(folder).some((name) => name.endsWith(".partial"))) {
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      child.kill("SIGKILL")
      const [code] = await ended
      // It may have been faster.
      assert.strictEqual(existsSync(killed), code === 0)
      await succeed(["backup", killed, "--data", data, "--force"])
      rmSync(killed)
    })
  })

  describe("signalbox restore", () => {
    it("refuses a file that is cut off, and leaves nothing", async () => {
      const cut = join(folder, "cut.backup")
      copyFileSync(file, cut)
      truncateSync(cut, 20_000)
      const { status, stderr } = await signalbox(["restore", cut, "--data", restored])
      assert.strictEqual(status, 1)
      assert.match(stderr, /^signalbox: .*cut\.backup is cut off; take another backup\n$/)
      assert.isFalse(existsSync(restored))
    })

    it("makes a room that is sound, and paused until it is resumed", async () => {
      const { stdout } = await succeed(["restore", file, "--data", restored])
      assert.match(stdout, /Copy the master key of the original room to: .*master\.key\n.*paused.*`signalbox resume`/s)
      // What was revoked after the backup is valid again.
      assert.match(
        stdout,
        /keys are valid again.*\(`signalbox keys revoke ID`\):\n {2}\S+ {2}first key, of \S+, created 20\S+Z, (never|last) used\b/m
      )
      assert.strictEqual((await signalbox(["check", "--data", restored])).status, 1)
      copyFileSync(join(data, "master.key"), join(restored, "master.key"))
      await succeed(["check", "--data", restored])
      const room = await upHere(restored)
      assert.match(room.stderr(), /the room is paused, since it was restored from a backup/)
      assert.match((await succeed(["resume", "--data", restored])).stdout, /^The room is resumed/)
      assert.match((await succeed(["resume", "--data", restored])).stdout, /^The room was not paused/)
      assert.isFalse(JSON.parse((await succeed(["resume", "--data", restored, "--json"])).stdout).paused)
      assert.strictEqual(await room.end(), 0)
      const other = await signalbox(["restore", file, "--data", restored])
      assert.match(other.stderr, /is not empty, it has/)
    })
  })
})
