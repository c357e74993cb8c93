/**
 * The least that a control room could be: fastify on a SQLite file. Prints a line when it listens.
 */
import Fastify from "fastify"
import { DatabaseSync } from "node:sqlite"

const [file = "fastify.db"] = process.argv.slice(2)
const db = new DatabaseSync(file)
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
db.exec("CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, payload TEXT NOT NULL)")
const find = db.prepare("SELECT * FROM item WHERE id = ?")

const app = Fastify()
app.get<{ Params: { id: string } }>("/items/:id", (request) => find.get(request.params.id) ?? {})
console.log(await app.listen({ port: 0, host: "127.0.0.1" }))
