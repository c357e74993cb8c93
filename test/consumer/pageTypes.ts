/** Types of the programs that a page shows, with what the page has its reader install, and no other package. */
import { existsSync, globSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Manager, Pages } from "./following.ts"
import { fences, withoutFences } from "./pages.ts"

/** What sentences of a page say to install besides, after all else that it shows: for its other programs. */
export const optional = (text: string) => {
  const lines = [...withoutFences(text).matchAll(/`(npm install (?!--global)[^`<]+)`/g)].map(([, line]) => line)
  const others = [...new Set(lines)].filter((line) => !text.includes(`\n$ ${line}\n`))
  if (others.length === 0) return ""
  const commands = ["kill $(jobs -p) 2> /dev/null; wait", ...others].flatMap((line) => [`$ ${line}`, "..."])
  return ["", "```console", ...commands, "```", ""].join("\n")
}

/** The folder that has what a page has installed. */
const projectOf = (place: string) => {
  const project = ["", ...globSync("*/", { cwd: place })]
    .map((name) => join(place, name))
    .find((folder) => existsSync(join(folder, "node_modules")))
  if (project === undefined) throw new Error("it says what to install, and nothing is installed")
  return project
}

/** A page that promises that its programs compile with the version before TypeScript 7 too. */
const promisesOlder = /TypeScript 5\.9/

/** Checks the types of the programs of a page, where it was followed. One without a title is in a file of its own. */
export const typesOf = async (
  text: string,
  place: string,
  manager: Manager,
  { consumer, olderCompiler, types }: Pages
) => {
  const project = projectOf(place)
  const programs = fences(text).flatMap(({ body, language, title }, index) => {
    if (language !== "ts") return []
    if (title !== undefined) return [relative(project, join(place, title))]
    writeFileSync(join(project, `fence-${index}.ts`), body)
    return [`fence-${index}.ts`]
  })
  if (programs.length === 0) return
  const modules = ["--module", "preserve", "--target", "es2024", "--allowImportingTsExtensions"]
  const check = ["--noEmit", "--strict", ...modules, "--types", "node", "--typeRoots", types, ...programs]
  await consumer.sh(consumer.bin("tsc"), ["--ignoreConfig", ...check], {}, project)
  // It needs ten times as long.
  if (manager === "pnpm" && promisesOlder.test(text)) await consumer.sh(olderCompiler, check, {}, project)
}
