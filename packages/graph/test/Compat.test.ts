/**
 * The 22 operations as programs that know them call them, against the sandbox. What the original gets wrong has its number.
 */
import { assert, describe, it } from "@effect/vitest"
import * as ApiKeys from "@signalbox/api/ApiKeys"
import { startHttpProxy } from "@signalbox/testkit/HttpProxy"
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { Embedded, layer as layerRoom } from "signalbox/Embedded"
import { CompatError, GraphLibrary, type Options } from "../src/Compat.ts"
import { resourcePath } from "../src/internal/compat/Items.ts"
import { app, rejection, signIn, token, withLibrary } from "./support/Library.ts"
import { asked, faults, GraphSandbox, inSandbox } from "./support/Sandbox.ts"

describe("as the app itself", () => {
  it.live("no person signs in, and the default sandbox has a root site", () =>
    inSandbox(
      Effect.gen(function* () {
        const { origin } = yield* GraphSandbox
        yield* Effect.promise(async () => {
          const { client_id, client_secret } = app
          const place = { graphUrl: origin, loginUrl: origin }
          await using graph = new GraphLibrary(
            { client_id, client_secret, tenant: "contoso.test", acts_as: "app" },
            place
          )
          assert.strictEqual((await graph.get_site("root")).root, true)
          assert.lengthOf(await graph.search_for_users("Ann"), 1)
        })
        const tokens = (yield* asked).filter(({ url }) => url.endsWith("/token"))
        assert.deepStrictEqual(
          tokens.map(({ url }) => url),
          ["/contoso.test/oauth2/v2.0/token"]
        )
      }),
      { seed: {} }
    )
  )

  it.each([
    ["tenant", { ...app, acts_as: "app" }],
    ["tenant", { ...app, acts_as: "app", tenant: "common" }],
    ["client_secret", { client_id: "a", acts_as: "app", tenant: "contoso.test" }]
  ] as ReadonlyArray<readonly [string, Options]>)("says that %s is missing", (name, options) => {
    assert.throws(() => new GraphLibrary(options), CompatError, name)
  })
})

describe("the connection", () => {
  it.live("goes through the proxy that the environment names when it is made", () =>
    withLibrary(async (_, folder, { origin }) => {
      const { asked, close, url } = await startHttpProxy({ hosts: { "graph.test": Number(new URL(origin).port) } })
      const before = process.env["http_proxy"]
      process.env["http_proxy"] = url
      try {
        const place = { graphUrl: "http://graph.test", loginUrl: "http://graph.test" }
        await using graph = new GraphLibrary({ ...app, token, file_backend_path: join(folder, "proxied") }, place)
        assert.strictEqual((await rejection(() => graph.get_me())).reason?._tag, "Unauthenticated")
        assert.match(asked()[0] ?? "", /^GET http:\/\/graph\.test\/v1\.0\/me/)
      } finally {
        if (before === undefined) delete process.env["http_proxy"]
        else process.env["http_proxy"] = before
        await close()
      }
    })
  )

  it.live("is over the HTTP client that it is given", () =>
    Effect.promise(async () => {
      const client = HttpClient.make((request, url) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ id: "u1", displayName: url.hostname })))
      )
      const httpClient = Layer.succeed(HttpClient.HttpClient, client)
      const folder = await mkdtemp(join(tmpdir(), "compat-"))
      await using graph = new GraphLibrary(
        { ...app, token, file_backend_path: folder },
        { graphUrl: "https://graph.test", httpClient }
      )
      assert.strictEqual((await graph.get_me()).display_name, "graph.test")
      await rm(folder, { recursive: true, force: true })
    })
  )
})

