/**
 * Which pages are followed literally, and which are not and why. Every page with commands is in one of the two lists, and each answer
 * of `test/site/questions.ts` too.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../tooling/src/tarballs.ts"
import { questions } from "../site/questions.ts"
import { fences } from "./pages.ts"
import { references } from "./reference.ts"

const robot = "examples/robots/python/package/robot.py"

/** Pages without their `.md`, and what a reader of them copies from elsewhere. */
export const followed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  README: {},
  "docs/start/script": {},
  "docs/start/ship": {},
  "docs/start/robots": { "greeter/robot.py": robot },
  "docs/start/ci": {},
  "docs/start/backend": {},
  "docs/backup": {},
  "docs/alerts": {},
  "docs/concepts": {},
  "docs/console": {},
  "docs/operate/keys": {},
  "docs/operate/kubernetes": {},
  "docs/operate/nodes": {},
  "docs/operate/people": {},
  "docs/operate/upgrade": {},
  "docs/operate/watch": {},
  "docs/robots": { "invoices/robot.py": robot },
  "docs/errors-and-retries": {},
  "docs/durable-flows": {},
  "docs/failures": {},
  "docs/graph": { ".": "examples/graph" },
  "docs/older-interface": {},
  "docs/without-effect": {},
  "packages/api/README": {},
  "packages/worker/README": {},
  "docs/start/operator": {},
  "docs/triggers": {},
  "docs/packages": {},
  "docs/order-and-pause": {},
  "docs/coming-from/dbos": {},
  "docs/coming-from/hosted": { "greeter/robot.py": robot },
  "docs/coming-from/openorchestrator": { "booking/robot.py": robot },
  "docs/coming-from/restate": {},
  "docs/coming-from/temporal": {},
  "docs/coming-from/uipath": { "invoices/robot.py": robot },
  ...Object.fromEntries(Object.keys(references).map((command) => [`reference/commands/${command}`, {}]))
}

/** Those that expect the services of `services.ts`. */
export const withServices: ReadonlyArray<string> = ["docs/operate/keys", "docs/operate/nodes"]

/** Pages whose commands outside of `console` are not followed, and why. */
const notFollowed: Readonly<Record<string, string>> = {
  "docs/flow-symptoms": "what it shows is compared with what the command prints by `FlowSymptoms.test.ts`",
  "docs/operate/deploy": "it needs root, systemd, or an engine of containers",
  "docs/operate/kubernetes": "they need a cluster; its files are checked by `test:deploy`",
  "packages/graph-sandbox/README": "it lists the flags of a command",
  "packages/signalbox/README": "it lists the flags of each command"
}

/** Answers without commands, and why. */
const nothingToRun: Readonly<Record<string, string>> = {
  "docs/operate/capacity": "it has measurements",
  "docs/operate/security": "it has tables"
}

const programs =
  "signalbox|npx|npm|pnpm|node|curl|git|python3?|pip|docker|helm|kubectl|systemctl|openssl|export|cp|sudo"
const command = new RegExp(`^\\s*(\\$ |# )?([A-Z_]+=\\S* )*(${programs})( \\S|$)`, "m")

/** Of a clone of this repository, whose commands `.ci/run` runs. */
const ofClone = /^npx -y pnpm@12 .*$/gm

const code = ["ts", "typescript", "js", "py", "python", "http"]

/** Whether a page is one of the reference, which is generated from the help of the command. */
export const isReference = (page: string) => page.startsWith("reference/commands/")

/** A page of the site as a file of the repository, without its ending; one of the reference has none. */
const fileOf = (slug: string) =>
  isReference(slug) ? slug : slug.startsWith("packages/") ? `${slug}/README` : `docs/${slug}`

export const answers = [...new Set(questions.map(([, answer]) => answer.split("#")[0] ?? ""))]

/** What has commands, or files, that are followed by nobody. */
export const problems = (): ReadonlyArray<string> => {
  const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], {
    cwd: root,
    exclude: ["docs/decisions/**"]
  })
  const ofPages = pages.flatMap((page) => {
    const name = page.slice(0, -".md".length)
    if (name in notFollowed) return []
    return fences(readFileSync(join(root, page), "utf8")).flatMap(({ body, language, title }) => {
      const [first = ""] = body.split("\n")
      if (language === "console") return name in followed ? [] : [`${page} is not followed: ${first}`]
      if (title !== undefined || code.includes(language)) return []
      if (language === "")
        return command.test(body.replace(ofClone, "")) ? [`${page} has commands outside of \`console\`: ${first}`] : []
      return [`${page} has ${language} without a title, which nothing reads: ${first}`]
    })
  })
  const ofAnswers = answers
    .map(fileOf)
    .filter((name) => !(name in followed) && !(name in notFollowed) && !(name in nothingToRun))
    .map((name) => `${name} is an answer, and nobody follows it`)
  return [...ofPages, ...ofAnswers]
}

/** How many of the questions have an answer that is followed. */
export const figure = () => {
  const run = questions.filter(([, answer]) => fileOf(answer.split("#")[0] ?? "") in followed)
  return `${run.length} of ${questions.length} answers are followed`
}
