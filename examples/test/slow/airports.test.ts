/**
 * The demo as a user runs it: in its own process, on the real table, compared with an independent count.
 */
import { assert, describe, it } from "@effect/vitest"
import { soak } from "@signalbox/testkit/Soak"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const folder = join(import.meta.dirname, "..", "..", "airports")
const folders: Array<string> = []

afterAll(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})

const newFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "signalbox-demo-"))
  folders.push(path)
  return path
}

const environment = (data: string) => ({ ...process.env, SIGNALBOX_DATA: data })

/** Runs the demo to its end. */
const runDemo = (data: string) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(folder, "demo.ts")], {
    env: environment(data),
    encoding: "utf8"
  })
  assert.strictEqual(status, 0, stderr)
  return { stdout, stderr }
}

/** Kills the demo with SIGKILL some milliseconds after it printed that it runs. */
const killDemo = (data: string, afterMillis: number) =>
  new Promise<void>((resolve) => {
    const child = spawn(process.execPath, [join(folder, "demo.ts")], {
      env: environment(data),
      stdio: ["ignore", "pipe", "ignore"]
    })
    child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), afterMillis))
    child.once("exit", () => resolve())
  })

/** Counts the table with awk, independently of this code. */
const countTable = () => {
  const { stdout } = spawnSync("awk", ["-f", join(folder, "count.awk"), join(folder, "airports.csv")], {
    encoding: "utf8"
  })
  const lines = stdout.trim().split("\n")
  const number = (prefix: string) =>
    Number(
      lines
        .find((line) => line.startsWith(prefix))
        ?.slice(prefix.length)
        .split(":")[0]
    )
  const states = new Map(
    lines.flatMap((line) => {
      const match = /^([A-Z]{2}) (\d+)$/.exec(line)
      return match?.[1] === undefined ? [] : [[match[1], Number(match[2])] as const]
    })
  )
  return { rows: number("rows "), states, missing: number("rows without state ") }
}

const assertResult = (stdout: string, data: string) => {
  const counted = countTable()
  assert.strictEqual(counted.rows, 3376)
  assert.strictEqual(counted.missing, 12)
  const sum = [...counted.states.values()].reduce((total, n) => total + n, 0)
  assert.include(stdout, `${sum} airports in ${counted.states.size} states and territories`)
  assert.include(stdout, `${counted.missing} rows were rejected and marked done`)
  assert.match(stdout, /The run \S+ is completed\./)
  const [most] = [...counted.states].sort((a, b) => b[1] - a[1])
  assert.match(stdout, new RegExp(`^${most?.[0]} +${most?.[1]} `, "m"))
  const files = readdirSync(join(data, "outputs"))
  assert.deepStrictEqual(files.toSorted(), [...counted.states.keys()].map((state) => `${state}.csv`).toSorted())
  for (const [state, n] of counted.states) {
    // Names with line breaks do not occur in this table, so lines are rows.
    const lines = readFileSync(join(data, "outputs", `${state}.csv`), "utf8")
      .trim()
      .split("\n")
    assert.strictEqual(lines.length - 1, n, state)
  }
}

describe("the airports demo", () => {
  const data = newFolder()

  it("prints and saves what an independent count of the table finds, also when it was killed before", async () => {
    // The short form kills it here alone.
    if (!soak) await killDemo(data, 300)
    const first = runDemo(data)
    assertResult(first.stdout, data)
    // Without a terminal progress is plain lines.
    assert.match(first.stderr, /✓ awaitCompletion .*69\/69 unresolved/)
    assert.notInclude(first.stderr, "\u001b[")
  })

  it.skipIf(!soak)("does so the second time", () => {
    assertResult(runDemo(data).stdout, data)
  })

  it.skipIf(!soak)("works again after being killed at any moment", async () => {
    for (const moment of [0, 50, 150, 300, 450, 600, 800]) await killDemo(data, moment)
    assertResult(runDemo(data).stdout, data)
  })

  it.skipIf(!soak)("works after being killed at any moment of its first time", async () => {
    const fresh = newFolder()
    for (const moment of [0, 50, 150, 300, 450, 600, 800]) await killDemo(fresh, moment)
    assertResult(runDemo(fresh).stdout, fresh)
  })

  // The lock is that of the control room, whose tests are always run.
  it.skipIf(!soak)("refuses a folder that another demo uses, and says what to do", async () => {
    const data = newFolder()
    const first = spawn(process.execPath, [join(folder, "demo.ts")], {
      env: environment(data),
      stdio: ["ignore", "pipe", "ignore"]
    })
    const ended = new Promise((resolve) => first.once("exit", resolve))
    await new Promise((resolve) => first.stdout.once("data", resolve))
    const second = spawnSync(process.execPath, [join(folder, "demo.ts")], { env: environment(data), encoding: "utf8" })
    first.kill("SIGKILL")
    await ended
    assert.notStrictEqual(second.status, 0)
    assert.match(second.stdout + second.stderr, /another process uses .*: stop it first, or choose another data folder/)
  })
})

describe("the README", () => {
  const root = join(import.meta.dirname, "..", "..", "..")
  const sourceOf = (name: string) => readFileSync(join(root, "examples", name), "utf8").trim()
  const fenced = (name: string) => `\n${sourceOf(name)}\n\`\`\`\n`
  /** The lines that a page shows after the command that runs an example. */
  const printedBy = (name: string, page: string) =>
    (page.split(`\n$ node ${name}\n`)[1]?.split("```")[0] ?? "")
      .split("\n")
      .filter((line) => line !== "" && line !== "...")
  const shown = {
    "hello.ts": "[ { greeting: 'Hello, Ada' }, { greeting: 'Hello, Grace' } ]",
    "greetings.ts": "[ 'Hello, Ada', 'Hello, Grace' ]"
  }

  it.each(Object.entries(shown))("shows examples/%s as it is, and that works", (name, result) => {
    assert.include(readFileSync(join(root, "README.md"), "utf8"), fenced(name))
    const cwd = newFolder()
    const { stdout, status } = spawnSync(process.execPath, [join(root, "examples", name)], { cwd, encoding: "utf8" })
    assert.strictEqual(status, 0)
    assert.include(stdout, result)
  })

  it("of alerts shows its example as it is, and what that prints", () => {
    const page = readFileSync(join(root, "docs", "alerts.md"), "utf8")
    assert.include(page, fenced("alerts.ts"))
    const ran = spawnSync(process.execPath, [join(root, "examples", "alerts.ts")], {
      cwd: newFolder(),
      encoding: "utf8"
    })
    assert.strictEqual(ran.status, 0, ran.stderr)
    assert.isAbove(printedBy("alerts.ts", page).length, 0)
    for (const line of printedBy("alerts.ts", page)) assert.include(ran.stdout, line)
  })

  it("of failures shows its example as it is, and what that prints", () => {
    const page = readFileSync(join(root, "docs", "failures.md"), "utf8")
    assert.include(page, fenced("failures.ts"))
    const cwd = newFolder()
    const ran = spawnSync(process.execPath, [join(root, "examples", "failures.ts")], { cwd, encoding: "utf8" })
    assert.strictEqual(ran.status, 0, ran.stderr)
    assert.isAbove(printedBy("failures.ts", page).length, 0)
    for (const line of printedBy("failures.ts", page)) assert.include(ran.stdout, line)
  })

  it("has a first program of at most 15 lines, with the one that installs and runs it", () => {
    assert.isAtMost(sourceOf("hello.ts").split("\n").length + 1, 15)
  })
})
