/**
 * Hands connections on, from a port or a Unix socket to another: a program that has a network of its own reaches the servers outside of
 * it by sockets in the file system.
 *
 * `node bridge.ts <ready> <port>=<socket> ...`: listens on 127.0.0.1, and creates the file `ready` when it does. It ends with
 * the process that has started it.
 */
import { writeFileSync } from "node:fs"
import { connect, createServer, type Server } from "node:net"

const placeOf = (place: string) => (/^\d+$/.test(place) ? { port: Number(place), host: "127.0.0.1" } : { path: place })

/** Listens at one place for those who want the other; each is the path of a socket or a port of this machine. */
export const bridge = (from: string, to: string) =>
  new Promise<Server>((resolve, reject) => {
    const server = createServer((near) => {
      const far = connect(placeOf(to))
      for (const [one, other] of [
        [near, far],
        [far, near]
      ] as const) {
        one.pipe(other)
        one.once("error", () => other.destroy())
      }
    })
    server.once("error", reject)
    server.listen(placeOf(from), () => resolve(server))
  })

if (import.meta.main) {
  const [ready = "", ...bridges] = process.argv.slice(2)
  for (const [port = "", socket = ""] of bridges.map((one) => one.split("=", 2))) await bridge(port, socket)
  writeFileSync(ready, "")
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.exit()
  }, 200)
}
