/**
 * The 22 operations with each of their parameters, and a test of each parameter: what it does that the call without it does not.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { type Connection, GraphLibrary } from "../src/Compat.ts"
import { app, rejection, signIn, withLibrary } from "./support/Library.ts"
import type { GraphSandbox } from "./support/Sandbox.ts"

/** What a test of a parameter has. */
interface World {
  readonly graph: GraphLibrary
  /** A library in which nobody has signed in yet; its tokens are in a folder of this name. */
  readonly fresh: (name: string, app?: { readonly client_id: string; readonly client_secret: string }) => GraphLibrary
  readonly folder: string
  readonly tools: typeof GraphSandbox.Service
}

type Test = (world: World) => Promise<void>

const text = (path: string) => readFile(path, "utf8")
const names = (items: ReadonlyArray<{ readonly name?: string | null }>) => items.map(({ name }) => name)
const team = (graph: GraphLibrary) => graph.get_site("root", { resource: "groups/g1" })
const archive = async (graph: GraphLibrary) => {
  const drives = await graph.list_site_drives(await team(graph))
  return drives.find(({ name }) => name === "Archive") ?? assert.fail("there is no library Archive")
}
/** A local file to upload. */
const local = async (folder: string, name = "up.txt", contents = "from here") => {
  const path = join(folder, name)
  await writeFile(path, contents)
  return path
}
const query = (url: string) => new URL(url).searchParams

/** A file that arrives otherwise than it is stored: refused, unless nothing is compared. */
const verifies = async (download: (options: { readonly verify?: boolean }) => Promise<string>) => {
  assert.strictEqual((await rejection(() => download({}))).reason?._tag, "Mismatch")
  assert.isString(await download({ verify: false }))
}

