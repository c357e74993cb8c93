/**
 * Every example in the documentation of the package compiles, as a user of the package would write it.
 */
import { assert, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const packageFolder = fileURLToPath(new URL("..", import.meta.url))
const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url))

/** The blocks of a file, without the asterisks of a comment. */
const examplesOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^( \* |)```ts\n(.*?)^\1```/gms)].map(([, prefix = "", block = ""]) =>
    block
      .split("\n")
      .map((line) => line.slice(line.startsWith(prefix) ? prefix.length : prefix.trimEnd().length))
      .join("\n")
  )

const settings = {
  extends: "../../../../tsconfig.base.json",
  compilerOptions: { noEmit: true, composite: false, declarationMap: false, sourceMap: false, noUnusedLocals: false },
  include: ["./*.ts"]
}

it.live(
  "the examples compile",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const sources = (yield* fs.readDirectory(join(packageFolder, "src"), { recursive: true })).filter((name) =>
        name.endsWith(".ts")
      )
      const files = [join(packageFolder, "README.md"), ...sources.map((name) => join(packageFolder, "src", name))]
      const examples = (yield* Effect.forEach(files, (file) => fs.readFileString(file))).flatMap(examplesOf)
      assert.isAbove(examples.length, 10)
      // Inside the package, so that its own name resolves; a leading dot keeps it out of every other tool's sight.
      const folder = yield* fs.makeTempDirectoryScoped({ directory: join(packageFolder, "test"), prefix: ".examples-" })
      yield* fs.writeFileString(join(folder, "tsconfig.json"), JSON.stringify(settings))
      yield* Effect.forEach(examples, (example, n) => fs.writeFileString(join(folder, `example${n}.ts`), example))
      const child = yield* ChildProcess.make(tsc, ["-p", folder])
      const output = yield* Stream.mkString(Stream.decodeText(child.all))
      assert.strictEqual(output, "")
      assert.strictEqual(Number(yield* child.exitCode), 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  60_000
)
