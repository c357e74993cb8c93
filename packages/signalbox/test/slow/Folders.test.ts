/** Folders that can never be used: commands say so and end, instead of waiting for ever. */
import { assert, describe, it } from "@effect/vitest"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Cli from "../support/Cli.ts"

const worker = "worker start --url http://127.0.0.1:9 --link-token none"

describe.skipIf(!existsSync("/proc/self"))("a folder in /proc", () => {
  for (const command of ["up --port 0", "migrate", "doctor", worker]) {
    it(`is refused by ${command}, with the folder and what to do`, async () => {
      const { status, stderr, stdout } = await Cli.signalbox([...command.split(" "), "--data", "/proc/x"], {
        cwd: tmpdir()
      })
      assert.strictEqual(status, 1)
      assert.match(stdout + stderr, /\/proc does not allow folders; choose another folder/)
    })
  }

  it("is no home: commands do without a cache of compiled code there", async () => {
    const { status } = await Cli.signalbox(["--help"], { env: { HOME: "/proc" }, cwd: tmpdir() })
    assert.strictEqual(status, 0)
  })
})

/** Whether this machine lets a test mount something that never answers. */
const canMount = process.getuid?.() === 0 && existsSync("/dev/fuse")

// Only root may mount, where the kernel has FUSE.
describe.skipIf(!canMount)("a folder on a mount that does not answer", () => {
  const mount = mkdtempSync(join(tmpdir(), "signalbox-dead-"))
  let holder: ChildProcess | null = null

  beforeAll(async () => {
    // The file system is served through descriptor 3, which nobody reads.
    const script = `exec 3<>/dev/fuse; mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none ${mount} && echo mounted; read -r end`
    holder = spawn("bash", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] })
    await new Promise((resolve) => holder?.stdout?.once("data", resolve))
  })
  afterAll(() => {
    execFileSync("umount", ["-l", mount])
    holder?.kill("SIGKILL")
    rmSync(mount, { recursive: true })
  })

  for (const variable of ["HOME", "XDG_CACHE_HOME"]) {
    it(`is no place for compiled code: commands start without it when ${variable} is there`, async () => {
      const { status, stderr } = await Cli.signalbox(["--help"], { env: { [variable]: mount }, cwd: tmpdir() })
      assert.deepStrictEqual([status, stderr], [0, ""])
    })
  }

  for (const command of ["up --port 0", "migrate", "doctor", "runs list", worker]) {
    it(`is refused by ${command}, with the folder and what to do`, async () => {
      const { status, stderr, stdout } = await Cli.signalbox([...command.split(" "), "--data", join(mount, "room")], {
        cwd: tmpdir()
      })
      assert.strictEqual(status, 1)
      assert.match(
        stdout + stderr,
        /room\): its disk or network mount does not respond; mount it again, or choose another/
      )
    })
  }
})