const operations: Readonly<Record<string, Readonly<Record<string, Test>>>> = {
  authorize_and_get_token: {
    authorization_url: async ({ fresh }) => {
      const graph = fresh("a", app)
      const back = await signIn(await graph.generate_oauth_authorization_url())
      assert.isNotEmpty(await graph.authorize_and_get_token(back))
      assert.strictEqual((await graph.get_me()).display_name, "Ann Lee")
    }
  },
  configure_client: {
    client_id: async ({ fresh }) => {
      const graph = fresh("a")
      await graph.configure_client(app.client_id)
      assert.strictEqual(query(await graph.generate_oauth_authorization_url()).get("client_id"), app.client_id)
    },
    client_secret: async ({ fresh }) => {
      const graph = fresh("a")
      await graph.configure_client(app.client_id, "wrong", { redirect_uri: app.redirect_uri })
      const back = await signIn(await graph.generate_oauth_authorization_url())
      assert.strictEqual((await rejection(() => graph.authorize_and_get_token(back))).reason?._tag, "InvalidClient")
    },
    refresh_token: async ({ fresh }) => {
      const first = fresh("a", app)
      const refresh_token = await first.authorize_and_get_token(
        await signIn(await first.generate_oauth_authorization_url())
      )
      const graph = fresh("b")
      assert.isNotEmpty(await graph.configure_client(app.client_id, app.client_secret, { refresh_token }))
      assert.strictEqual((await graph.get_me()).display_name, "Ann Lee")
    },
    redirect_uri: async ({ fresh }) => {
      const graph = fresh("a")
      await graph.configure_client(app.client_id, app.client_secret, { redirect_uri: "http://localhost/x" })
      const url = await graph.generate_oauth_authorization_url()
      assert.strictEqual(query(url).get("redirect_uri"), "http://localhost/x")
    }
  },
  generate_oauth_authorization_url: {
    client_id: async ({ fresh }) => {
      const url = await fresh("a").generate_oauth_authorization_url({ client_id: "other" })
      assert.strictEqual(query(url).get("client_id"), "other")
    },
    client_secret: async ({ fresh }) => {
      const graph = fresh("a")
      const url = await graph.generate_oauth_authorization_url({ ...app, client_secret: "wrong" })
      const error = await rejection(async () => graph.authorize_and_get_token(await signIn(url)))
      assert.strictEqual(error.reason?._tag, "InvalidClient")
    },
    redirect_uri: async ({ fresh }) => {
      const url = await fresh("a", app).generate_oauth_authorization_url({ redirect_uri: "http://localhost/y" })
      assert.strictEqual(query(url).get("redirect_uri"), "http://localhost/y")
    },
    scopes: async ({ fresh }) => {
      const url = await fresh("a", app).generate_oauth_authorization_url({ scopes: ["offline_access", "Own.Scope"] })
      assert.strictEqual(query(url).get("scope"), "offline_access Own.Scope")
    }
  },
  refresh_oauth_token: {
    refresh_token: async ({ fresh }) => {
      const first = fresh("a", app)
      const token = await first.authorize_and_get_token(await signIn(await first.generate_oauth_authorization_url()))
      assert.isNotEmpty(await fresh("b", app).refresh_oauth_token(token))
      assert.isNotEmpty(await first.refresh_oauth_token())
    }
  },
  get_scopes: {
    scopes: async ({ graph }) => {
      assert.lengthOf(graph.get_scopes("basic"), 2)
      assert.lengthOf(graph.get_scopes(), 25)
    }
  },
  get_me: {
    select: async ({ graph }) => {
      assert.notProperty(await graph.get_me(), "department")
      assert.propertyVal(await graph.get_me({ select: ["department"] }), "department", "Sales")
    }
  },
  search_for_users: {
    search_string: async ({ graph }) => assert.lengthOf(await graph.search_for_users("Pat"), 120),
    search_field: async ({ graph }) => {
      assert.lengthOf(await graph.search_for_users("joan@contoso", { search_field: "mail" }), 1)
      assert.lengthOf(await graph.search_for_users("joan@contoso"), 0)
    },
    resource: async ({ graph }) => {
      assert.lengthOf(await graph.search_for_users("Joan"), 1)
      assert.lengthOf(await graph.search_for_users("Joan", { resource: "groups/g1/members" }), 0)
    },
    select: async ({ graph }) => {
      const [ann] = await graph.search_for_users("Ann", { select: ["department"] })
      assert.strictEqual(ann?.department, "Sales")
    }
  },
  get_drive_instance: {
    resource: async ({ graph }) => {
      const drive = await graph.get_drive_instance({ resource: "joan@contoso.test" })
      assert.strictEqual(drive.owner?.display_name, "Joan OneVideo")
    },
    drive_id: async ({ graph }) => {
      const { object_id } = await archive(graph)
      assert.strictEqual((await graph.get_drive_instance({ drive_id: object_id })).name, "Archive")
    }
  },
  get_file_instance: {
    drive: async ({ graph }) =>
      assert.strictEqual((await graph.get_file_instance(await archive(graph), "/Old.txt")).name, "Old.txt"),
    file: async ({ graph }) => {
      const drive = await graph.get_drive_instance()
      const file = await graph.get_file_instance(drive, "/Docs/a #1%.txt")
      assert.strictEqual((await graph.get_file_instance(drive, file)).object_id, file.object_id)
    }
  },
  get_folder_instance: {
    drive: async ({ graph }) =>
      assert.strictEqual((await graph.get_folder_instance({ drive: await archive(graph) })).child_count, 1),
    folder: async ({ graph }) => {
      const folder = await graph.get_folder_instance({ folder: "/Docs" })
      assert.strictEqual(folder.name, "Docs")
      assert.strictEqual((await graph.get_folder_instance({ folder })).object_id, folder.object_id)
    }
  },
  list_files_in_drive_folder: {
    target_folder: async ({ graph }) =>
      assert.sameMembers(names(await graph.list_files_in_drive_folder({ target_folder: "/Docs" })), [
        "a #1%.txt",
        "O'Brien & co.txt"
      ]),
    include_folders: async ({ graph }) => {
      assert.notInclude(names(await graph.list_files_in_drive_folder()), "Docs")
      assert.include(names(await graph.list_files_in_drive_folder({ include_folders: true })), "Docs")
    },
    resource: async ({ graph }) =>
      assert.deepStrictEqual(names(await graph.list_files_in_drive_folder({ resource: "group:g1" })), ["Report.txt"]),
    drive: async ({ graph }) =>
      assert.deepStrictEqual(names(await graph.list_files_in_drive_folder({ drive: await archive(graph) })), [
        "Old.txt"
      ])
  },
  find_drive_file: {
    search_string: async ({ graph }) =>
      assert.deepStrictEqual(names(await graph.find_drive_file("O'Brien & co")), ["O'Brien & co.txt"]),
    target_folder: async ({ graph }) => {
      assert.include(names(await graph.find_drive_file("plan")), "Plan of Joan.txt")
      assert.deepStrictEqual(names(await graph.find_drive_file("plan", { target_folder: "root" })), [])
    },
    include_folders: async ({ graph }) => {
      assert.notInclude(names(await graph.find_drive_file("deep")), "Deep")
      assert.include(names(await graph.find_drive_file("deep", { include_folders: true })), "Deep")
    },
    resource: async ({ graph }) =>
      assert.include(names(await graph.find_drive_file("report", { resource: "group:g1" })), "Report.txt"),
    drive: async ({ graph }) =>
      assert.deepStrictEqual(names(await graph.find_drive_file("old", { drive: await archive(graph) })), ["Old.txt"])
  },
  download_file_from_drive: {
    target_file: async ({ folder: to_path, graph }) => {
      const [file] = await graph.find_drive_file("O'Brien & co")
      assert.strictEqual(await text(await graph.download_file_from_drive(file ?? "", { to_path })), "a letter")
      assert.strictEqual(
        await text(await graph.download_file_from_drive("/Docs/a #1%.txt", { to_path })),
        "hello world"
      )
    },
    to_path: async ({ folder, graph }) => {
      const to_path = join(folder, "not", "there")
      assert.strictEqual(
        await graph.download_file_from_drive("/nothing.bin", { to_path }),
        join(to_path, "nothing.bin")
      )
    },
    name: async ({ folder: to_path, graph }) => {
      const path = await graph.download_file_from_drive("/Docs/a #1%.txt", { to_path, name: "b" })
      assert.strictEqual(basename(path), "b.txt")
    },
    resource: async ({ folder: to_path, graph }) =>
      assert.strictEqual(
        await text(await graph.download_file_from_drive("/Report.txt", { to_path, resource: "group:g1" })),
        "42"
      ),
    drive: async ({ folder: to_path, graph }) =>
      assert.strictEqual(
        await text(await graph.download_file_from_drive("/Old.txt", { to_path, drive: await archive(graph) })),
        "old"
      ),
    verify: ({ folder: to_path, graph }) =>
      verifies((options) => graph.download_file_from_drive("/Docs/a #1%.txt", { to_path, ...options }))
  },
  download_folder_from_drive: {
    target_folder: async ({ folder, graph }) => {
      const to_path = join(folder, "docs")
      await graph.download_folder_from_drive(await graph.get_folder_instance({ folder: "/Docs" }), { to_path })
      assert.strictEqual(await text(join(to_path, "Deep", "er", "x.txt")), "deep")
    },
    to_path: async ({ folder, graph }) => {
      const to_path = join(folder, "not", "there")
      assert.strictEqual(await graph.download_folder_from_drive("/Docs", { to_path }), to_path)
    },
    resource: async ({ folder: to_path, graph }) => {
      await graph.download_folder_from_drive("/Sub", { to_path, resource: "group:g1" })
      assert.strictEqual(await text(join(to_path, "Old.txt")), "old")
    },
    drive: async ({ folder: to_path, graph }) => {
      await graph.download_folder_from_drive("/", { to_path, drive: await archive(graph) })
      assert.strictEqual(await text(join(to_path, "Old.txt")), "old")
    },
    verify: async ({ folder: to_path, graph }) => {
      const download = (options: { readonly verify?: boolean }) =>
        graph.download_folder_from_drive("/Docs", { to_path, ...options })
      assert.strictEqual((await rejection(() => download({})))._tag, "FolderIncomplete")
      assert.strictEqual(await download({ verify: false }), to_path)
    }
  },
  download_file_from_share_link: {
    share_url: async ({ folder, graph }) => {
      const { web_url } = await graph.upload_file_to_drive(await local(folder))
      const to_path = join(folder, "in")
      assert.strictEqual(await text(await graph.download_file_from_share_link(web_url ?? "", { to_path })), "from here")
    },
    to_path: async ({ folder, graph }) => {
      const { web_url } = await graph.upload_file_to_drive(await local(folder))
      const to_path = join(folder, "not", "there")
      assert.strictEqual(await graph.download_file_from_share_link(web_url ?? "", { to_path }), join(to_path, "up.txt"))
    },
    name: async ({ folder, graph }) => {
      const { web_url } = await graph.upload_file_to_drive(await local(folder))
      const path = await graph.download_file_from_share_link(web_url ?? "", { to_path: folder, name: "shared" })
      assert.strictEqual(basename(path), "shared.txt")
    },
    verify: async ({ folder, graph }) => {
      const { web_url } = await graph.upload_file_to_drive(await local(folder))
      await verifies((options) => graph.download_file_from_share_link(web_url ?? "", { to_path: folder, ...options }))
    }
  },
  upload_file_to_drive: {
    file_path: async ({ folder, graph }) => {
      const { name, size } = await graph.upload_file_to_drive(await local(folder, "up #1.txt"))
      assert.deepStrictEqual([name, size], ["up #1.txt", 9])
    },
    target_folder: async ({ folder, graph }) => {
      const { parent_path } = await graph.upload_file_to_drive(await local(folder), { target_folder: "/Empty" })
      assert.match(parent_path ?? "", /\/Empty$/)
    },
    resource: async ({ folder, graph }) => {
      await graph.upload_file_to_drive(await local(folder), { resource: "group:g1" })
      assert.include(names(await graph.list_files_in_site_drive(await team(graph))), "up.txt")
    },
    drive: async ({ folder, graph }) => {
      const drive = await archive(graph)
      await graph.upload_file_to_drive(await local(folder), { drive })
      assert.include(names(await graph.list_files_in_drive_folder({ drive })), "up.txt")
    },
    verify: async ({ folder, graph }) => {
      const file = await local(folder, "up.docx")
      const upload = (options: { readonly verify?: boolean }) =>
        graph.upload_file_to_drive(file, { resource: "group:g1", ...options })
      assert.isNotNull((await upload({})).difference)
      assert.isNull((await upload({ verify: false })).difference)
    }
  },
  get_site: {
    args: async ({ graph }) => {
      const { object_id } = await team(graph)
      const [host = "", collection = "", web = ""] = object_id.split(",")
      for (const args of [[object_id], [host, "/sites/team"], [host, collection, web]]) {
        assert.strictEqual((await graph.get_site(...args)).object_id, object_id)
      }
    },
    resource: async ({ graph }) => {
      assert.strictEqual((await graph.get_site("root", { resource: "groups/g1" })).display_name, "Team")
      assert.strictEqual((await rejection(() => graph.get_site("root"))).reason?._tag, "NotFound")
    }
  },
  list_site_drives: {
    site: async ({ graph }) => {
      const site = await team(graph)
      for (const one of [site, site.object_id]) {
        assert.deepStrictEqual(names(await graph.list_site_drives(one)), ["Documents", "Archive"])
      }
    }
  },
  list_files_in_site_drive: {
    site: async ({ graph }) => {
      const site = await team(graph)
      for (const one of [site, site.object_id]) {
        assert.deepStrictEqual(names(await graph.list_files_in_site_drive(one)), ["Report.txt"])
      }
    },
    include_folders: async ({ graph }) => {
      const files = await graph.list_files_in_site_drive(await team(graph), { include_folders: true })
      assert.sameMembers(names(files), ["Report.txt", "Sub"])
    },
    drive: async ({ graph }) => {
      const files = await graph.list_files_in_site_drive(await team(graph), { drive: await archive(graph) })
      assert.deepStrictEqual(names(files), ["Old.txt"])
    },
    target_folder: async ({ graph }) => {
      const files = await graph.list_files_in_site_drive(await team(graph), { target_folder: "/Sub" })
      assert.deepStrictEqual(names(files), ["Old.txt"])
    }
  },
  download_file_from_site: {
    target_file: async ({ folder: to_path, graph }) => {
      const site = await team(graph)
      const [file] = await graph.list_files_in_site_drive(site)
      assert.strictEqual(await text(await graph.download_file_from_site(file ?? "", site, { to_path })), "42")
    },
    site: async ({ folder: to_path, graph }) => {
      const { object_id } = await team(graph)
      assert.strictEqual(await text(await graph.download_file_from_site("/Report.txt", object_id, { to_path })), "42")
    },
    to_path: async ({ folder, graph }) => {
      const to_path = join(folder, "not", "there")
      const path = await graph.download_file_from_site("/Report.txt", await team(graph), { to_path })
      assert.strictEqual(path, join(to_path, "Report.txt"))
    },
    name: async ({ folder: to_path, graph }) => {
      const path = await graph.download_file_from_site("/Report.txt", await team(graph), { to_path, name: "r" })
      assert.strictEqual(basename(path), "r.txt")
    },
    drive: async ({ folder: to_path, graph }) => {
      const options = { to_path, drive: await archive(graph) }
      assert.strictEqual(await text(await graph.download_file_from_site("/Old.txt", await team(graph), options)), "old")
    },
    // Of a library a difference is no failure; the item is looked at again for it.
    verify: async ({ folder: to_path, graph, tools }) => {
      const site = await team(graph)
      const requestsOf = async (options: { readonly verify?: boolean }) => {
        await Effect.runPromise(tools.forgetRequests)
        assert.strictEqual(
          await text(await graph.download_file_from_site("/Report.txt", site, { to_path, ...options })),
          "xx"
        )
        return (await Effect.runPromise(tools.requests)).length
      }
      assert.isAbove(await requestsOf({}), await requestsOf({ verify: false }))
    }
  },
  create_site_list: {
    list_data: async ({ graph }) => {
      const data = { displayName: "Books", columns: [{ name: "Page Count", number: {} }] }
      const list = await graph.create_site_list(data, await team(graph))
      assert.strictEqual(list.column_name_cw["Page Count"], "Page_x0020_Count")
    },
    site: async ({ graph }) => {
      const { object_id } = await team(graph)
      await graph.create_site_list({ displayName: "Books" }, object_id)
      assert.deepStrictEqual(await graph.get_items_from_site_list("Books", object_id), [])
    }
  },
  get_items_from_site_list: {
    list_name: async ({ graph }) =>
      assert.lengthOf(await graph.get_items_from_site_list("A/B #1", await team(graph)), 2),
    site: async ({ graph }) =>
      assert.lengthOf(await graph.get_items_from_site_list("A/B #1", (await team(graph)).object_id), 2)
  }
}

