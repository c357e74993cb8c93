/** The servers that pages name, as their readers have them: a Postgres with a database, and a bucket. */
import * as Effect from "effect/Effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { createDatabase, startServer } from "../../packages/testkit/src/Postgres.ts"
import { startS3 } from "../../packages/testkit/src/S3Server.ts"
import { bridge } from "./bridge.ts"

/** Starts them behind Unix sockets in a folder, and returns these by the address that pages have. */
export const start = async (folder: string) => {
  mkdirSync(folder, { recursive: true })
  const postgres = await startServer()
  await Effect.runPromise(createDatabase(postgres.url, { name: "signalbox", password: "wild-horses" }))
  const s3 = await startS3({
    bucket: "signalbox-files",
    credentials: { accessKeyId: "signalbox", secretAccessKey: "correct-horse" }
  })
  const served = { "db.example:5432": new URL(postgres.url).port, "files.example:9000": new URL(s3.endpoint).port }
  const sockets = Object.fromEntries(Object.keys(served).map((address) => [address, join(folder, address)]))
  const bridges = await Promise.all(
    Object.entries(served).map(([address, port]) => bridge(join(folder, address), port))
  )
  const stop = async () => {
    for (const one of bridges) one.close()
    await Promise.all([postgres.remove(), s3.close()])
  }
  return { sockets, stop }
}
