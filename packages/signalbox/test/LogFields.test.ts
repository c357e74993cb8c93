/** What lines of the log consist of is what docs/operate/watch.md says. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { signalbox, succeed, tasksFile, temporaryFolder, upHere } from "./support/Cli.ts"

const root = join(import.meta.dirname, "..", "..", "..")

/** The names in the first column of the table with this heading. */
const documented = (heading: string): ReadonlyArray<string> => {
  const [, table = ""] = readFileSync(join(root, "docs/operate/watch.md"), "utf8").split(`| ${heading} `)
  const rows = table.split("\n\n")[0] ?? ""
  return [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name)
}

const fields = documented("field")
const members = documented("member")

/** The text from the opening bracket at a position to the one that closes it. */
const bracketed = (text: string, from: number): string => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if ("([{".includes(text[at] ?? "")) depth++
    if (")]}".includes(text[at] ?? "") && --depth === 0) return text.slice(from + 1, at)
  }
  return text.slice(from + 1)
}

/** The names of an object literal, without those of objects in it. */
const namesOf = (literal: string): ReadonlyArray<string> => {
  let flat = literal.replaceAll(/`[^`]*`|"[^"]*"/g, "text")
  for (let before = ""; before !== flat;) {
    before = flat
    flat = flat.replaceAll(/[([{][^()[\]{}]*[)\]}]/g, "")
  }
  return flat.split(",").flatMap((member) => /^\s*(\w+)\s*(?::|$)/.exec(member)?.[1] ?? [])
}

/** The fields that the room and the workers give to lines, by their sources. */
const inSources = (): ReadonlyArray<string> => {
  const files = globSync("packages/{control-room,worker,sql,signalbox}/src/**/*.ts", { cwd: root })
  const names = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8")
    return [...text.matchAll(/annotateLogs\(/g)].flatMap(({ 0: { length }, index }) => {
      const call = bracketed(text, index + length - 1)
        .trimEnd()
        .replace(/,$/, "")
      if (!call.endsWith("}")) return []
      // The last argument.
      const start = [...call.matchAll(/\{/g)].find(
        (one) => bracketed(call, one.index).length === call.length - one.index - 2
      )
      return start === undefined ? [] : namesOf(bracketed(call, start.index))
    })
  })
  return [...new Set(names)]
}

/** The counts at the end of a step run, which stand in a variable, the fields of the migrator, and those of clients. */
const others = [
  "completed",
  "failed",
  "unexpected",
  "migration_id",
  "migration_name",
  "latest_migration_id",
  "latest_migration_name",
  // Of clients, on level DEBUG.
  "operation",
  "method",
  "path",
  "problem",
  "millis",
  "bytes",
  "pauseMillis"
]

interface Line {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

describe("lines of the log", () => {
  it("have the members and fields that are documented, in a room with work and failures", async () => {
    const { folder, remove } = temporaryFolder("fields")
    const refusing = createServer((_, response) => response.writeHead(503).end())
    await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve))
    const address = refusing.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const data = join(folder, "data")
    const settings = { SIGNALBOX_LOG_FORMAT: "json", SIGNALBOX_LOG_LEVEL: "debug" }
    const room = await upHere(data, ["--tasks", tasksFile], settings)
    const at = ["--data", data]
    await succeed(["webhooks", "create", `http://127.0.0.1:${port}/`, ...at])
    await succeed(["processes", "create", "greeting", "--task", "greet", ...at])
    for (const [payload, status] of [
      ['{"name":"Ada"}', 0],
      ['{"wrong":"payload-of-a-person"}', 2]
    ] as const) {
      const run = await signalbox(["run", "greeting", "--payload", payload, "--wait", ...at])
      assert.strictEqual(run.status, status, run.stderr)
    }
    await room.logged("webhook not delivered")
    assert.strictEqual(await room.end(), 0)
    refusing.close()

    const written = room.stderr().trim().split("\n")
    const lines: ReadonlyArray<Line> = written.map((line) => JSON.parse(line))
    const messages = new Set(lines.map(({ message }) => message))
    for (const message of ["webhook not delivered", "step run started", "step run ended", "work item failed"]) {
      assert.isTrue(messages.has(message), message)
    }
    assert.includeMembers([...members], lines.flatMap(Object.keys))
    const logged = [...new Set(lines.flatMap(({ annotations }) => Object.keys(annotations)))]
    assert.isAbove(logged.length, 12)
    assert.includeMembers([...fields], logged)
    assert.notInclude(room.stderr(), "payload-of-a-person")
    assert.notInclude(room.stderr(), room.ready.api_key.slice(-43))
    remove()
  })

  it("are one for a step run, with its end, its items and how long it took", async () => {
    const { folder, remove } = temporaryFolder("one-line")
    const data = join(folder, "data")
    const room = await upHere(data, ["--tasks", tasksFile], { SIGNALBOX_LOG_FORMAT: "json" })
    await succeed(["processes", "create", "greeting", "--task", "greet", "--data", data])
    await succeed(["run", "greeting", "--payload", '{"name":"Ada"}', "--wait", "--data", data])
    await room.logged("step run ended")
    assert.strictEqual(await room.end(), 0)
    const written = room.stderr().trim().split("\n")
    const lines: ReadonlyArray<Line> = written.map((line) => JSON.parse(line))
    const ofStepRun = lines.filter(({ annotations }) => "step_run_id" in annotations)
    assert.strictEqual(ofStepRun.length, 1, room.stderr())
    const [line] = ofStepRun
    assert.deepInclude(line, { level: "INFO", message: "step run ended" })
    const facts = { task: "greet", error_code: null, completed: 1, failed: 0, unexpected: 0 }
    assert.deepInclude(line?.annotations, facts)
    assert.isNumber(line?.annotations["milliseconds"])
    remove()
  })

  it("have no field that is not documented, and none is documented that the sources do not have", () => {
    assert.deepStrictEqual(fields.toSorted(), [...inSources(), ...others].toSorted())
    assert.deepStrictEqual(members.toSorted(), [
      "annotations",
      "cause",
      "fiberId",
      "level",
      "message",
      "spans",
      "timestamp"
    ])
  })
})