describe("authorizing", () => {
  it.live("a user authorizes once; later the stored token is enough", () =>
    withLibrary(async (_, folder, { origin }) => {
      const place = { graphUrl: origin, loginUrl: origin }
      const path = join(folder, "tokens", "ann")
      await using first = new GraphLibrary({ file_backend_path: path }, place)
      const url = await first.generate_oauth_authorization_url(app)
      const asked = new URL(url).searchParams.get("scope")?.split(" ") ?? []
      assert.lengthOf(asked, 25)
      const refreshToken = await first.authorize_and_get_token(await signIn(url))
      assert.strictEqual((await first.get_me()).display_name, "Ann Lee")
      // B13: only its owner can read it.
      const file = join(path, "auth_token.txt")
      assert.strictEqual((await stat(file)).mode & 0o777, 0o600)
      assert.include(await readFile(file, "utf8"), refreshToken)

      await using second = new GraphLibrary({ ...app, file_backend_path: path }, place)
      assert.strictEqual((await second.get_me()).display_name, "Ann Lee")
      const rotated = await second.refresh_oauth_token()
      assert.notStrictEqual(rotated, "")

      await using third = new GraphLibrary({ file_backend_path: join(folder, "third") }, place)
      const renewed = await third.configure_client(app.client_id, app.client_secret, { refresh_token: rotated })
      assert.isString(renewed)
      assert.isNull(await third.configure_client(app.client_id, app.client_secret))
      assert.strictEqual((await third.get_me()).mail, "ann@contoso.test")
    })
  )

  it.live("begins in one object and ends in another, each sign-in by its state", () =>
    withLibrary(async (_, folder, { origin }) => {
      const place = { graphUrl: origin, loginUrl: origin }
      const options = { ...app, file_backend_path: join(folder, "halves") }
      await using first = new GraphLibrary(options, place)
      const older = await signIn(await first.generate_oauth_authorization_url())
      const newer = await signIn(await first.generate_oauth_authorization_url())
      assert.strictEqual((await stat(join(options.file_backend_path, "auth_pending.json"))).mode & 0o777, 0o600)

      await using second = new GraphLibrary(options, place)
      for (const back of [older, newer]) assert.notStrictEqual(await second.authorize_and_get_token(back), "")
      assert.strictEqual((await second.get_me()).display_name, "Ann Lee")
      // What has ended is forgotten, also by who began it.
      const again = await rejection(() => first.authorize_and_get_token(newer))
      assert.strictEqual(again.reason?._tag, "StateMismatch")
      assert.include(again.message, "begin one")
      const text = await rejection(() => first.authorize_and_get_token("https://localhost/"))
      assert.include(text.message, "paste the whole address")
    })
  )

  it.live("B2: the refresh token that is passed is the one that is used", () =>
    withLibrary(async (graph) => {
      await graph.authorize_and_get_token(await signIn(await graph.generate_oauth_authorization_url()))
      const error = await rejection(() => graph.refresh_oauth_token("PASSEDSECRET"))
      assert.strictEqual(error.reason?._tag, "InvalidGrant")
      assert.notInclude(String(error) + JSON.stringify(error), "PASSEDSECRET")
    })
  )

  it.live("B9: a token that the service refuses is renewed", () =>
    withLibrary(async (graph, _, { expireAccessTokens }) => {
      await graph.authorize_and_get_token(await signIn(await graph.generate_oauth_authorization_url()))
      await Effect.runPromise(expireAccessTokens)
      assert.strictEqual((await graph.get_me()).display_name, "Ann Lee")
    })
  )

  it.live("B12: a token of one's own, a refresh token alone", () =>
    withLibrary(async (graph, folder, { accessToken, origin }) => {
      const refreshToken = await graph.authorize_and_get_token(
        await signIn(await graph.generate_oauth_authorization_url())
      )
      const place = { graphUrl: origin, loginUrl: origin }
      const token = { access_token: await Effect.runPromise(accessToken("joan@contoso.test")), expires_at: 9e9 }
      await using joan = new GraphLibrary({ token, file_backend_path: join(folder, "joan") }, place)
      assert.strictEqual((await joan.get_me()).display_name, "Joan OneVideo")
      const seeded = { ...app, refresh_token: refreshToken, file_backend_path: join(folder, "seeded") }
      await using ann = new GraphLibrary(seeded, place)
      assert.strictEqual((await ann.get_me()).display_name, "Ann Lee")
    })
  )

  it.live("B12: the token is kept in the vault of a control room", () =>
    withLibrary(async (_, folder, { origin }) => {
      const inRoom = Effect.gen(function* () {
        const { credentials, origin: url } = yield* Embedded
        const { key } = yield* ApiKeys.create("graph", ["Vault.read_secret_values", "Vault.write_secrets"])
        const variables = {
          SIGNALBOX_BASE_URL: url,
          SIGNALBOX_API_KEY: Redacted.value(key),
          SIGNALBOX_WORKSPACE_ID: credentials.workspace_id
        }
        yield* Effect.acquireRelease(
          Effect.sync(() => Object.assign(process.env, variables)),
          () =>
            Effect.sync(() => {
              for (const name of Object.keys(variables)) delete process.env[name]
            })
        )
        yield* Effect.promise(async () => {
          const options = { ...app, vault_backend: true, vault_secret: "office" }
          const place = { graphUrl: origin, loginUrl: origin }
          await using first = new GraphLibrary(options, place)
          const url = await first.generate_oauth_authorization_url()
          // The other half of the sign-in, in another object.
          await using second = new GraphLibrary(options, place)
          await second.authorize_and_get_token(await signIn(url))
          assert.strictEqual((await second.get_me()).display_name, "Ann Lee")
          assert.isString(await second.refresh_oauth_token())
        })
      })
      const room = layerRoom({ data: join(folder, "room"), port: 0, workers: 0 })
      await Effect.runPromise(Effect.scoped(Effect.provide(inRoom, room)))
    })
  )

  it("says what to set where no vault is configured", async () => {
    const options = { ...app, vault_backend: true, vault_secret: "office" }
    await using graph = new GraphLibrary(options)
    const error = await graph.generate_oauth_authorization_url().then(
      () => null,
      (error: unknown) => error
    )
    assert.instanceOf(error, CompatError)
    assert.match(
      error.message,
      /^vault_backend: no vault is available outside of a run; set SIGNALBOX_BASE_URL, SIGNALBOX_API_KEY and SIGNALBOX_WORKSPACE_ID/
    )
  })

  it("B12: arguments that make no sense are named", () => {
    assert.throws(() => new GraphLibrary({ ...app, vault_backend: true }), "vault_secret")
    assert.throws(() => new GraphLibrary({ ...app, token: { nothing: "OWNSECRET" } }), "token")
  })

  it.live("B14: a code that is refused, or of another authorization, shows in no error", () =>
    withLibrary(async (graph) => {
      const url = await graph.generate_oauth_authorization_url()
      const back = new URL(await signIn(url))
      for (const [name, value, reason] of [
        ["state", "OTHERSTATE", "StateMismatch"],
        ["code", "CODESECRET", "InvalidGrant"]
      ] as const) {
        const wrong = new URL(back)
        wrong.searchParams.set(name, value)
        const error = await rejection(() => graph.authorize_and_get_token(wrong.href))
        assert.strictEqual(error.reason?._tag, reason)
        const shown = `${String(error)}${error.stack ?? ""}${JSON.stringify(error)}`
        assert.notInclude(shown, value)
        assert.notInclude(shown, back.searchParams.get("code") ?? "")
      }
    })
  )

  it("get_scopes names them in a stable order", () => {
    const graph = new GraphLibrary()
    assert.lengthOf(graph.get_scopes(), 25)
    assert.deepStrictEqual(graph.get_scopes("drive_all", "Own.Scope"), [
      "offline_access",
      "https://graph.microsoft.com/User.Read",
      "https://graph.microsoft.com/Files.ReadWrite.All",
      "Own.Scope"
    ])
    assert.strictEqual(GraphLibrary.ROBOT_LIBRARY_SCOPE, "GLOBAL")
  })

  it("B15: without an app every operation says so", async () => {
    const graph = new GraphLibrary()
    const calls: ReadonlyArray<() => unknown> = [
      () => graph.authorize_and_get_token("https://x/?code=1"),
      () => graph.generate_oauth_authorization_url(),
      () => graph.refresh_oauth_token(),
      () => graph.get_me(),
      () => graph.search_for_users("x"),
      () => graph.get_drive_instance(),
      () => graph.get_file_instance("d", "/x"),
      () => graph.get_folder_instance(),
      () => graph.list_files_in_drive_folder(),
      () => graph.find_drive_file("x"),
      () => graph.download_file_from_drive("/x"),
      () => graph.download_folder_from_drive("/x"),
      () => graph.download_file_from_share_link("https://x"),
      () => graph.upload_file_to_drive("/x"),
      () => graph.get_site("root"),
      () => graph.list_site_drives("s"),
      () => graph.list_files_in_site_drive("s"),
      () => graph.download_file_from_site("/x", "s"),
      () => graph.create_site_list({ displayName: "x" }, "s"),
      () => graph.get_items_from_site_list("x", "s")
    ]
    for (const call of calls) {
      const error = await rejection(call)
      assert.strictEqual(error._tag, "CompatError", String(call))
      assert.include(error.message, "configure_client")
    }
  })
})

