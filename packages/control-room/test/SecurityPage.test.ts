/** The page about security names every door of the service, and the permissions of a step run. */
import { assert, describe, it } from "@effect/vitest"
import { Api } from "@signalbox/api/contract/Api"
import { runPermissions } from "@signalbox/api/contract/Authorization"
import * as HttpApi from "effect/http-api/HttpApi"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { docsPath, openApiPath } from "../src/internal/edge/Edge.ts"
import { consolePath } from "../src/internal/edge/ConsolePages.ts"
import * as Probes from "../src/internal/edge/Probes.ts"
import { hooksPath } from "../src/internal/settings/HooksPath.ts"
import { transferPrefix } from "../src/internal/transfers/FileLinks.ts"

const page = readFileSync(join(import.meta.dirname, "../../../docs/operate/security.md"), "utf8")

/** The first column of the table below a heading. */
const doors = (page.split(/^## /m).find((part) => part.startsWith("Entry points\n")) ?? "")
  .split("\n")
  .flatMap((line) => /^\| (`.+?) +\|/.exec(line)?.[1] ?? [])
  .join(" ")

const served = new Set([docsPath, openApiPath, consolePath, hooksPath, transferPrefix, ...Object.values(Probes.paths)])
const open: Array<string> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    const [, first = "", second = ""] = endpoint.path.split("/")
    served.add(first === "api" ? `/${first}/${second}` : `/${first}`)
    if (![...endpoint.middlewares].some(({ key }) => key.includes("Authorization"))) open.push(endpoint.identifier)
  }
})

describe("the page about security", () => {
  it("names every path at which something is served", () => {
    assert.isAbove(served.size, 10)
    assert.deepStrictEqual(
      [...served].filter((path) => !doors.includes(`\`${path}`)),
      []
    )
  })

  it("says rightly that all operations but the link of a worker ask for a key or token", () => {
    assert.deepStrictEqual(open, ["linkWorker"])
    assert.include(doors, "`/worker-v1`")
  })

  it("says what every step run may", () => {
    assert.deepStrictEqual(
      [...runPermissions].toSorted(),
      [
        "Assets.read_asset_storage_assets",
        "Assets.write_asset_storage_assets",
        "Vault.read_secret_values",
        "Vault.write_secrets"
      ],
      "the line about step runs in docs/operate/security.md"
    )
    assert.include(page, "read and write every secret and asset of its workspace")
  })
})
