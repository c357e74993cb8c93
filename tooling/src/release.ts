/**
 * What a release publishes, in a folder: the tarballs of the versions that the registry does not have yet, the bundles of the
 * actions, `packages` with a line for each tarball, and `SHA256SUMS` of all of it. Nothing is left in it where there is nothing
 * to publish.
 *
 *     node tooling/src/release.ts FOLDER
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { type Manifest, pack, root } from "./tarballs.ts"

const [, , given] = process.argv
if (given === undefined) throw new Error("name the folder to write to")
const folder = resolve(given)
const registry = process.env["npm_config_registry"] ?? "https://registry.npmjs.org/"

const isPublished = async ({ name, version }: Manifest) => {
  const { ok, status } = await fetch(new URL(`${name.replace("/", "%2F")}/${version}`, registry))
  if (!ok && status !== 404) throw new Error(`the registry answers ${status} to whether it has ${name}@${version}`)
  return ok
}

const lines: Array<string> = []
for (const { file, manifest } of pack(folder)) {
  if (await isPublished(manifest)) rmSync(file)
  else lines.push(`${basename(file)} ${manifest.name}@${manifest.version}\n`)
}
if (lines.length > 0) {
  execFileSync("node", ["actions/build.ts"], { cwd: root, stdio: "inherit" })
  execFileSync("tar", ["-cf", join(folder, "actions.tar"), "actions/start-run/dist", "actions/upload-package/dist"], {
    cwd: root
  })
  writeFileSync(join(folder, "packages"), lines.join(""))
  const sums = readdirSync(folder).map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}\n`
  )
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""))
}
console.log(lines.length === 0 ? "nothing to publish" : lines.join("").trim())
