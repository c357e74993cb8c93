/**
 * Bundles the program into one file of the package, so that a worker's machine needs only Node.
 */
import { join } from "node:path"
import { build } from "rolldown"

await build({
  input: join(import.meta.dirname, "main.ts"),
  platform: "node",
  logLevel: "warn",
  output: {
    file: join(import.meta.dirname, "package", "robot.mjs"),
    format: "esm",
    minify: true,
    codeSplitting: false
  }
})
