/**
 * Makes the next versions of the packages, which are one, and writes what the changesets say under it into the one changelog,
 * with the packages that each is about. Exports that are new get the version in `since.json`.
 *
 *     node tooling/src/versions.ts
 */
import { execFileSync } from "node:child_process"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Manifest, root } from "./tarballs.ts"

const bumps = ["major", "minor", "patch"] as const

const read = (file: string) => readFileSync(join(root, file), "utf8")

const changes = globSync(".changeset/*.md", { cwd: root })
  .toSorted()
  .map((file) => {
    const [, head = "", text = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(read(file)) ?? []
    const packages = [...head.matchAll(/^"(?:@signalbox\/)?(.*)": (\w+)$/gm)].map(([, name = "", bump = ""]) => ({
      name,
      bump
    }))
    if (packages.length === 0 || text.trim() === "") throw new Error(`${file} names no package, or says nothing`)
    return {
      bump: bumps.find((bump) => packages.some((one) => one.bump === bump)),
      names: packages.map(({ name }) => name).toSorted(),
      text: text.trim().replaceAll(/\n(?=.)/g, "\n  ")
    }
  })

execFileSync("npx", ["changeset", "version"], { cwd: root, stdio: "inherit" })

const { version }: Manifest = JSON.parse(read("packages/signalbox/package.json"))
// The clients name themselves with it.
for (const file of ["packages/api/src/internal/calls/Version.ts", "packages/graph/src/internal/requests/Version.ts"]) {
  writeFileSync(join(root, file), read(file).replace(/"\d[^"]*"/, JSON.stringify(version)))
}
// What is new since the version before has its version now.
for (const file of ["packages/api/since.json", "packages/graph/since.json"]) {
  writeFileSync(join(root, file), read(file).replace('"next":', `${JSON.stringify(version)}:`))
}
const titles = { major: "What breaks", minor: "What is new", patch: "What is mended" }
const parts = bumps.flatMap((bump) => {
  const lines = changes
    .filter((change) => change.bump === bump)
    .map(({ names, text }) => `- **${names.join(", ")}:** ${text}\n`)
  return lines.length === 0 ? [] : [`### ${titles[bump]}\n\n${lines.join("")}`]
})
const before = read("CHANGELOG.md")
const at = before.indexOf("\n## ") + 1
writeFileSync(
  join(root, "CHANGELOG.md"),
  `${before.slice(0, at)}## ${version}\n\n${parts.join("\n")}\n${before.slice(at)}`
)
