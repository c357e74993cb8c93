/** What is pasted elsewhere, and what keys may do. */
import { assert, describe, it } from "vitest"
import {
  clientProgram,
  contextOf,
  curlCommand,
  isOnlyHere,
  loginCommand,
  startCommand
} from "../../src/page/screens/connect/snippets.ts"
import {
  actsOf,
  grouped,
  heldBy,
  mayGive,
  permissions,
  presetOf,
  presets,
  within
} from "../../src/page/screens/keys/permissions.ts"

describe("what is pasted", () => {
  const place = { address: "https://robots.example.com/room", workspace: "w1", context: contextOf("ACME: Köln & Bonn") }
  it("has the address and the workspace, and no key", () => {
    assert.strictEqual(place.context, "acme-k-ln-bonn")
    assert.include(loginCommand(place), "--url https://robots.example.com/room --workspace w1")
    assert.include(curlCommand(place, "p1"), "https://robots.example.com/room/api/v1/workspaces/w1")
    assert.include(curlCommand(place, "p1"), "/processes/p1/process-runs")
    assert.include(clientProgram(place, "p1"), 'baseUrl: "https://robots.example.com/room"')
    for (const text of [loginCommand(place), curlCommand(place, "p1"), clientProgram(place, "p1")]) {
      assert.notInclude(text, "sbk")
    }
  })

  it("gives the token to a worker by its environment, in the shell of the machine", () => {
    assert.match(startCommand("posix", place.address, "sbl_x"), /^SIGNALBOX_LINK_TOKEN=sbl_x \\\n {2}npx signalbox/)
    assert.match(
      startCommand("windows", place.address, "sbl_x"),
      /^\$env:SIGNALBOX_LINK_TOKEN = "sbl_x"\nnpx signalbox/
    )
  })

  it("says when an address is of one machine alone", () => {
    for (const address of ["http://localhost:4700", "http://127.0.0.1:4700", "http://[::1]:4700"]) {
      assert.isTrue(isOnlyHere(address), address)
    }
    assert.isFalse(isOnlyHere("http://10.0.0.7:4700"))
    assert.isFalse(isOnlyHere("https://localhost.example.com"))
  })
})

describe("the permissions of a key", () => {
  const set = (value: string) => presets.find((preset) => preset.value === value) ?? assert.fail(value)
  it("are all under a heading", () => {
    assert.sameMembers(
      grouped.flatMap(([, all]) => all),
      [...permissions]
    )
  })

  it("are those that the giver has, and the values of secrets only by hand", () => {
    const held = ["Processes.read_processes", "Processes.trigger_processes"]
    assert.sameMembers([...within(set("operator"), held)], held)
    assert.isFalse(mayGive("Vault.read_secret_values", held))
    assert.isTrue(mayGive("Vault.read_secret_values", ["Room.manage"]))
    const permissions = ["Workspace.manage_api_keys"]
    assert.isTrue(mayGive("Vault.read_secret_values", heldBy({ permissions, user: null })))
    const user = { id: "u", login: "ada", name: "Ada", role: "admin", manages_room: false }
    assert.isFalse(mayGive("Vault.read_secret_values", heldBy({ permissions, user })))
    for (const { permissions } of presets) assert.notInclude(permissions, "Vault.read_secret_values")
  })

  it("are told by the name of their set, however they are ordered", () => {
    assert.strictEqual(presetOf(set("read").permissions.toReversed())?.value, "read")
    assert.isUndefined(presetOf(set("read").permissions.slice(1)))
    assert.strictEqual(presetOf(permissions.filter((one) => one !== "Vault.read_secret_values"))?.value, "all")
    for (const permission of set("read").permissions) assert.include(permission, ".read_")
  })

  it("that stop working are those that do more than read", () => {
    assert.deepStrictEqual(actsOf(["Processes.trigger_processes", "Processes.read_runs"]), ["start and stop runs"])
    assert.deepStrictEqual(actsOf(set("read").permissions), [])
    assert.deepStrictEqual(actsOf(["Newer.write_things"]), ["Newer.write_things"])
  })
})
