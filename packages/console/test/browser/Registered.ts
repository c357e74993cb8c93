/** The screens that the console registers, read from its source: whoever registers one has it tested. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

const source = readFileSync(join(import.meta.dirname, "../../src/page/screens.tsx"), "utf8")

export const screens: ReadonlyArray<string> = [...source.matchAll(/\bpath: "([^"]*)"/g)].map(([, path = ""]) => path)
