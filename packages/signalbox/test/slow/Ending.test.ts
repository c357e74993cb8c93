/**
 * A service ends when its terminal is closed, and when the package runner that started it ends, however that happens.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { zipOf } from "@signalbox/testkit/PackageZips"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bin, clientOf, machine, type Ready, temporaryFolder, up } from "../support/Cli.ts"
import * as Robots from "../support/Robots.ts"

const { folder, remove } = temporaryFolder("ending")
afterAll(remove)

const node = JSON.stringify(process.execPath)
const links = join(import.meta.dirname, "..", "support", "links.ts")
writeFileSync(
  join(folder, "package.json"),
  JSON.stringify({
    name: "ending",
    version: "1.0.0",
    scripts: {
      up: `${node} ${bin} up --port 0 --json --workers 1 --data data`,
      outer: "npm run --silent up",
      watched: `${node} ${links}`,
      detached: `python3 -c 'import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])' ${node} ${links}`
    }
  })
)

const npm = (script: string) => spawn("npm", ["run", "--silent", script], { cwd: folder, env: machine })

const outputOf = (child: ReturnType<typeof npm>) =>
  new Promise<string>((resolve) => {
    let text = ""
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()))
    child.stdout.once("end", () => resolve(text))
  })

const pid = join(folder, "daemon.pid")
const go = join(folder, "go")

/** Starts a robot that starts a daemon and waits for the file `go`; resolves to the process id of the daemon. */
const startRobot = Effect.gen(function* () {
  const files = {
    "robot.yaml": "tasks: { t: { shell: sh robot.sh } }\n",
    "robot.sh": `python3 daemon.py >/dev/null 2>&1 </dev/null &\nwhile [ ! -e "$GO" ]; do sleep 0.1; done\n`,
    "daemon.py": `import os, time
os.setsid()
open(os.environ["DAEMON"] + ".new", "w").write(str(os.getpid()))
os.rename(os.environ["DAEMON"] + ".new", os.environ["DAEMON"])
time.sleep(600)
`
  }
  const packageId = yield* Robots.upload("daemon", yield* zipOf(files))
  const task = { package_id: packageId, name: "t" }
  yield* Robots.start(yield* Robots.process("daemon", [{ name: "t", task, env: { DAEMON: pid, GO: go } }]))
  yield* Effect.repeat(
    Effect.sync(() => existsSync(pid)),
    { until: (there) => there, schedule: Schedule.spaced("20 millis") }
  )
  return Number(readFileSync(pid, "utf8"))
})

describe("a service", () => {
  it("ends with the package runner above it, also when that one is killed, and so do its robots", async () => {
    const runner = npm("outer")
    let stderr = ""
    const stopping = new Promise<void>((resolve) =>
      runner.stderr.on("data", (chunk: Buffer) => {
        stderr += chunk.toString()
        if (/the package runner that started this process has ended: stopping/.test(stderr)) resolve()
      })
    )
    const all = outputOf(runner)
    const ready = await new Promise<string>((resolve) =>
      runner.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()))
    )
    const facts: Ready = JSON.parse(ready)
    const daemon = await Effect.runPromise(Effect.provide(startRobot, clientOf(facts)))
    runner.kill("SIGKILL")
    await stopping
    // The robot may finish, and leaves its daemon running.
    writeFileSync(go, "")
    // The service has inherited the output: it ends with the last process that could write to it.
    await all
    assert.isFalse(Robots.isAlive(daemon))
    const reached = await fetch(facts.docs_url).catch(() => "nobody")
    assert.strictEqual(reached, "nobody")
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
