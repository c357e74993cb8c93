/** Compiles every example in the documentation of the package, as a user would. */
import { assert, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { compile } from "@signalbox/testkit/Examples"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const packageFolder = fileURLToPath(new URL("..", import.meta.url))

it.live("the examples compile", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const sources = (yield* fs.readDirectory(join(packageFolder, "src"), { recursive: true })).filter((name) =>
      name.endsWith(".ts")
    )
    const files = [
      join(packageFolder, "..", "..", "docs", "errors-and-retries.md"),
      ...sources.map((name) => join(packageFolder, "src", name))
    ]
    // Inside the package, so that its own name resolves.
    const { examples, exitCode, output } = yield* compile({ files, within: join(packageFolder, "test") })
    assert.isAbove(examples, 10)
    assert.strictEqual(output, "")
    assert.strictEqual(exitCode, 0)
  }).pipe(Effect.provide(NodeServices.layer))
)
