/** `connect()` without a room: the one of the environment, as `layerConfig` of `@signalbox/api/node` finds it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { connect, NotConfigured } from "../src/Promise.ts"
import { answer } from "./support/FaultServer.ts"
import { withRoom } from "./support/PromiseRoom.ts"
import { workItem } from "./support/Retries.ts"

const names = ["SIGNALBOX_BASE_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_WORKSPACE_ID", "SIGNALBOX_DATA"] as const
type Variables = Readonly<Partial<Record<(typeof names)[number], string>>>

const set = (variables: Variables) => {
  for (const name of names) {
    const value = variables[name]
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}

/** With these variables alone. */
const within = async (variables: Variables, use: () => Promise<void> | void): Promise<void> => {
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]))
  set(variables)
  try {
    await use()
  } finally {
    set(before)
  }
}

const nowhere = { SIGNALBOX_DATA: "/nowhere" }

describe("connect without a room", () => {
  it("finds that of the variables, and takes the other options", () =>
    withRoom(async (_, server) => {
      server.script([answer(200, workItem)])
      const variables = {
        SIGNALBOX_BASE_URL: server.origin,
        SIGNALBOX_API_KEY: "of-the-environment",
        SIGNALBOX_WORKSPACE_ID: "far"
      }
      await within(variables, async () => {
        await using room = connect({ headers: { "x-team": "robots" } })
        await room.workItems.get("item")
      })
      const [request] = server.received()
      assert.strictEqual(request?.path, "/api/v1/workspaces/far/work-items/item")
      assert.include(request?.headers, { authorization: "RC-WSKEY of-the-environment", "x-team": "robots" })
    }))

  it("finds the control room that runs from this folder", () =>
    withRoom(async (_, server) => {
      server.script([answer(200, workItem)])
      const folder = mkdtempSync(join(tmpdir(), "signalbox-promise-"))
      const local = { base_url: server.origin, workspace_id: "local", api_key: "of-the-folder" }
      writeFileSync(join(folder, "credentials.json"), JSON.stringify(local))
      await within({ SIGNALBOX_DATA: folder }, async () => {
        await using room = connect()
        await room.workItems.get("item")
      })
      rmSync(folder, { recursive: true })
      assert.strictEqual(server.received()[0]?.path, "/api/v1/workspaces/local/work-items/item")
    }))

  it("throws NotConfigured at once where there is none", () =>
    within(nowhere, () =>
      assert.throws(() => connect(), NotConfigured, /^set SIGNALBOX_BASE_URL, .* or start a control room here/)
    ))

  it("throws NotConfigured for some of the variables, and never completes them", () =>
    within({ ...nowhere, SIGNALBOX_API_KEY: "sbk_far" }, () =>
      assert.throws(
        () => connect(),
        NotConfigured,
        "SIGNALBOX_BASE_URL and SIGNALBOX_WORKSPACE_ID are not set, but SIGNALBOX_API_KEY is: set all three, or none"
      )
    ))

  it("completes no options by the environment: all three, or none", () =>
    within({ SIGNALBOX_BASE_URL: "http://127.0.0.1:1", SIGNALBOX_API_KEY: "k", SIGNALBOX_WORKSPACE_ID: "w" }, () => {
      const some: object = { baseUrl: "http://127.0.0.1:1" }
      assert.throws(() => connect(some), TypeError, "connect: apiKey, workspaceId missing or empty")
      // What a program reads from variables that are not set.
      const unset: object = { baseUrl: undefined, apiKey: undefined, workspaceId: undefined }
      assert.throws(() => connect(unset), TypeError, "connect: baseUrl, apiKey, workspaceId missing or empty")
    }))
})

describe("the client with promises", () => {
  it("imports no module of Node, so that it can be bundled for browsers", () => {
    const seen = new Set<string>()
    const ofNode: Array<string> = []
    const follow = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      const source = readFileSync(file, "utf8")
      for (const [, target = ""] of source.matchAll(
        /(?:^(?:import|export) (?!type )[^"';]*?from |import\()"([^"]+)"/gm
      )) {
        if (target.startsWith("node:") || target.startsWith("@signalbox/platform")) ofNode.push(`${file}: ${target}`)
        else if (target.startsWith(".")) follow(join(dirname(file), target))
        else if (target.startsWith("@signalbox/")) follow(fileURLToPath(import.meta.resolve(target)))
      }
    }
    follow(join(import.meta.dirname, "../src/Promise.ts"))
    assert.isAbove(seen.size, 60)
    assert.deepStrictEqual(ofNode, [])
  })
})
