/** What the command corrects: payloads and files of items, and single items of secrets. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Vault from "@signalbox/api/robot/Vault"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Redacted from "effect/Redacted"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { apply, changes, parse, parseRemove, parseSet } from "../src/internal/resources/PayloadEdit.ts"
import * as Result from "effect/Result"
import * as Cli from "./support/Cli.ts"

const { folder, remove } = Cli.temporaryFolder("corrections")
const data = join(folder, "data")
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

let room: Cli.RoomHere
beforeAll(async () => {
  room = await Cli.upHere(data, ["--workers", "0"])
  await Cli.succeed(["processes", "create", "orders", "--task", "t", "--data", data])
})
afterAll(async () => {
  await room.end()
  remove()
})

const signalbox = (...args: ReadonlyArray<string>) => Cli.signalbox([...args, "--data", data])
const succeed = (...args: ReadonlyArray<string>) => Cli.succeed([...args, "--data", data])

/** The command with this text on its standard input. */
const piped = (text: string, ...args: ReadonlyArray<string>) =>
  new Promise<Pick<Cli.Ended, "status" | "stdout" | "stderr">>((resolve) => {
    const child = Cli.start([...args, "--data", data], {})
    const written = { stdout: "", stderr: "" }
    child.stdout.on("data", (chunk: Buffer) => (written.stdout += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => (written.stderr += chunk.toString()))
    child.once("close", (status) => resolve({ status, ...written }))
    child.stdin.end(text)
  })

const newItem = async (payload: string): Promise<string> =>
  JSON.parse((await succeed("items", "create", "orders", "--payload", payload, "--json")).stdout).id

/** As it is on the wire. */
const payloadOf = async (item: string) =>
  /"payload":(.*),"masked"/.exec((await succeed("items", "show", item, "--json")).stdout)?.[1]

describe("items edit", () => {
  it("sets and removes what is at pointers, says what it was and is, and leaves the rest to the last digit", async () => {
    const item = await newItem('{"id":12345678901234567890,"amount":1,"lines":[{"name":"a"}],"note":"x","a/b":null}')
    const { stdout } = await succeed(
      "items",
      "edit",
      item,
      ...["/amount=98765432109876543210", "/lines/0/name=two words", "/lines/-=[true]", "/a~1b=12.50"].flatMap(
        (given) => ["--set", given]
      ),
      "--remove",
      "/note"
    )
    assert.deepStrictEqual(stdout.trim().split("\n"), [
      "/amount: 1 → 98765432109876543210",
      '/lines/0/name: "a" → "two words"',
      "/lines/1: (none) → [true]",
      '/note: "x" → (none)',
      "/a~1b: null → 12.5"
    ])
    assert.strictEqual(
      await payloadOf(item),
      '{"id":12345678901234567890,"amount":98765432109876543210,"lines":[{"name":"two words"},[true]],"a/b":12.5}'
    )
    assert.strictEqual(
      (await succeed("items", "edit", item, "--set", "/a~1b=12.5")).stdout,
      "the payload is unchanged\n"
    )
    const json = await succeed("items", "edit", item, "--set", "/id=12345678901234567891", "--json")
    assert.strictEqual(
      json.stdout,
      `{"id":"${item}","changes":[{"pointer":"/id","before":12345678901234567890,"after":12345678901234567891}],"files":[]}\n`
    )
  })

  it("takes a whole payload as JSON, of a file or of standard input, and attaches files", async () => {
    const item = await newItem("1")
    const [order, invoice] = [file("order.json", '{"n":12345678901234567890}'), file("invoice.pdf", "%PDF")]
    const edited = await succeed("items", "edit", item, "--payload", `@${order}`, "--file", invoice)
    assert.strictEqual(edited.stdout, `payload: 1 → {"n":12345678901234567890}\nattached ${invoice}\n`)
    assert.include((await succeed("items", "show", item)).stdout, "invoice.pdf")
    assert.strictEqual((await succeed("items", "edit", item, "--payload", "null")).status, 0)
    const { status, stdout } = await piped('{"piped":true}\n', "items", "edit", item, "--payload", "-")
    assert.deepStrictEqual([status, stdout], [0, 'payload: null → {"piped":true}\n'])
    const attached = await succeed("items", "attach", item, invoice, order)
    assert.strictEqual(attached.stdout, `attached ${invoice}\nattached ${order}\n`)
    assert.match((await succeed("items", "show", item)).stdout, /invoice\.pdf +4 bytes\norder\.json +26 bytes/)
  })

  it("is refused where it cannot be done, with the flag, and changes nothing", async () => {
    const item = await newItem('{"a":[1]}')
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [[], /nothing to change: use --set, --remove, --payload or --file/],
      [["--set", "amount=1"], /--set: Expected POINTER=JSON/],
      [["--set", '/a={"b"'], /--set \/a: Expected JSON/],
      [["--set", "/b/c=1"], /--set \/b\/c: the payload has no b; set it first, such as --set '\/b=\{\}'/],
      [["--set", "/a/2=1"], /--set \/a\/2: \/a of the payload is a list of 1/],
      [["--set", "/a/0/x=1"], /--set \/a\/0\/x: \/a\/0 of the payload is not an object or a list/],
      [["--remove", "/b"], /--remove \/b: the payload has no b/],
      [["--payload", "{"], /--payload: Expected JSON/],
      [["--payload", "@/nowhere"], /--payload: cannot read \/nowhere/],
      [["--payload", "1", "--set", "/a=1"], /--payload: cannot be combined with --set/],
      [["--set", "/a=1", "--file", "/nowhere"], /--file: cannot read \/nowhere/]
    ]
    for (const [flags, message] of cases) {
      const { status, stderr } = await signalbox("items", "edit", item, ...flags)
      assert.match(stderr, message)
      assert.strictEqual(status, 1)
    }
    assert.match((await signalbox("items", "attach", item, "/nowhere")).stderr, /file: cannot read \/nowhere/)
    assert.strictEqual(await payloadOf(item), '{"a":[1]}')
  })

  it("changes nothing when somebody else has changed the payload since it was read", async () => {
    const item = await newItem('{"a":1}')
    const { api_key, base_url, workspace_id } = room.ready
    // Between the two requests of the command it changes the payload itself.
    const between = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", async () => {
          const call = (path: string, method: string, body?: string) =>
            fetch(`${new URL(base_url).origin}${path}`, {
              method,
              headers: { authorization: `RC-WSKEY ${api_key}`, "content-type": "application/json" },
              ...(body === undefined ? {} : { body })
            })
          const path = request.url ?? ""
          const body = Buffer.concat(chunks).toString()
          const answer = await call(path, request.method ?? "GET", body === "" ? undefined : body)
          const text = await answer.text()
          if (request.method === "GET") await call(`${path}/payload`, "POST", '{"payload":{"a":1,"b":2}}')
          response.writeHead(answer.status, { "content-type": "application/json" }).end(text)
        })
    })
    await new Promise<void>((done) => between.listen(0, "127.0.0.1", done))
    const address = between.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const { status, stderr } = await Cli.signalbox(["items", "edit", item, "--set", "/a=5"], {
      env: {
        SIGNALBOX_BASE_URL: `http://127.0.0.1:${port}${new URL(base_url).pathname}`,
        SIGNALBOX_API_KEY: api_key,
        SIGNALBOX_WORKSPACE_ID: workspace_id
      }
    })
    between.close()
    assert.match(stderr, /was changed by another request/)
    assert.strictEqual(status, 1)
    assert.strictEqual(await payloadOf(item), '{"a":1,"b":2}')
  })
})

