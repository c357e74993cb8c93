/**
 * Whether the examples in documentation compile, as a user of the packages would write them.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The blocks of a file, without the asterisks of a comment. */
const examplesOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^( \* |)```ts\n(.*?)^\1```/gms)].map(([, prefix = "", block = ""]) =>
    block
      .split("\n")
      .map((line) => line.slice(line.startsWith(prefix) ? prefix.length : prefix.trimEnd().length))
      .join("\n")
  )

const settings = {
  extends: join(root, "tsconfig.base.json"),
  compilerOptions: { noEmit: true, composite: false, declarationMap: false, sourceMap: false, noUnusedLocals: false },
  include: ["./*.ts"]
}

/**
 * Compiles every example of some files, in a folder inside `within`: what that folder's package can import, they can. Gives how
 * many there are, and what the compiler says; nothing when all is well.
 */
export const compile = Effect.fnUntraced(function* (options: {
  readonly files: ReadonlyArray<string>
  readonly within: string
}) {
  const fs = yield* FileSystem.FileSystem
  const examples = (yield* Effect.forEach(options.files, (file) => fs.readFileString(file))).flatMap(examplesOf)
  // A leading dot keeps it out of every other tool's sight.
  const folder = yield* fs.makeTempDirectoryScoped({ directory: options.within, prefix: ".examples-" })
  yield* fs.writeFileString(join(folder, "tsconfig.json"), JSON.stringify(settings))
  yield* Effect.forEach(examples, (example, n) => fs.writeFileString(join(folder, `example${n}.ts`), example))
  const child = yield* ChildProcess.make(join(root, "node_modules", ".bin", "tsc"), ["-p", folder])
  const output = yield* Stream.mkString(Stream.decodeText(child.all))
  return { examples: examples.length, output, exitCode: Number(yield* child.exitCode) }
}, Effect.scoped)
