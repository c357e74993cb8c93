/** `signalbox graph-sandbox`, as a separate process. */
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { signalbox, start, temporaryFolder } from "./support/Cli.ts"

interface Facts {
  readonly graph_url: string
  readonly authority: string
  readonly client_id: string
  readonly client_secret: string
}

/** Starts the command, and returns what it says of itself. */
const launch = async (args: ReadonlyArray<string>) => {
  const child = start(["graph-sandbox", "--port", "0", "--json", ...args], {})
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const line = await new Promise<string>((resolve) =>
    child.stdout.once("data", (data: Buffer) => resolve(data.toString()))
  )
  const facts: Facts = JSON.parse(line)
  const stop = () => {
    child.kill("SIGTERM")
    return exited
  }
  return { facts, stop }
}

describe("the graph sandbox", () => {
  it("serves the files of a folder to who asks with the app's secret, and ends with 0", async () => {
    const { folder, remove } = temporaryFolder("graph-sandbox")
    mkdirSync(join(folder, "users", "joan", "drive"), { recursive: true })
    writeFileSync(join(folder, "users", "joan", "drive", "a.txt"), "hello")
    const { facts, stop } = await launch(["--seed", folder])
    const token = await fetch(`${facts.authority}/oauth2/v2.0/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: facts.client_id,
        client_secret: facts.client_secret,
        scope: "https://graph.microsoft.com/.default"
      })
    })
    const { access_token } = await token.json()
    const file = await fetch(`${facts.graph_url}/users/joan@contoso.test/drive/root:/a.txt`, {
      headers: { authorization: `Bearer ${access_token}` }
    })
    const shown = await file.json()
    const status = await stop()
    remove()
    assert.deepInclude(shown, { name: "a.txt", size: 5 })
    assert.strictEqual(status, 0)
  })

  it("writes the certificate as a text file, which ends with a newline", async () => {
    const { folder, remove } = temporaryFolder("graph-sandbox")
    const file = join(folder, "ca.pem")
    const { stop } = await launch(["--tls", "--ca-file", file])
    const certificate = readFileSync(file, "utf8")
    await stop()
    remove()
    assert.match(certificate, /-----END CERTIFICATE-----\n$/)
  })

  it("reports invalid arguments", async () => {
    const folder = await signalbox(["graph-sandbox", "--port", "0", "--seed", "/nowhere/at/all"])
    assert.deepStrictEqual([folder.status, folder.stdout], [1, ""])
    assert.match(folder.stderr, /\/nowhere\/at\/all: the folder does not exist/)
    const file = await signalbox(["graph-sandbox", "--port", "0", "--ca-file", "ca.pem"])
    assert.match(file.stderr, /--ca-file: .*--tls/)
    const name = await signalbox(["graph-sandbox", "--port", "0", "--sign-in-as", "nobody"])
    assert.match(name.stderr, /no user is 'nobody'/)
  })
})
