/**
 * What a page expects beside the room: a Postgres at `db.example`, a bucket at `s3.example.com`, and a load balancer at
 * `robots.example.com` in front of two nodes. The servers run outside of the network of the page, which reaches them by sockets.
 */
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { connect, createServer, type Server } from "node:net"
import { join } from "node:path"
import { createDatabase, startServer } from "../../packages/testkit/src/Postgres.ts"
import { startS3 } from "../../packages/testkit/src/S3Server.ts"
import { type Door, relay } from "./network.ts"

export interface Services {
  readonly doors: ReadonlyArray<Door>
  /** For programs of the page: the certificate is of no authority that they know. */
  readonly env: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

/** A socket that leads to a port of this network. */
const socketTo = (path: string, port: number) =>
  new Promise<Server>((resolve) => {
    const server = createServer((socket) => relay(socket, connect(port, "127.0.0.1"))).listen(path, () =>
      resolve(server)
    )
  })

const certificate = (folder: string, names: ReadonlyArray<string>) => {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")]
  const alternatives = names.map((name) => `DNS:${name}`).join(",")
  const args = [
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-subj",
    "/CN=test",
    "-addext",
    `subjectAltName=${alternatives}`
  ]
  execFileSync("openssl", ["req", ...args, "-keyout", key, "-out", cert], { stdio: "pipe" })
  return { cert, key }
}

/** Starts the services of one page; `folder` is for their sockets and the certificate. */
export const startServices = async (folder: string): Promise<Services> => {
  const [postgres, s3] = await Promise.all([startServer(), startS3({ bucket: "signalbox-files" })])
  await Effect.runPromise(createDatabase(postgres.url, "signalbox", "secret"))
  const sockets = { postgres: join(folder, "postgres"), s3: join(folder, "s3") }
  const servers = await Promise.all([
    socketTo(sockets.postgres, Number(new URL(postgres.url).port)),
    socketTo(sockets.s3, Number(new URL(s3.endpoint).port))
  ])
  const tls = certificate(folder, ["s3.example.com", "robots.example.com"])
  return {
    doors: [
      { name: "db.example", port: 5432, to: [sockets.postgres] },
      { name: "s3.example.com", port: 443, tls, to: [sockets.s3] },
      { name: "robots.example.com", port: 443, tls, to: [4700, 4701] }
    ],
    env: { NODE_EXTRA_CA_CERTS: tls.cert, CURL_CA_BUNDLE: tls.cert },
    close: async () => {
      for (const server of servers) server.close()
      await Promise.all([postgres.remove(), s3.close()])
    }
  }
}