describe("users and drives", () => {
  const resources: ReadonlyArray<readonly [string | undefined, string]> = [
    [undefined, "me"],
    [" ", "me"],
    ["ann@contoso.test", "users/ann@contoso.test"],
    ["user: 7", "users/7"],
    ["group:g1", "groups/g1"],
    ["site:h,1,2", "sites/h,1,2"],
    ["groups/g1", "groups/g1"]
  ]
  for (const [resource, path] of resources) {
    it(`the resource ${String(resource)} is ${path}`, () => assert.strictEqual(resourcePath(resource), path))
  }

  it.live("B3: a search finds more than a page of users; properties have the known names", () =>
    withLibrary(async (graph) => {
      assert.lengthOf(await graph.search_for_users("Pat"), 120)
      const [joan] = await graph.search_for_users("joan@", { search_field: "mail" })
      assert.strictEqual(joan?.user_principal_name, "joan@contoso.test")
      const members = await graph.search_for_users("Ann", { resource: "groups/g1/members" })
      assert.deepStrictEqual(
        members.map(({ full_name }) => full_name),
        ["Ann Lee"]
      )
    })
  )

  it.live("fields beyond the usual ones are there when they are selected and have a value", () =>
    withLibrary(async (graph) => {
      assert.notProperty(await graph.get_me(), "department")
      const me = await graph.get_me({ select: ["displayName", "department", "aboutMe", "hireDate", "interests"] })
      assert.deepInclude(me, { display_name: "Ann Lee", department: "Sales", interests: ["chess"] })
      for (const empty of ["about_me", "hire_date", "show_in_address_list"]) assert.notProperty(me, empty)
      const [found] = await graph.search_for_users("Ann", { select: ["department"] })
      assert.strictEqual(found?.department, "Sales")
    })
  )

  it.live("drives, files and folders as objects", () =>
    withLibrary(async (graph) => {
      const drive = await graph.get_drive_instance()
      assert.strictEqual(drive.owner?.display_name, "Ann Lee")
      assert.strictEqual((await graph.get_drive_instance({ drive_id: drive.object_id })).object_id, drive.object_id)
      const team = await graph.get_drive_instance({ resource: "group:g1" })
      assert.notStrictEqual(team.object_id, drive.object_id)
      // B5: the name is the name.
      const file = await graph.get_file_instance(drive, "/Docs/a #1%.txt")
      assert.deepInclude(file, { name: "a #1%.txt", size: 11, is_file: true, is_folder: false, extension: ".txt" })
      // B18: an instant, not a text of some time zone.
      assert.instanceOf(file.modified, Date)
      assert.strictEqual((await graph.get_file_instance(drive.object_id, file)).object_id, file.object_id)
      const folder = await graph.get_folder_instance({ drive, folder: "Docs" })
      assert.strictEqual(folder.child_count, 3)
      for (const root of [undefined, "", "/", "\\", "root", "ROOT"]) {
        const found = await graph.get_folder_instance(root === undefined ? {} : { folder: root })
        assert.strictEqual(found.name, "root")
      }
      // A name like any other.
      assert.strictEqual((await graph.get_folder_instance({ folder: "Root" })).child_count, 1)
      assert.lengthOf(await graph.list_files_in_drive_folder({ target_folder: "Root" }), 1)
      assert.strictEqual((await rejection(() => graph.get_file_instance(drive, "/Docs"))).reason?._tag, "NotAFile")
      const notFolder = await rejection(() => graph.get_folder_instance({ folder: "/nothing.bin" }))
      assert.strictEqual(notFolder.reason?._tag, "NotAFolder")
      // B18: what went wrong is in the type.
      assert.strictEqual((await rejection(() => graph.get_file_instance(drive, "/no"))).reason?._tag, "NotFound")
    })
  )

  it.live("B17: lists and searches, with folders and without, one not changed by another", () =>
    withLibrary(async (graph) => {
      const names = async (items: ReturnType<GraphLibrary["find_drive_file"]>) => (await items).map(({ name }) => name)
      for (let round = 0; round < 2; round++) {
        assert.sameMembers(await names(graph.list_files_in_drive_folder()), [
          "Notes",
          "Plan of Joan.txt",
          "nothing.bin"
        ])
        assert.include(await names(graph.list_files_in_drive_folder({ include_folders: true })), "Docs")
        const docs = await graph.get_folder_instance({ folder: "Docs" })
        assert.lengthOf(await names(graph.list_files_in_drive_folder({ target_folder: docs })), 2)
        assert.deepStrictEqual(await names(graph.find_drive_file("O'Brien & co")), ["O'Brien & co.txt"])
        assert.include(await names(graph.find_drive_file("plan")), "Plan of Joan.txt")
        assert.include(await names(graph.find_drive_file("plan", { target_folder: "" })), "Plan of Joan.txt")
        assert.deepStrictEqual(await names(graph.find_drive_file("plan", { target_folder: "root" })), [])
        // By name, and by what is in it.
        assert.deepStrictEqual(await names(graph.find_drive_file("deep", { target_folder: docs })), ["x.txt"])
        const both = await names(graph.find_drive_file("deep", { target_folder: docs, include_folders: true }))
        assert.deepStrictEqual(both, ["Deep", "x.txt"])
      }
      const teamFiles = await names(graph.list_files_in_drive_folder({ resource: "group:g1" }))
      assert.deepStrictEqual(teamFiles, ["Report.txt"])
    })
  )

  it.live("files go down and up; B1, B7", () =>
    withLibrary(async (graph, folder) => {
      const to_path = join(folder, "not", "there")
      const path = await graph.download_file_from_drive("/Docs/a #1%.txt", { to_path, name: "renamed" })
      assert.strictEqual(path, join(to_path, "renamed.txt"))
      assert.strictEqual(await readFile(path, "utf8"), "hello world")
      const [hit] = await graph.find_drive_file("plan")
      const plan = await graph.download_file_from_drive(hit ?? "", { to_path })
      assert.strictEqual(await readFile(plan, "utf8"), "the plan")

      await writeFile(join(folder, "up #1.txt"), "from here")
      const item = await graph.upload_file_to_drive(join(folder, "up #1.txt"), { target_folder: "/Empty" })
      assert.strictEqual(item.parent_path?.endsWith("/Empty"), true)
      const shared = await graph.download_file_from_share_link(item.web_url ?? "", { to_path, name: "shared.dat" })
      assert.strictEqual(await readFile(shared, "utf8"), "from here")
      const missing = await rejection(() => graph.upload_file_to_drive(path, { target_folder: "/Tpyo" }))
      assert.strictEqual(missing.reason?._tag, "NotFound")

      const all = await graph.download_folder_from_drive("/Docs", { to_path: join(folder, "docs") })
      assert.sameMembers(await readdir(all), ["Deep", "O'Brien & co.txt", "a #1%.txt"])
    })
  )

  it.live("B4: a folder that does not come whole is told", () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        yield* faults({ fault: "status", status: 404, host: "files", path: "/download/", every: 2 })
        yield* Effect.promise(async () => {
          const folder = await mkdtemp(join(tmpdir(), "compat-"))
          const options = { token: { access_token: token, expires_at: 9e9 }, file_backend_path: folder }
          await using graph = new GraphLibrary(options, { graphUrl: origin, loginUrl: origin })
          const error = await rejection(() =>
            graph.download_folder_from_drive("/Docs", { to_path: join(folder, "docs") })
          )
          await rm(folder, { recursive: true })
          assert.strictEqual(error._tag, "FolderIncomplete")
          assert.include(error.message, "NotFound")
        })
      })
    )
  )
})

