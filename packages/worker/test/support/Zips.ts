/** Zips with arbitrary entries, and a server for them that may break connections. */
import * as RawZip from "@signalbox/testkit/RawZip"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { writeFileSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"

/** The digest by which a lease names a package. */
export const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

/** Writes a zip of these entries, valid or not. */
export const write = (path: string, entries: ReadonlyArray<RawZip.Entry>) => {
  const bytes = RawZip.make(entries.map((entry) => ({ ...entry, deflate: true })))
  writeFileSync(path, bytes)
  return { bytes, digest: digestOf(bytes) }
}

/** Serves bytes with ranges. `cut` says after how many bytes the response to the n-th request breaks off. */
export const serve = (bytes: Uint8Array, cut: (request: number) => number | undefined = () => undefined) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly requests: Array<IncomingMessage>; readonly close: () => void }>(
      (resume) => {
        const requests: Array<IncomingMessage> = []
        const server = createServer((request, response) => {
          requests.push(request)
          const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0)
          const rest = bytes.subarray(from)
          response.writeHead(from === 0 ? 200 : 206, { "content-length": rest.length })
          const end = cut(requests.length)
          if (end === undefined) response.end(rest)
          else response.write(rest.subarray(0, end), () => setTimeout(() => response.destroy(), 50))
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          const close = () => {
            server.closeAllConnections()
            server.close()
          }
          resume(Effect.succeed({ url: `http://127.0.0.1:${port}/p.zip?signature=s`, requests, close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )
