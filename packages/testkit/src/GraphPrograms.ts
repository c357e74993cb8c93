/**
 * What the programs of examples/clients/graph do, however they are written: with promises, with Effect, or with other clients. Each
 * test has a sandbox of its own, with this seed.
 */
import * as Struct from "effect/Struct"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, vi } from "vitest"
import { certificate, privateKey } from "./Certificate.ts"

const clientId = "app-1"
const tenant = "contoso.test"
const team = "https://contoso.sharepoint.test/sites/team"
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Of the sandbox. */
export const seed = {
  apps: [{ clientId, platform: "web" as const, redirectUris: [], certificates: [certificate] }],
  users: [
    {
      userPrincipalName: "ann@contoso.test",
      displayName: "Ann Lee",
      mail: "ann@contoso.test",
      drive: {
        "Inbox/May.txt": "invoice 1",
        "Inbox/Deep/May.txt": "invoice 2",
        "Inbox/Empty/": "",
        ...Object.fromEntries(numbers(250).map((n) => [`Many/${n}.txt`, "x".repeat(n)])),
        "Big.txt": "0123456789".repeat(50_000)
      }
    },
    ...numbers(19).map((n) => ({ userPrincipalName: `p${n}@contoso.test`, displayName: `Pat ${n}` }))
  ],
  sites: [
    {
      path: "/sites/team",
      displayName: "Team",
      lists: [
        {
          displayName: "Books",
          columns: [
            { name: "Author0", text: {} },
            { name: "Pages", number: {} },
            { name: "Read", dateTime: {} }
          ],
          items: [
            { Title: "Kidnapped", Author0: "R. L. Stevenson", Pages: 240 },
            { Title: "Ulysses", Author0: "Flann O'Brien", Pages: 730 }
          ]
        }
      ]
    }
  ]
}

export interface Book {
  readonly Title: string
  readonly Pages?: number
  readonly Read?: Date
}

export interface App {
  readonly tenant: string
  readonly clientId: string
  readonly certificate: string
  readonly privateKey: string
}