describe("sites", () => {
  it.live("sites in all forms, their libraries and files; B6, B16", () =>
    inSandbox(
      Effect.gen(function* () {
        const { accessToken, origin } = yield* GraphSandbox
        const token = yield* accessToken()
        yield* faults()
        yield* Effect.promise(async () => {
          const folder = await mkdtemp(join(tmpdir(), "compat-"))
          const options = { token: { access_token: token, expires_at: 9e9 }, file_backend_path: folder }
          await using graph = new GraphLibrary(options, { graphUrl: origin, loginUrl: origin })
          const root = await graph.get_site("root", { resource: "groups/g1" })
          const [host = "", collection = "", web = ""] = root.object_id.split(",")
          const site = await graph.get_site(host, "/sites/team")
          assert.strictEqual(site.display_name, "Team")
          assert.strictEqual(site.object_id, root.object_id)
          for (const args of [[host, collection, web], [`${host}, ${collection}, ${web}`], [host, "sites/team"]]) {
            assert.strictEqual((await graph.get_site(...args)).object_id, site.object_id)
          }
          assert.include((await rejection(() => graph.get_site())).message, "one to three")
          assert.include((await rejection(() => graph.get_site("1", "2", "3", "4"))).message, "4 were given")

          const drives = await graph.list_site_drives(site)
          assert.deepStrictEqual(
            drives.map(({ name }) => name),
            ["Documents", "Archive"]
          )
          const [, archive] = drives
          const files = await graph.list_files_in_site_drive(site.object_id, { include_folders: true })
          assert.sameMembers(
            files.map(({ name }) => name),
            ["Report.txt", "Sub"]
          )
          assert.lengthOf(await graph.list_files_in_site_drive(site, { target_folder: "Sub" }), 1)
          assert.lengthOf(
            await graph.list_files_in_site_drive(site, archive === undefined ? {} : { drive: archive }),
            1
          )
          const path = await graph.download_file_from_site("/Report.txt", site, { to_path: folder })
          assert.strictEqual(await readFile(path, "utf8"), "42")
          await rm(folder, { recursive: true })
        })
        for (const { url } of yield* asked) assert.notInclude(url.split("?")[0], "//")
      })
    )
  )

  it.live("lists: made with their columns, rows as a table; B5", () =>
    withLibrary(async (graph) => {
      const site = await graph.get_site("root", { resource: "groups/g1" })
      const rows = await graph.get_items_from_site_list("A/B #1", site)
      assert.deepStrictEqual(
        rows.map(({ Title, Page_x0020_Count, object_id }) => [Title, Page_x0020_Count, typeof object_id]),
        [
          ["one", 3, "string"],
          ["two", 5, "string"]
        ]
      )
      const list = await graph.create_site_list(
        { displayName: "Books", columns: [{ name: "Page Count", number: {} }], list: { template: "genericList" } },
        site
      )
      assert.strictEqual(list.display_name, "Books")
      assert.strictEqual(list.column_name_cw["Page Count"], "Page_x0020_Count")
      assert.deepStrictEqual(await graph.get_items_from_site_list("Books", site), [])
    })
  )
})
