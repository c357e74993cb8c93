/**
 * A registry with the packed packages, so that a page's own install line installs them: other packages it refers to the registry of npm.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { Tarball } from "../../tooling/src/tarballs.ts"

export interface Registry {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Long ago: package managers may leave out what was published only now. */
const published = "2026-01-01T00:00:00.000Z"

/** What the registry says of a package. */
const documentOf = ({ file }: Tarball, tarball: string) => {
  const packed = execFileSync("tar", ["-xzOf", file, "package/package.json"], { encoding: "utf8" })
  const manifest: { readonly name: string; readonly version: string } = JSON.parse(packed)
  const { name, version } = manifest
  const integrity = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`
  return JSON.stringify({
    name,
    "dist-tags": { latest: version },
    time: { created: published, modified: published, [version]: published },
    versions: { [version]: { ...manifest, dist: { tarball, integrity } } }
  })
}

/** Starts it on a free port; `upstream` has all other packages. */
export const startRegistry = async (tarballs: ReadonlyArray<Tarball>, upstream: string): Promise<Registry> => {
  let origin = ""
  const byName = new Map(tarballs.map((tarball) => [tarball.manifest.name, tarball]))
  const server = createServer((request, response) => {
    const [, kind, name = ""] = /^\/(-\/)?([^?]*)/.exec(decodeURIComponent(request.url ?? "")) ?? []
    const tarball = byName.get(name)
    if (tarball === undefined) response.writeHead(302, { location: new URL(request.url ?? "", upstream).href }).end()
    else if (kind === "-/") response.end(readFileSync(tarball.file))
    else
      response
        .setHeader("content-type", "application/json")
        .end(documentOf(tarball, `${origin}/-/${encodeURIComponent(name)}`))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  origin = typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : ""
  return {
    url: origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
