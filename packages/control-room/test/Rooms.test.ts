/** The rooms of the service: which may import which, and which have SQL. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"

const root = join(import.meta.dirname, "..", "src")

/** From the bottom up: each imports from those before it. `ground` and `doors` are the files outside of folders. */
const order = [
  "ground",
  "engine",
  "vault",
  "store",
  "blobs",
  "storage",
  "delivery",
  "git",
  "transfers",
  "runs",
  "edge",
  "endpoints",
  "doors"
] as const

const placed: Readonly<Record<string, (typeof order)[number]>> = {
  "../package.json": "ground",
  "Options.ts": "ground",
  "BlobStore.ts": "ground",
  "internal/BackgroundTask.ts": "ground",
  "internal/Counters.ts": "ground",
  "internal/HooksPath.ts": "ground",
  "internal/IdSeed.ts": "ground",
  "internal/LargeJson.ts": "ground",
  "internal/Limits.ts": "ground",
  "internal/PollInterval.ts": "ground",
  "internal/PublicUrl.ts": "ground",
  "internal/Refused.ts": "ground",
  "internal/Shards.ts": "ground",
  "internal/Slices.ts": "ground",
  "internal/Tokens.ts": "ground",
  "internal/Traces.ts": "ground"
}

/** The position of a file's room in the order. */
const heightOf = (file: string): number => {
  const parts = file.split("/")
  const room = placed[file] ?? (parts[0] === "internal" && parts.length > 2 ? parts[1] : "doors")
  const height = order.findIndex((known) => known === room)
  assert.isAtLeast(height, 0, `${file}: the room ${room} is not in the order`)
  return height
}

const files = globSync("**/*.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/"))
const textOf = (file: string) => readFileSync(join(root, file), "utf8")

describe("the rooms of the service", () => {
  it("import from those below them alone", () => {
    const upward = files.flatMap((file) =>
      [...textOf(file).matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)]
        .map(([, path]) => relative(root, normalize(join(root, dirname(file), path ?? ""))).replaceAll("\\", "/"))
        .filter((target) => heightOf(target) > heightOf(file))
        .map((target) => `${file} -> ${target}`)
    )
    assert.isAbove(files.length, 50)
    assert.deepStrictEqual(upward, [])
  })

  it("speak SQL in the stores alone", () => {
    const speaking = files.filter((file) => /\bsql(<[^`]*>)?`|\bsql\.unsafe\b/.test(textOf(file)))
    assert.isAbove(speaking.length, 10)
    assert.deepStrictEqual(
      speaking.filter((file) => !file.startsWith("internal/store/")),
      []
    )
  })
})
