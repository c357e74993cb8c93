/** Compiles the examples in documentation, as a user of the packages would. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/**
 * The code blocks of a file, without the asterisks of a comment. Those with a title may import each other: they are compiled by the
 * test of consumers, which saves them under it.
 */
const examplesOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^( \* |)```ts\n(.*?)^\1```/gms)].map(([, prefix = "", block = ""]) =>
    block
      .split("\n")
      .map((line) => line.slice(line.startsWith(prefix) ? prefix.length : prefix.trimEnd().length))
      .join("\n")
  )

/** The examples of `@example` tags, each a few lines of a program that has what they use. */
export const taggedOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^ +\* @example ?(.*\n(?: +\* (?!@).*\n)*)/gm)].map(([, example = ""]) =>
    example.replace(/^ +\* /gm, "")
  )

const settings = {
  extends: join(root, "tsconfig.base.json"),
  compilerOptions: { noEmit: true, composite: false, declarationMap: false, sourceMap: false, noUnusedLocals: false }
}

export interface Documentation {
  /** The files whose examples are compiled. */
  readonly files: ReadonlyArray<string>
  /** A folder that contains them: they can import what the package of that folder can. */
  readonly within: string
  /** What the programs have of which `@example` tags have lines; such tags are compiled when it is given. */
  readonly preamble?: string | undefined
}

/** Writes the examples of some files into a new folder. */
const write = Effect.fnUntraced(function* ({ files, preamble, within }: Documentation) {
  const fs = yield* FileSystem.FileSystem
  const texts = yield* Effect.forEach(files, (file) => fs.readFileString(file))
  const examples =
    preamble === undefined
      ? texts.flatMap(examplesOf)
      : // Each in a block of its own: they have the same names.
        texts.flatMap(taggedOf).map((lines) => `${preamble}\n{\n${lines}}\n`)
  // The leading dot hides it from other tools.
  const folder = yield* fs.makeTempDirectoryScoped({ directory: within, prefix: ".examples-" })
  yield* Effect.forEach(examples, (example, n) => fs.writeFileString(join(folder, `example${n}.ts`), example))
  return { folder, examples: examples.length }
})

/**
 * Compiles every example of several packages as one program, since most of the cost is the sources that they import.
 * Returns how many examples each has, and the errors of the compiler; none when all compile.
 */
export const compileAll = Effect.fnUntraced(function* (packages: ReadonlyArray<Documentation>) {
  const fs = yield* FileSystem.FileSystem
  const written = yield* Effect.forEach(packages, write)
  const project = yield* fs.makeTempDirectoryScoped({ directory: root, prefix: ".examples-" })
  const include = written.map(({ folder }) => join(folder, "*.ts"))
  yield* fs.writeFileString(join(project, "tsconfig.json"), JSON.stringify({ ...settings, include }))
  // Each thread would repeat much of the work for what all examples import.
  const args = ["-p", project, "--singleThreaded"]
  const child = yield* ChildProcess.make(join(root, "node_modules", ".bin", "tsc"), args)
  const output = yield* Stream.mkString(Stream.decodeText(child.all))
  return { examples: written.map(({ examples }) => examples), output, exitCode: Number(yield* child.exitCode) }
}, Effect.scoped)

/** Compiles every example of one package that imports little; see `compileAll`. */
export const compile = (documentation: Documentation) =>
  Effect.map(compileAll([documentation]), ({ examples: [examples = 0], ...result }) => ({ ...result, examples }))
