/** For Node, Deno and Bun: what is given is in the environment. */
import process from "node:process"
import { everything } from "./everything.ts"
import { files } from "./files.ts"

const given = JSON.parse(process.env["GIVEN"] ?? "")
await everything(given)
await files(given)
