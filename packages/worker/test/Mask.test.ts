/** Values of secrets, hidden in what a step run writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Mask from "../src/internal/agent/Mask.ts"
import * as MaskedFile from "../src/internal/agent/MaskedFile.ts"
import * as Lines from "../src/internal/process/Lines.ts"

const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END KEY-----\n"

const hiding = (...values: ReadonlyArray<Parameters<Mask.Mask["add"]>[0]>) => {
  const mask = Mask.make()
  for (const value of values) mask.add(value)
  return mask
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe("a value of a secret", () => {
  const value = 'p/ss wörd(1)+"2"'
  const utf8 = Buffer.from(value)
  for (const [form, text] of Object.entries({
    itself: value,
    "in JSON": JSON.stringify(value).slice(1, -1),
    "in base64": utf8.toString("base64").replace(/=+$/, ""),
    "in base64 of addresses": utf8.toString("base64url"),
    "in an address, as JavaScript writes it": encodeURIComponent(value),
    "in an address, as Python writes it": "p/ss%20w%C3%B6rd%281%29%2B%222%22",
    "in a form": "p%2Fss+w%C3%B6rd%281%29%2B%222%22",
    "in lower-case digits": "p%2fss%20w%c3%b6rd%281%29%2b%222%22"
  })) {
    it(`is hidden ${form}`, () => {
      assert.strictEqual(hiding(value).text(`<${text}> and <${text}>`), "<***> and <***>")
    })
  }

  for (const before of ["", "u", "us", "use", "user", "user:"]) {
    for (const behind of ["", "!", "@host", " and more"]) {
      for (const encoding of ["base64", "base64url"] as const) {
        it(`is hidden in ${encoding} between "${before}" and "${behind}", wherever the text is cut`, () => {
          const text = `Basic ${Buffer.from(`${before}${value}${behind}`).toString(encoding)} sent`
          const from = 6 + Math.ceil((Buffer.byteLength(before) * 8) / 6)
          const bits = Buffer.byteLength(before + value) * 8
          // A character at the end that also has bits of what is behind is hidden where those are zero.
          const hidden = [Math.floor(bits / 6), Math.ceil(bits / 6)].map(
            (end) => `${text.slice(0, from)}***${text.slice(6 + end)}`
          )
          for (let size = 1; size <= text.length; size++) {
            const masking = hiding(value).stream()
            let written = ""
            for (let at = 0; at < text.length; at += size) written += masking.push(text.slice(at, at + size))
            assert.include(hidden, written + masking.end(), `pieces of ${size}`)
          }
        })
      }
    }
  }

  it("is hidden as part of a list or an object, and as a number", () => {
    const mask = hiding({ user: "ada.l", list: ["hunter2"], pin: 48_151, on: true, short: "abc" })
    assert.strictEqual(mask.text("ada.l hunter2 48151 true abc"), "*** *** *** true abc")
  })

  it("is hidden whole where a shorter one is its beginning", () => {
    assert.strictEqual(hiding("abcd", "abcdefgh").text("abcdefgh abcde"), "*** ***e")
  })

  it("is hidden wherever the text is cut, also over lines", () => {
    const text = `a ${key} b\nabcdefgh and abcdef\nabcd`
    const expected = `a *** b\n*** and ***ef\n***`
    for (let size = 1; size <= text.length; size++) {
      const masking = hiding(key, "abcd", "abcdefgh").stream()
      let shown = ""
      for (let at = 0; at < text.length; at += size) shown += masking.push(text.slice(at, at + size))
      assert.strictEqual(shown + masking.end(), expected, `pieces of ${size}`)
    }
  })

  it("holds no line back that has nothing of it", () => {
    const lines = Lines.make(hiding("secret").stream())
    assert.deepStrictEqual(lines.push(bytesOf("one\ntwo sec")), ["one"])
    assert.deepStrictEqual(lines.push(bytesOf("ret\nthree")), ["two ***"])
    assert.deepStrictEqual(lines.end(), ["three"])
  })
})

describe("a file", () => {
  const file = (...pieces: ReadonlyArray<Uint8Array>) => ({
    name: "log",
    size: pieces.reduce((sum, { length }) => sum + length, 0),
    stream: Stream.fromIterable(pieces)
  })
  const contentOf = Effect.fnUntraced(function* (source: ReturnType<typeof file>, ...values: ReadonlyArray<string>) {
    const hidden = yield* MaskedFile.hide(hiding(...values), source)
    // An upload that failed reads it again.
    yield* Stream.runDrain(hidden.stream)
    const bytes = Buffer.from(yield* Stream.mkUint8Array(hidden.stream))
    assert.strictEqual(hidden.size, bytes.length)
    return bytes
  })

  it.effect("of text has no value, over the borders of its pieces, and the size that it then has", () =>
    Effect.gen(function* () {
      const bytes = bytesOf("\uFEFFpässword and pässword€")
      const pieces = [...bytes].map((byte) => Uint8Array.of(byte))
      assert.strictEqual((yield* contentOf(file(...pieces), "pässword")).toString(), "\uFEFF*** and ***€")
    })
  )

  it.effect("that is no text stays as it is", () =>
    Effect.gen(function* () {
      for (const bytes of [bytesOf("hunter2\0"), Uint8Array.of(...bytesOf("hunter2"), 0xff), bytesOf("nothing")]) {
        assert.deepStrictEqual([...(yield* contentOf(file(bytes), "hunter2"))], [...bytes])
      }
    })
  )
})