/** The programs. */
export interface Programs {
  readonly whoAmI: () => Promise<string>
  readonly listFolder: (folder: string) => Promise<ReadonlyArray<string>>
  readonly uploadFile: (localPath: string, path: string) => Promise<number | null | undefined>
  readonly downloadFile: (path: string, to: string) => Promise<string>
  readonly downloadFolder: (
    folder: string,
    to: string
  ) => Promise<{ readonly files: number; readonly present: number; readonly failed: ReadonlyArray<string> }>
  readonly searchAndMove: (text: string, target: string) => Promise<ReadonlyArray<string>>
  readonly shareLink: (
    path: string,
    recipient: string
  ) => Promise<{ readonly url: string | null | undefined; readonly refused: ReadonlyArray<string | null> }>
  readonly readList: (address: string, author: string) => Promise<ReadonlyArray<string>>
  readonly createItems: (address: string, books: ReadonlyArray<Book>) => Promise<ReadonlyArray<string>>
  readonly changes: (stateFile: string) => Promise<ReadonlyArray<string | null | undefined>>
  readonly batchReads: (names: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
  readonly appOnly: (user: string, app: App) => Promise<ReadonlyArray<string>>
  readonly throttling: (path: string, millis: number) => Promise<ReadonlyArray<string | null | undefined>>
}

/** A rule for faults of the sandbox. */
export type Fault =
  | { readonly fault: "truncate"; readonly host: "files"; readonly bytes: number; readonly times: number }
  | { readonly fault: "status"; readonly status: number; readonly host: "files"; readonly times: number }
  | {
      readonly fault: "throttle"
      readonly path: string
      readonly times: number
      readonly retryAfter: "decimal"
      readonly seconds: number
    }
  | { readonly fault: "stall"; readonly path: string }

/** A sandbox, and what asks it besides the program. */
export interface World {
  readonly graphUrl: string
  /** Of Ann. */
  readonly token: string
  readonly faults: (...rules: ReadonlyArray<Fault>) => Promise<void>
  readonly requests: () => Promise<
    ReadonlyArray<{
      readonly host: string
      readonly method: string
      readonly status: number | null
      readonly url: string
    }>
  >
  /** Whether the program is one of ours, which do what the others do not: see docs/compare-clients.md. */
  readonly isOurs: boolean
}

const ask = async ({ graphUrl, token }: World, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${graphUrl}/me/drive${path}`, { ...init, headers: { authorization: `Bearer ${token}` } })

/** What is in a folder of the drive. */
const names = async (world: World, path: string): Promise<ReadonlyArray<string>> => {
  const { value }: { readonly value: ReadonlyArray<{ readonly name: string }> } = JSON.parse(
    await (await ask(world, `/root:${path}:/children`)).text()
  )
  return value.map(({ name }) => name)
}

/** The requests so far to one of the hosts, as `GET /v1.0/me 200`. */
const asked = async ({ requests }: World, host: "graph" | "files") =>
  (await requests())
    .filter((request) => request.host === host)
    .map(({ method, status, url }) => `${method} ${url.split("?")[0]} ${status}`)

type Behaviour<K extends keyof Programs> = (program: Programs[K], world: World, folder: string) => Promise<void>

/** What each program does, whoever has written it. */
const behaviours: { readonly [K in keyof Programs]: Readonly<Record<string, Behaviour<K>>> } = {
  whoAmI: {
    "who-am-i says who is signed in, and how full the drive is": async (run) =>
      assert.match(await run(), /^Ann Lee <ann@contoso\.test>, business drive, \d+ bytes used$/)
  },

  listFolder: {
    "list-folder lists the files of three pages": async (run, world) => {
      const lines = await run("/Many")
      assert.lengthOf(lines, 250)
      assert.include(lines, "7.txt 7")
      if (world.isOurs) assert.lengthOf(await asked(world, "graph"), 3)
    }
  },

  uploadFile: {
    "upload-file sends fragments, and says how far it is": async (run, world, folder) => {
      const file = join(folder, "big.bin")
      await writeFile(file, new Uint8Array(12_000_000))
      const said = vi.spyOn(console, "log").mockImplementation(() => {})
      try {
        assert.strictEqual(await run(file, "/Inbox/Empty/big.bin"), 12_000_000)
        assert.deepStrictEqual(
          said.mock.calls.map(([line]) => line),
          ["87 %", "100 %"]
        )
      } finally {
        said.mockRestore()
      }
      assert.deepStrictEqual(await names(world, "/Inbox/Empty"), ["big.bin"])
    }
  },

  downloadFile: {
    "download-file goes on where the connection broke, if it is ours": async (run, world, folder) => {
      if (world.isOurs) await world.faults({ fault: "truncate", host: "files", bytes: 200_000, times: 1 })
      const path = await run("/Big.txt", folder)
      assert.strictEqual(await readFile(path, "utf8"), "0123456789".repeat(50_000))
      assert.deepStrictEqual(
        (await asked(world, "files")).map((line) => line.split(" ").at(-1)),
        world.isOurs ? ["200", "206"] : ["200"]
      )
    }
  },

  downloadFolder: {
    "download-folder names what did not come, and gets only that the next time": async (run, world, folder) => {
      await world.faults({ fault: "status", status: 403, host: "files", times: 1 })
      const first = await run("/Inbox", folder)
      assert.strictEqual(first.files + first.failed.length, 2)
      await world.faults()
      const second = { files: 2 - first.files, present: first.files, failed: [] }
      assert.deepStrictEqual(await run("/Inbox", folder), second)
      assert.strictEqual(await readFile(join(folder, "Deep", "May.txt"), "utf8"), "invoice 2")
    }
  },

  searchAndMove: {
    "search-and-move moves what is found, under names of their own": async (run, world) => {
      const moved = await run("May", "/Archive/2030")
      assert.sameMembers([...moved], ["May.txt", "May 1.txt"])
      assert.sameMembers([...(await names(world, "/Archive/2030"))], [...moved])
    }
  },

  shareLink: {
    "share-link returns a link": async (run) => {
      const { refused, url } = await run("/Inbox/May.txt", "p1@contoso.test")
      assert.match(url ?? "", /^https:/)
      assert.deepStrictEqual(refused, [])
    }
  },

  readList: {
    "read-list reads what a filter picks, whatever is in its text": async (run) =>
      assert.deepStrictEqual(await run(team, "Flann O'Brien"), ["Ulysses, 730 pages"])
  },

  createItems: {
    "create-items has a result for each row": async (run) => {
      const wrong = { Title: "Persuasion", Nothing: 1 }
      const row = { Title: "Emma", Pages: 474, Read: new Date("2030-05-01T00:00:00Z") }
      const [first, refused, last] = await run(team, [row, wrong, { Title: "Lady Susan" }])
      assert.deepStrictEqual([first, last], ["3", "4"])
      assert.match(refused ?? "", /^invalidRequest$/i)
    }
  },

  changes: {
    "changes says what changed since the last time": async (run, world, folder) => {
      const file = join(folder, "state.txt")
      assert.include(await run(file), "Big.txt")
      const { id }: { readonly id: string } = JSON.parse(await (await ask(world, "/root:/Big.txt")).text())
      await ask(world, `/items/${id}`, { method: "DELETE" })
      await ask(world, "/root:/New.txt:/content", { method: "PUT", body: "new" })
      assert.includeMembers([...(await run(file))], ["New.txt", `${id} has gone`])
      assert.deepStrictEqual(await run(file), [])
    }
  },

  batchReads: {
    "batch-reads needs one request": async (run, world) => {
      const people = [...numbers(19).map((n) => `p${n}@contoso.test`), "nobody@contoso.test"]
      assert.deepStrictEqual(await run(people), ["nobody@contoso.test"])
      const batches = (await asked(world, "graph")).filter((line) => line === "POST /v1.0/$batch 200")
      assert.lengthOf(batches, 1)
    }
  },

  appOnly: {
    "app-only reads the drive of a person": async (run) =>
      assert.sameMembers(
        [...(await run("ann@contoso.test", { tenant, clientId, certificate, privateKey }))],
        ["Inbox", "Many", "Big.txt"]
      )
  },

  throttling: {
    "throttling tells of retries": async (run, world) => {
      await world.faults({ fault: "throttle", path: "Big", times: 1, retryAfter: "decimal", seconds: 0.01 })
      const [retry, ...rest] = await run("/Big.txt", 60_000)
      assert.match(retry ?? "", /^attempt #?2 .*429/i)
      assert.strictEqual(rest.at(-1), "Big.txt")
      // Each style has its own name of the function.
      if (world.isOurs) assert.match(rest.join(), /^[dD]rives\.item waits: rateLimit,Big\.txt$/)
    },
    "throttling gives up a call that takes too long": async (run, world) => {
      await world.faults({ fault: "stall", path: "Big" })
      assert.deepStrictEqual(await run("/Big.txt", 20), ["given up"])
    }
  }
}

/** Programs of one client, made for a connection to the sandbox; without those that it has no means for. */
export type Written<C> = { readonly [K in keyof Programs]?: (connection: C) => Programs[K] }

/** The tests of these programs, by name. */
export const testsOf = <C>(
  written: Written<C>
): Readonly<Record<string, (connection: C, world: World) => Promise<void>>> => {
  const testsOfOne = <K extends keyof Programs>(name: K) => {
    const made = written[name]
    if (made === undefined) return []
    return Object.entries(behaviours[name]).map(
      ([title, behaviour]) =>
        [
          title,
          async (connection: C, world: World) => {
            const folder = await mkdtemp(join(tmpdir(), "graph-programs-"))
            try {
              await behaviour(made(connection), world, folder)
            } finally {
              await rm(folder, { recursive: true, force: true })
            }
          }
        ] as const
    )
  }
  return Object.fromEntries(Struct.keys(behaviours).flatMap((name) => testsOfOne(name)))
}
