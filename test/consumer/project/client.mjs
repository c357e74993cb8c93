// The client alone: the line of `signalbox up --json` is in the environment.
import { greet } from "./greet.mjs"

await greet(JSON.parse(process.env.ROOM ?? ""))
console.log("greeted")
