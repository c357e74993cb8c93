/**
 * Mistakes in programs, each with what the compiler shall say of it. They stand in files that compile: before the line of a mistake is
 * `// @ts-expect-error` with the message, which may go on in comments below it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { API, type Diagnostic } from "typescript/unstable/sync"

const base = join(import.meta.dirname, "../../../tsconfig.base.json")

/** A mistake, and what the compiler says at its line: all lines of it, one after the other. */
export interface Mistake {
  /** Where it stands, such as `promise.ts:12`. */
  readonly place: string
  readonly expected: string
  /** Undefined: nothing. */
  readonly said: string | undefined
}

const said = ({ messageChain = [], text }: Diagnostic): string => [text, ...messageChain.map(said)].join("\n")

/** The mistakes of a file, whose lines are from 0. */
const expectations = (lines: ReadonlyArray<string>) =>
  lines.flatMap((line, at) => {
    const [, first] = /^\s*\/\/ @ts-expect-error (.+)$/.exec(line) ?? []
    if (first === undefined) return []
    const expected = [first]
    let next = at + 1
    for (let more; (more = /^\s*\/\/ (.+)$/.exec(lines[next] ?? "")?.[1]) !== undefined; next++) expected.push(more)
    return [{ line: next, expected: expected.join("\n") }]
  })

/** Compiles the files of a folder, and returns their mistakes, and what else the compiler says. */
export const mistakesIn = (
  folder: string
): { readonly mistakes: ReadonlyArray<Mistake>; readonly others: ReadonlyArray<string> } => {
  // Beside it, so that the files import what its package can. The leading dot hides it from other tools.
  const copy = mkdtempSync(join(folder, "..", ".mistakes-"))
  const api = new API()
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".ts"))
    const sources = names.map((name) => readFileSync(join(folder, name), "utf8"))
    for (const [index, name] of names.entries()) {
      writeFileSync(join(copy, name), sources[index]?.replaceAll("// @ts-expect-error", "// expected:") ?? "")
    }
    const compilerOptions = { noEmit: true, composite: false, declarationMap: false, sourceMap: false }
    const config = join(copy, "tsconfig.json")
    writeFileSync(config, JSON.stringify({ extends: relative(copy, base), compilerOptions, include: ["*.ts"] }))
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
    if (project === undefined) throw new Error("the compiler has opened no project")
    const mistakes: Array<Mistake> = []
    const others: Array<string> = []
    for (const [index, name] of names.entries()) {
      const source = sources[index] ?? ""
      const written = readFileSync(join(copy, name), "utf8")
      const messages = new Map<number, string>()
      for (const diagnostic of project.program.getSemanticDiagnostics(join(copy, name))) {
        const line = written.slice(0, diagnostic.pos).split("\n").length - 1
        messages.set(line, [messages.get(line), said(diagnostic)].filter((text) => text !== undefined).join("\n"))
      }
      for (const { expected, line } of expectations(source.split("\n"))) {
        mistakes.push({ place: `${name}:${line + 1}`, expected, said: messages.get(line) })
        messages.delete(line)
      }
      others.push(...[...messages].map(([line, message]) => `${name}:${line + 1}: ${message}`))
    }
    return { mistakes, others }
  } finally {
    api.close()
    rmSync(copy, { recursive: true, force: true })
  }
}
