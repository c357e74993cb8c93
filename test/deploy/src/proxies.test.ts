/** The files of nginx and Caddy in front of a real room: each proxy is started with its file, and used as clients do. */
import assert from "node:assert/strict"
import { createHash, createHmac, randomBytes } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { type IncomingMessage } from "node:http"
import { request } from "node:https"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, describe, it } from "node:test"
import { missing, run, textOf } from "./Files.ts"
import { eventually, freePort, publicHost, type Room, type Running, start, startRoom, unlessEnded } from "./Room.ts"

interface Started {
  readonly port: number
  readonly running: Running
  /** All that was written to logs. */
  readonly logs: () => string
}

interface Places {
  readonly folder: string
  readonly key: string
  readonly certificate: string
  readonly room: number
  readonly port: number
}

/** What differs from a machine: where the room and the proxy listen, the certificate, and where logs go. */
const substituted = (text: string, replaced: ReadonlyArray<readonly [from: string | RegExp, to: string]>): string =>
  replaced.reduce((before, [from, to]) => {
    const after = before.replaceAll(from, to)
    assert.notEqual(after, before, `the file has nothing like ${String(from)}`)
    return after
  }, text)

const proxies = {
  nginx: ({ certificate, folder, key, port, room }: Places): Started => {
    const logs = join(folder, "log")
    mkdirSync(logs)
    const site = substituted(textOf("deploy/nginx/signalbox.conf"), [
      ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
      ["server 127.0.0.1:4700;", `server 127.0.0.1:${room};`],
      [/ssl_certificate \S+;/g, `ssl_certificate ${certificate};`],
      [/ssl_certificate_key \S+;/g, `ssl_certificate_key ${key};`],
      ["/var/log/nginx/", `${logs}/`]
    ])
    writeFileSync(join(folder, "site.conf"), site)
    // As Debian's own file: the log of the http block is for all that the site does not log itself.
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`
    )
    writeFileSync(
      join(folder, "nginx.conf"),
      `daemon off;\npid ${folder}/pid;\nerror_log ${logs}/main.log;\nworker_processes 1;\nevents {}\n` +
        `http { access_log ${logs}/http.log; ${temporary.join(" ")} include ${folder}/site.conf; }\n`
    )
    const checked = run("nginx", ["-t", "-p", folder, "-c", join(folder, "nginx.conf")])
    assert.equal(checked?.status, 0, checked?.output)
    assert.doesNotMatch(checked?.output ?? "", /\[warn\]/)
    const running = start("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", `${logs}/main.log`])
    const read = () => readdirSync(logs).map((name) => readFileSync(join(logs, name), "utf8"))
    return { port, running, logs: () => [running.said(), ...read()].join("\n") }
  },
  caddy: ({ certificate, folder, key, port, room }: Places): Started => {
    const file = join(folder, "Caddyfile")
    const site = substituted(textOf("deploy/caddy/Caddyfile"), [
      [/^\{$/gm, "{\n\tadmin off\n\tauto_https off"],
      [/^robots\.example\.com \{$/gm, `https://${publicHost}:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`],
      ["reverse_proxy 127.0.0.1:4700", `reverse_proxy 127.0.0.1:${room}`]
    ])
    writeFileSync(file, site)
    const running = start("caddy", ["run", "--config", file, "--adapter", "caddyfile"], {
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder
    })
    return { port, running, logs: running.said }
  }
} satisfies Record<string, (places: Places) => Started>

/** A certificate for the public address, valid for a day. */
const certified = (folder: string) => {
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")]
  const subject = ["-subj", `/CN=${publicHost}`, "-addext", `subjectAltName=DNS:${publicHost}`, "-nodes", "-days", "1"]
  const algorithm = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
  const made = run("openssl", ["req", "-x509", ...algorithm, ...subject, "-keyout", key, "-out", certificate])
  assert.equal(made?.status, 0, made?.output)
  return { key, certificate }
}

const listens = (port: number) =>
  new Promise<true | undefined>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(undefined))
  })

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

