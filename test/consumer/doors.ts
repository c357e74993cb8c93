/** The program that opens doors in the network of a page, runs a command there, and ends as that does. See `network.ts`. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { createServer as createSecureServer } from "node:tls"
import { addressOf, type Door, relay } from "./network.ts"

const [doorsAsJson = "[]", file = "", ...args] = process.argv.slice(2)
const doors: ReadonlyArray<Door> = JSON.parse(doorsAsJson)

const connected = (to: string | number) =>
  new Promise<Socket | null>((resolve) => {
    const socket = typeof to === "string" ? connect(to) : connect(to, "127.0.0.1")
    socket.once("connect", () => resolve(socket)).once("error", () => resolve(null))
  })

const enter = ({ to }: Door) =>
  async function (socket: Socket) {
    socket.on("error", () => {})
    for (const target of to) {
      const other = await connected(target)
      if (other !== null) return relay(socket, other)
    }
    socket.destroy()
  }

const open = (door: Door, index: number) =>
  new Promise<void>((resolve) => {
    const { port, tls } = door
    const server =
      tls === undefined
        ? createServer(enter(door))
        : createSecureServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, enter(door))
    server.listen(port, addressOf(index), resolve)
  })

await Promise.all(doors.map(open))
const child = spawn(file, args, { stdio: "inherit" })
process.once("SIGTERM", () => child.kill("SIGTERM"))
child.once("exit", (code) => process.exit(code ?? 1))