/** Files arrive with other bytes than they are stored with. */
const corrupting: Connection["httpClient"] = Layer.provide(
  FetchHttpClient.layer,
  Layer.succeed(FetchHttpClient.Fetch, async (input, init) => {
    const response = await fetch(input, init)
    if (!response.url.includes("/download/")) return response
    return new Response("x".repeat((await response.arrayBuffer()).byteLength), response)
  })
)

const run = (operation: string, parameter: string, test: Test) =>
  withLibrary(
    async (graph, folder, tools) => {
      const opened: Array<GraphLibrary> = []
      const fresh: World["fresh"] = (name, own) => {
        const place = { graphUrl: tools.origin, loginUrl: tools.origin }
        const made = new GraphLibrary({ ...own, file_backend_path: join(folder, `tokens-${name}`) }, place)
        opened.push(made)
        return made
      }
      const files = join(folder, "files")
      await mkdir(files)
      await test({ graph, fresh, folder: files, tools })
      for (const library of opened) await library.close()
    },
    {},
    {
      rewriteOffice: true,
      httpClient: parameter === "verify" && operation.startsWith("download") ? corrupting : undefined
    }
  )

describe("each parameter of", () => {
  for (const [operation, parameters] of Object.entries(operations)) {
    describe(operation, () => {
      for (const [parameter, test] of Object.entries(parameters)) {
        it.live(parameter, () => run(operation, parameter, test))
      }
    })
  }
})

describe("the table", () => {
  it("has the 22 operations", () => {
    const { constructor: _, close: __, ...methods } = Object.getOwnPropertyDescriptors(GraphLibrary.prototype)
    assert.sameMembers(Object.keys(operations), Object.keys(methods))
    assert.lengthOf(Object.keys(operations), 22)
  })

  it("of the README has the same parameters", () => {
    const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8")
    const rows = readme.split("\n").filter((line) => /^\| `[a-z]+_[a-z_]+`/.test(line))
    const told = rows.map((row) => Array.from(row.matchAll(/`([a-z_]+)`/g), ([, name]) => name))
    assert.deepStrictEqual(
      told.map(([operation, ...parameters]) => [operation, parameters]),
      Object.entries(operations).map(([operation, parameters]) => [operation, Object.keys(parameters)])
    )
  })
})
