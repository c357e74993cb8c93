/** What is served: its weight, and that it is whole. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import * as Files from "@signalbox/console/Files"
import * as Effect from "effect/Effect"
import { gzipSync } from "node:zlib"

const kilobyte = 1000

const text = (file: Files.ConsoleFile | undefined) => new TextDecoder().decode(file?.bytes)
const weight = (files: ReadonlyArray<Files.ConsoleFile | undefined>) =>
  files.reduce((sum, file) => sum + gzipSync(file?.bytes ?? "", { level: 9 }).length, 0)

layer(NodeServices.layer, { excludeTestServices: true, timeout: "4 minutes" })("the console", (it) => {
  it.effect("is one page with one style and one script, which it loads from its folder", () =>
    Effect.gen(function* () {
      const files = yield* Files.read
      const page = text(files["index.html"])
      const named = [...page.matchAll(/(?:src|href)="((?!data:)[^"]+)"/g)].map(([, name = ""]) => name)
      assert.lengthOf(named, 2)
      for (const name of named) {
        assert.match(name, /^[a-z]+-[\w-]+\.(js|css)$/)
        assert.isTrue(files[name]?.immutable, name)
      }
      assert.notMatch(page, /<script(?![^>]*src=)|<style|\son\w+=/)
      assert.isFalse(files["index.html"]?.immutable)
    })
  )

  it.effect("says what each of its files is", () =>
    Effect.gen(function* () {
      const types = Object.entries(yield* Files.read).map(
        ([name, { contentType }]) => [name.slice(name.lastIndexOf(".")), contentType] as const
      )
      assert.deepStrictEqual(Object.fromEntries(types), {
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8"
      })
    })
  )

  it.effect("weighs little: 60 KB of script at first, 131 KB in all, 14 KB of style, compressed", () =>
    Effect.gen(function* () {
      const files = Object.entries(yield* Files.read)
      const ending = (suffix: string) => files.filter(([name]) => name.endsWith(suffix))
      const scripts = ending(".js").map(([, file]) => file)
      const first = ending(".js").filter(([name]) => /^(main|Overview|List)-/.test(name))
      assert.isAtLeast(first.length, 2)
      assert.isBelow(weight(first.map(([, file]) => file)), 60 * kilobyte)
      assert.isBelow(weight(scripts), 131 * kilobyte)
      assert.isBelow(weight(ending(".css").map(([, file]) => file)), 14 * kilobyte)
    })
  )
})
