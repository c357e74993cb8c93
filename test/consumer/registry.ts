/**
 * A registry with the packed packages, so that a page's own install line installs them. All other packages are those of the registry of
 * npm, through this one: a page without a network reaches it by a socket.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
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

interface Received {
  readonly status: number
  readonly type: string
  readonly body: Buffer
}

const json = /json/

/** Requests of the registry behind this one; each document is fetched once. */
const behind = (upstream: string) => {
  const documents = new Map<string, Promise<Received>>()
  const fetched = async (path: string, accept: string): Promise<Received> => {
    const response = await fetch(new URL(path, upstream), { headers: { accept } })
    const type = response.headers.get("content-type") ?? ""
    return { status: response.status, type, body: Buffer.from(await response.arrayBuffer()) }
  }
  return (path: string, accept: string) => {
    if (path.endsWith(".tgz")) return fetched(path, accept)
    const key = `${accept} ${path}`
    const known = documents.get(key) ?? fetched(path, accept)
    documents.set(key, known)
    return known
  }
}

/** Starts it on a free port, and at `socket`; `upstream` has all other packages. */
export const startRegistry = async (
  tarballs: ReadonlyArray<Tarball>,
  upstream: string,
  socket?: string
): Promise<Registry> => {
  const byName = new Map(tarballs.map((tarball) => [tarball.manifest.name, tarball]))
  const other = behind(upstream)
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ""
    const origin = `http://${request.headers.host}`
    const [, kind, name = ""] = /^\/(-\/)?([^?]*)/.exec(decodeURIComponent(path)) ?? []
    const tarball = byName.get(name)
    if (tarball === undefined) {
      const { body, status, type } = await other(path, request.headers.accept ?? "*/*")
      // The tarballs that a document names are reached through this registry too.
      const sent = json.test(type) ? body.toString().replaceAll(new URL(upstream).origin, origin) : body
      response.writeHead(status, { "content-type": type }).end(sent)
    } else if (kind === "-/") response.end(readFileSync(tarball.file))
    else {
      // npm's cache outlives a run, and the next one may have other packages of the same versions.
      response
        .setHeader("content-type", "application/json")
        .setHeader("cache-control", "no-store")
        .end(documentOf(tarball, `${origin}/-/${encodeURIComponent(name)}`))
    }
  }
  const listening = (at: string | number) => {
    const server = createServer((request, response) => {
      respond(request, response).catch((error) => response.writeHead(502).end(String(error)))
    })
    return new Promise<typeof server>((resolve) =>
      typeof at === "string"
        ? server.listen(at, () => resolve(server))
        : server.listen(at, "127.0.0.1", () => resolve(server))
    )
  }
  const servers = await Promise.all((socket === undefined ? [0] : [0, socket]).map(listening))
  const address = servers[0]?.address()
  return {
    url: typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "",
    close: async () => {
      for (const server of servers) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    }
  }
}