describe("a change of a payload", () => {
  const json = (text: string) => parse(text)?.value ?? null
  it("is the same however keys are written", () => {
    const set = Result.getOrThrow(parseSet('/__proto__={"x":1}'))
    const after = Result.getOrThrow(apply(json('{"toString":1}'), set))
    assert.strictEqual(JSON.stringify(after), '{"toString":1,"__proto__":{"x":1}}')
    const gone = Result.getOrThrow(apply(after, Result.getOrThrow(parseRemove("/__proto__/x"))))
    assert.strictEqual(JSON.stringify(gone), '{"toString":1,"__proto__":{}}')
    assert.isTrue(Result.isFailure(apply(json("{}"), Result.getOrThrow(parseRemove("/toString")))))
    assert.deepStrictEqual(changes(json('{"a":[1,2]}'), json('{"a":[1]}')), [
      { pointer: "/a/1", before: 2, after: undefined }
    ])
  })
})

// The second one is about the secret that the first one makes.
describe("secrets set", { shuffle: false }, () => {
  it("sets one item from a pipe or a file, keeps the others, and prints no value", async () => {
    await Cli.succeed(["secrets", "create", "shop", "--env", "user=U", "--env", "password=P", "--data", data], {
      env: { U: "ada", P: "old" }
    })
    const set = await piped("new needle\n", "secrets", "set", "shop", "password")
    assert.strictEqual(set.stdout, "set password of the secret shop; other items are unchanged\n", set.stderr)
    const pem = file("shop.pem", "one needle\ntwo needle\n")
    const ofFile = await succeed("secrets", "set", "shop", "key", "--value-file", pem, "--json")
    assert.strictEqual(ofFile.stdout, '{"name":"shop","description":null,"hosts":[]}\n')
    const made = await succeed("keys", "create", "--name", "r", "--permission", "Vault.read_secret_values", "--json")
    const { key, base_url } = { ...room.ready, ...JSON.parse(made.stdout) }
    const { workspace_id } = room.ready
    const shop = await Effect.gen(function* () {
      const vault = yield* Vault.make({
        url: new URL(base_url).origin,
        token: Redacted.make(key),
        workspaceId: WorkspaceId.make(workspace_id)
      })
      return yield* vault.get("shop")
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.runPromise)
    assert.deepStrictEqual(Redacted.value(shop.items), {
      user: "ada",
      password: "new needle",
      key: "one needle\ntwo needle"
    })
  })

  it("is refused without a value, of a secret that does not exist, and of a file that cannot be read", async () => {
    assert.match(
      (await piped("\n", "secrets", "set", "shop", "password")).stderr,
      /the value is empty: pass it with --value/
    )
    const missing = await piped("needle", "secrets", "set", "shoq", "password")
    assert.match(missing.stderr, /no secret has the name or id shoq: .*shop/)
    assert.notInclude(missing.stderr, "needle")
    const unread = await signalbox("secrets", "set", "shop", "key", "--value-file", "/nowhere")
    assert.match(unread.stderr, /--value-file: cannot read \/nowhere/)
  })
})