for (const [name, begin] of Object.entries(proxies)) {
  const skip = missing(name, "openssl")

  describe(`a room behind ${name}`, { skip }, () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-proxy-"))
    let room: Room
    let proxy: Started
    let ca: string

    before(async () => {
      room = await startRoom()
      const { certificate, key } = certified(folder)
      ca = readFileSync(certificate, "utf8")
      const port = await freePort()
      proxy = begin({ folder, certificate, key, port, room: room.port })
      await unlessEnded(
        proxy.running,
        eventually("it listens", () => listens(port))
      )
    })
    after(async () => {
      await proxy?.running.stop()
      await room?.close()
      rmSync(folder, { recursive: true })
    })

    /** Opens a request to an address that the room has given, or to a path. */
    const open = (address: string, { headers = {}, method = "GET" }: Asked = {}) => {
      const { pathname, search } = new URL(address, `https://${publicHost}`)
      const options = { host: "127.0.0.1", port: proxy.port, servername: publicHost, ca, agent: false }
      const sent = request({ ...options, method, path: pathname + search, headers: { host: publicHost, ...headers } })
      const response = new Promise<IncomingMessage>((resolve, reject) =>
        sent.once("response", resolve).once("error", reject)
      )
      return { sent, response }
    }
    const ask = async (address: string, asked: Asked = {}) => {
      const { response, sent } = open(address, asked)
      sent.end(asked.body)
      const received = await response
      const chunks: Array<Buffer> = await received.toArray()
      return { status: received.statusCode, headers: received.headers, body: Buffer.concat(chunks) }
    }
    const authorization = () => ({ authorization: `RC-WSKEY ${room.key}` })
    const inWorkspace = (path: string) => `/api/v1/workspaces/${room.workspace}/${path}`
    const newProcess = (name: string) =>
      room.call("POST", "processes", { name, steps: [{ name: "s", task: { name } }] })

    it("passes events of a stream as they are written", async () => {
      const { response, sent } = open(inWorkspace("changes"), { headers: authorization() })
      sent.end()
      const stream = await response
      let received = ""
      stream.setEncoding("utf8").on("data", (chunk) => (received += String(chunk)))
      await eventually("the first event", () => (received.includes('"reset"') ? true : undefined))
      await newProcess("streamed")
      await eventually("the event of a change", () => (received.includes('"processes"') ? true : undefined))
      sent.destroy()
    })

    it("passes an upload of 50 MB while it is sent, and its ranges", async () => {
      const asset = await room.call("POST", "assets", { name: "large" })
      const upload = await room.call("POST", `assets/${String(asset["id"])}/uploads`, {
        content_type: "application/zip"
      })
      const bytes = randomBytes(50 * 1024 * 1024)
      const headers = { "content-length": String(bytes.length), "content-type": "application/zip" }
      const { response, sent } = open(String(upload["upload_url"]), { method: "PUT", headers })
      sent.write(bytes.subarray(0, 8 * 1024 * 1024))
      const staging = join(room.data, "files/staging")
      const staged = () =>
        (existsSync(staging) ? readdirSync(staging) : []).map((file) => statSync(join(staging, file)).size)
      // A part of it is in the room although the rest was not sent.
      await eventually("the room receives the first part", () =>
        staged().some((size) => size > 4 * 1024 * 1024) ? true : undefined
      )
      sent.end(bytes.subarray(8 * 1024 * 1024))
      const stored = await response
      stored.resume()
      assert.equal(stored.statusCode, 204)

      const { payload } = await room.call("GET", `assets/${String(asset["id"])}`)
      const { url } = payload as { readonly url: string }
      const part = await ask(url, { headers: { range: "bytes=1000-1999" } })
      assert.equal(part.status, 206)
      assert.equal(part.headers["content-range"], `bytes 1000-1999/${bytes.length}`)
      assert.deepEqual(part.body, bytes.subarray(1000, 2000))
      const whole = await ask(url)
      assert.equal(whole.status, 200)
      const digest = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")
      assert.equal(digest(whole.body), digest(bytes))
    })

    it("passes what a service sends to a trigger byte for byte", async () => {
      const made = await newProcess("triggered")
      const secret = "shared with the sender"
      const signature = { type: "hmac", header: "X-Signature", secret }
      const process = { id: String(made["id"]) }
      const trigger = await room.call("POST", "triggers", { name: "t", process, webhook: { signature } })
      const body = Buffer.from('{ "name" : "Zoë \\u00eb",\r\n\t"empty":"",  "numbers":[1.0, 1e2] }\n')
      const headers = {
        "content-type": "application/json",
        "x-signature": createHmac("sha256", secret).update(body).digest("hex")
      }
      const accepted = await ask(String(trigger["url"]), { method: "POST", headers, body })
      assert.equal(accepted.status, 202, accepted.body.toString())
      const changed = await ask(String(trigger["url"]), { method: "POST", headers, body: body.subarray(1) })
      assert.equal(changed.status, 401, changed.body.toString())
    })

    it("signs a browser in, with a cookie for the public address", async () => {
      const page = await ask("/console/")
      assert.equal(page.status, 200)
      assert.match(page.body.toString(), /<html/)
      const origin = `https://${publicHost}`
      const headers = {
        "content-type": "application/json",
        "x-signalbox-console": "1",
        "sec-fetch-site": "same-origin",
        origin
      }
      const body = JSON.stringify({ key: room.key })
      const opened = await ask("/console/session", { method: "POST", headers, body })
      assert.equal(opened.status, 200, opened.body.toString())
      const [cookie = ""] = opened.headers["set-cookie"] ?? []
      assert.match(cookie, /^__Host-signalbox-\S+; .*Secure/)
      const shown = await ask("/console/session", { headers: { cookie: cookie.split(";")[0] ?? "" } })
      assert.equal(shown.status, 200, shown.body.toString())
    })

    it("keeps metrics for its own network", async () => {
      // Loopback is a private address for Caddy; nginx names a network in its file.
      assert.equal((await ask("/metrics")).status, name === "nginx" ? 403 : 200)
    })

    it("logs neither queries nor addresses of triggers, also when the room is stopped", async () => {
      await room.running.stop()
      for (const path of ["/hooks/whispered-token", "/transfer/v1/files/f?signature=whispered-signature"]) {
        assert.equal((await ask(path)).status, 502)
      }
      await proxy.running.stop()
      const logs = proxy.logs()
      assert.match(logs, name === "nginx" ? /"GET \/hooks\/-" 502/ : /"status":502/)
      assert.doesNotMatch(logs, /whispered|signature=|hooks\/[^-]/)
    })
  })
}
