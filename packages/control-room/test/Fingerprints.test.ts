/** Which messages are of one failure: what `normalise` takes out of them. */
import { assert, describe, it } from "@effect/vitest"
import { StepId } from "@signalbox/api/contract/Ids"
import * as Schema from "effect/Schema"
import { failureOf, normalise } from "../src/internal/engine/Failures.ts"

const cases: ReadonlyArray<readonly [message: string, normal: string]> = [
  ["order 17 of 3,402.50 is missing", "order # of # is missing"],
  ["item 0199a1b2-7c3d-7000-8000-00000000abcd is gone", "item # is gone"],
  ["at 2026-11-20T08:15:30.123Z: 10.0.0.7:443 refused", "at #: # refused"],
  ["invoice INV-2031 and ord_9f3e0c", "invoice # and #"],
  ["0xDEADBEEF1 is no address", "# is no address"],
  ["cannot read '/srv/in/march.xlsx'", "cannot read '#'"],
  ['cannot read "C:\\in\\march.xlsx"', 'cannot read "#"'],
  ["KeyError: 'total'", "KeyError: 'total'"],
  ["  File\n\tloader.py, line 12  ", "File loader.py, line #"],
  ["cannot read /srv/in/march.xlsx.", "cannot read #."],
  ["cannot read ~/in/march.xlsx: no such file", "cannot read #: no such file"],
  ["cannot open C:\\in\\march.xlsx", "cannot open #"],
  ["cannot open \\\\files\\in\\march.xlsx, retry", "cannot open #, retry"],
  ["no answer from https://erp.example.com/orders/abc?x=y", "no answer from #"],
  ["mail to ada@example.com bounced", "mail to # bounced"],
  ["getaddrinfo ENOTFOUND erp-north.example.com", "getaddrinfo ENOTFOUND #"],
  ["connect to db.north.example.de:5432 failed", "connect to # failed"],
  ["java.lang.NullPointerException in loader.py and/or n/a", "java.lang.NullPointerException in loader.py and/or n/a"],
  ["status code 401", "status code 401"],
  ["the command ended with exit code 137", "the command ended with exit code 137"],
  ["HTTP/1.1 503 of order 7", "HTTP/# 503 of order #"],
  ["M3 305: material 4711 is locked", "M3 305: material # is locked"],
  ["ORA-01017 for user 12", "ORA-01017 for user #"],
  ["nul\0 and \ud800 alone", "nul and \ufffd alone"],
  ["", ""]
]

describe("a normalised message", () => {
  for (const [message, normal] of cases) {
    it(`of ${JSON.stringify(message)} is ${JSON.stringify(normal)}`, () => {
      assert.strictEqual(normalise(message), normal)
    })
  }

  it("keeps at most 500 characters", () => {
    assert.strictEqual(normalise("a b ".repeat(1000)).length, 499)
  })

  // Made of what the rules are about, so that their results meet.
  const Part = Schema.Union([
    Schema.Literals([
      "'",
      '"',
      "`",
      "/",
      "\\",
      "#",
      "1",
      "a",
      "-",
      ".",
      ":",
      " ",
      "\n",
      "\ud800",
      "é",
      "0x1f",
      "a/b",
      "status ",
      "exit code ",
      "HTTP/",
      "M3",
      "ab.com",
      "x@y",
      "C:\\",
      "code: ",
      "ENOTFOUND ",
      "a.de",
      "00 ",
      "KI235:",
      "http://",
      "(",
      "305",
      "٣"
    ]),
    Schema.String
  ])

  it.prop(
    "is normalised already",
    { parts: Schema.Array(Part).check(Schema.isMaxLength(40)) },
    ({ parts }) => {
      for (const message of [parts.join(""), parts.join("").repeat(50)]) {
        const once = normalise(message)
        assert.strictEqual(normalise(once), once)
        assert.isAtMost(once.length, 500)
      }
    },
    { arbitrary: { runs: 2000 } }
  )
})

describe("messages", () => {
  const like: ReadonlyArray<readonly [string, string]> = [
    ["cannot read /srv/in/march.xlsx", "cannot read /srv/in/april.xlsx"],
    ["cannot open C:\\in\\march.xlsx", "cannot open D:\\out\\april.xlsx"],
    ["no answer from https://a.example.com/x", "no answer from https://b.example.org/y/z"],
    ["mail to ada@example.com bounced", "mail to bob@example.org bounced"],
    ["getaddrinfo ENOTFOUND north.example.com", "getaddrinfo ENOTFOUND south.example.com"],
    ["no answer from firma.de", "no answer from kunde.at"],
    ["no answer from api.north.cloud", "no answer from api.south.cloud"],
    ["getaddrinfo ENOTFOUND erp-north", "getaddrinfo ENOTFOUND erp-south"],
    ["connect ECONNREFUSED erp:443", "connect ECONNREFUSED crm:443"],
    ["cannot open C:\\Program Files\\ERP\\a.ini: locked", "cannot open C:\\Program Files\\My CRM\\b.ini: locked"],
    ["cannot read in/march.xlsx", "cannot read out/april/all.xlsx"],
    ["order AB123 is late", "order AB124 is late"],
    ["order 1 is late", "order 2 is late"]
  ]
  for (const [one, other] of like) {
    it(`${JSON.stringify(one)} and ${JSON.stringify(other)} are of one failure`, () => {
      assert.strictEqual(normalise(one), normalise(other))
    })
  }
  const unlike: ReadonlyArray<readonly [string, string]> = [
    ["status code 401", "status code 503"],
    ["exit code 1", "exit code 137"],
    ["HTTP 404", "HTTP 500"],
    ["M3 305: material 1 is locked", "M3 306: material 1 is locked"],
    ["statusCode=401", "statusCode=503"],
    ["code: 401", "code: 503"],
    ["the service returned 401", "the service returned 503"],
    ["KI235: account 1 needs a cost centre", "KI236: account 1 needs a cost centre"],
    ["00 055: a field is empty", "00 058: a field is empty"],
    ["FAGL_LEDGER_CUST 023: no profit centre", "FAGL_LEDGER_CUST 024: no profit centre"],
    ["errno 13", "errno 2"]
  ]
  for (const [one, other] of unlike) {
    it(`${JSON.stringify(one)} and ${JSON.stringify(other)} are of two failures`, () => {
      assert.notStrictEqual(normalise(one), normalise(other))
    })
  }
})

describe("a fingerprint", () => {
  const step = StepId.make("s")
  const fingerprint = (...parameters: Parameters<typeof failureOf>) => failureOf(...parameters).fingerprint
  const failure = { code: "LATE", type: "application", message: "order 1 is late" } as const
  const known = fingerprint("p", step, failure)

  it("is the same for other numbers", () => {
    assert.strictEqual(fingerprint("p", step, { ...failure, message: "order 2 is late" }), known)
  })

  it("differs by process, step, type, code and message", () => {
    const others = [
      fingerprint("q", step, failure),
      fingerprint("p", StepId.make("t"), failure),
      fingerprint("p", null, failure),
      fingerprint("p", step, { ...failure, type: "business" }),
      fingerprint("p", step, { ...failure, code: "LOST" }),
      fingerprint("p", step, { ...failure, message: "order 1 is lost" }),
      fingerprint("p", step, null)
    ]
    assert.strictEqual(new Set([known, ...others]).size, others.length + 1)
  })
})
