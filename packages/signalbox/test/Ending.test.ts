/**
 * A service ends when the terminal closes, and when the package runner that started it ends, however that happens.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { bin, temporaryFolder, up } from "./support/Cli.ts"

const { folder, remove } = temporaryFolder("ending")
afterAll(remove)

const node = JSON.stringify(process.execPath)
const links = join(import.meta.dirname, "support", "links.ts")
writeFileSync(
  join(folder, "package.json"),
  JSON.stringify({
    name: "ending",
    version: "1.0.0",
    scripts: {
      up: `${node} ${bin} up --port 0 --json --workers 0 --data data`,
      outer: "npm run --silent up",
      watched: `${node} ${links}`,
      detached: `python3 -c 'import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])' ${node} ${links}`
    }
  })
)

const npm = (script: string) =>
  spawn("npm", ["run", "--silent", script], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] }
  })

const outputOf = (child: ReturnType<typeof npm>) =>
  new Promise<string>((resolve) => {
    let text = ""
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
    child.stdout.once("end", () => resolve(text))
  })

describe("a service", () => {
  it("ends with the package runner above it, also when that one is killed", async () => {
    const runner = npm("outer")
    const stderr: Array<string> = []
    runner.stderr.on("data", (chunk: Buffer) => stderr.push(chunk.toString()))
    const all = outputOf(runner)
    const ready = await new Promise<string>((resolve) =>
      runner.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()))
    )
    const { docs_url } = JSON.parse(ready)
    assert.strictEqual((await fetch(docs_url)).status, 200)
    runner.kill("SIGKILL")
    // The service has inherited it: its end is the end of the last process that could write.
    await all
    const reached = await fetch(docs_url).catch(() => "nobody")
    assert.strictEqual(reached, "nobody")
    assert.match(stderr.join(""), /the package runner that started this has ended: stopping/)
  })

  it("is not bound to a package runner that it was detached from", async () => {
    const [watched, detached] = await Promise.all([outputOf(npm("watched")), outputOf(npm("detached"))])
    assert.isAbove(JSON.parse(watched).length, 0)
    assert.deepStrictEqual(JSON.parse(detached), [])
  })

  it("ends with 0 when the terminal closes", async () => {
    const room = await up(join(folder, "terminal"), ["--workers", "0"])
    room.child.stdout?.destroy()
    room.child.stderr?.destroy()
    assert.strictEqual(await room.end("SIGHUP"), 0)
  })
})
