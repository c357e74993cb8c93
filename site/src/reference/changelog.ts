/** The changelog, which all packages share. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { page } from "../markdown.ts"
import { root } from "../pages.ts"

/** The page of the changelog. */
export const changelog = (): string =>
  page("Changelog", readFileSync(join(root, "CHANGELOG.md"), "utf8").replace(/^# .*\n/, ""), {
    description: "What changed in each version."
  })
