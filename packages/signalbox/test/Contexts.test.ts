/**
 * Which control room a command talks to: contexts, variables, folders, and what is refused because it is not clear.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("contexts")
const file = join(folder, "config", "signalbox", "contexts.json")
const home = { XDG_CONFIG_HOME: join(folder, "config") }

let room: Cli.RoomHere
let login: ReadonlyArray<string>
beforeAll(async () => {
  room = await Cli.upHere(join(folder, "data"), ["--workers", "0"])
  const { base_url, workspace_id } = room.ready
  login = ["login", "staging", "--url", base_url.replace("/api/v1", ""), "--workspace", workspace_id]
})
afterAll(async () => {
  await room.end()
  remove()
})

const signalbox = (args: ReadonlyArray<string>, env: Cli.Env = {}) => Cli.signalbox(args, { env: { ...home, ...env } })
const show = ["workspaces", "show", "--json"]
const workspaceOf = ({ stdout }: Cli.Ended): unknown => JSON.parse(stdout).id

// One story over one file of contexts.
describe("contexts", { shuffle: false }, () => {
  describe("a context", () => {
    it("is kept by login in a file of the user alone, and chosen with --context or SIGNALBOX_CONTEXT", async () => {
      const kept = await signalbox(login, { SIGNALBOX_API_KEY: room.ready.api_key })
      assert.strictEqual(kept.status, 0, kept.stderr)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.notInclude(kept.stdout, room.ready.api_key)
      assert.strictEqual(workspaceOf(await signalbox([...show, "--context", "staging"])), room.ready.workspace_id)
      assert.strictEqual(workspaceOf(await signalbox(show, { SIGNALBOX_CONTEXT: "staging" })), room.ready.workspace_id)
    })

    it("is listed without its key, and forgotten", async () => {
      await signalbox(["login", "other", ...login.slice(2)], { SIGNALBOX_API_KEY: room.ready.api_key })
      const listed = await signalbox(["contexts", "list"])
      assert.match(listed.stdout, /staging +http[^]*other/)
      assert.notInclude(listed.stdout, room.ready.api_key)
      assert.strictEqual((await signalbox(["contexts", "delete", "other"])).status, 0)
      assert.notInclude(readFileSync(file, "utf8"), "other")
    })

    it("that does not work is not kept", async () => {
      const refused = await signalbox(login.toSpliced(1, 1, "wrong"), { SIGNALBOX_API_KEY: "sbk_wrong" })
      assert.strictEqual(refused.status, 1)
      assert.notInclude(readFileSync(file, "utf8"), "wrong")
      assert.match((await signalbox(login)).stderr, /no terminal to ask for the key: set SIGNALBOX_API_KEY/)
    })

    it("stands in the refusal to delete several things without --yes", async () => {
      const { stderr } = await signalbox(["items", "delete", "a", "b", "--context", "staging"])
      assert.match(stderr, /add --yes to delete 2 work items \(workspace \S+ at http:\S+, of the context staging\)/)
    })

    it("becomes variables that a shell can run", async () => {
      const { stdout } = await signalbox(["env", "--context", "staging"])
      const script = `${stdout}\nprintf '%s %s' "$SIGNALBOX_API_KEY" "$SIGNALBOX_WORKSPACE_ID"`
      const { api_key, workspace_id } = room.ready
      assert.strictEqual(spawnSync("sh", ["-c", script]).stdout.toString(), `${api_key} ${workspace_id}`)
      assert.match(
        (await signalbox(["env", "--context", "staging", "--shell", "fish"])).stdout,
        /^set -gx SIGNALBOX_BASE/
      )
    })
  })

  describe("a connection that is not clear", () => {
    const url = "https://room.example.com"
    const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>, Cli.Env, RegExp]> = [
      ["a variable that is not read", [], { SIGNALBOX_URL: url }, /SIGNALBOX_URL is not read: set SIGNALBOX_BASE_URL/],
      ["an address without a key", [], { SIGNALBOX_BASE_URL: url }, /SIGNALBOX_API_KEY and .* are not set, but/],
      ["a key without an address", [], { SIGNALBOX_API_KEY: "k" }, /SIGNALBOX_BASE_URL and .* are not set, but/],
      [
        "a context beside an address",
        [],
        { SIGNALBOX_CONTEXT: "staging", SIGNALBOX_BASE_URL: url },
        /SIGNALBOX_CONTEXT and SIGNALBOX_BASE_URL are set: unset one/
      ],
      ["a folder beside a context", ["--data", ".", "--context", "staging"], {}, /--data and --context .*: use one/],
      [
        "a context that does not exist",
        ["--context", "stagign"],
        {},
        /no context has the name stagign: did you mean staging\?/
      ]
    ]
    for (const [what, args, env, message] of cases) {
      it(`is refused: ${what}`, async () => {
        const refused = await signalbox([...show, ...args], env)
        assert.deepStrictEqual([refused.status, refused.stdout], [1, ""])
        assert.match(refused.stderr, message)
        assert.strictEqual(refused.stderr.trim().split("\n").length, 1)
      })
    }

    it("is said of a file of contexts that holds none", async () => {
      const broken = join(folder, "broken")
      const { stderr } = await Cli.signalbox([...show, "--context", "staging"], { env: { XDG_CONFIG_HOME: broken } })
      assert.match(stderr, /no context has the name staging: create it with `signalbox login staging`/)
      chmodSync(file, 0o600)
      writeFileSync(file, "{")
      assert.match(
        (await signalbox([...show, "--context", "staging"])).stderr,
        /contains no contexts: correct it, or remove it/
      )
    })
  })
})
