/** Lint rules of this repository, for what oxlint has no rule for. */

import { readFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"

/** A cast that is not `as const` needs a comment on its line, or on the line above it, that says why it holds. */
const castReason = {
  meta: {
    type: "problem",
    docs: { description: "Requires a comment that says why a type assertion holds" }
  },
  create(context) {
    const explained = new Set()
    for (const { loc } of context.sourceCode.getAllComments()) {
      for (let line = loc.start.line; line <= loc.end.line + 1; line++) explained.add(line)
    }
    const check = (node) => {
      if (node.typeAnnotation.type === "TSTypeReference" && node.typeAnnotation.typeName.name === "const") return
      // `as unknown as T` is one cast: the outer one is reported.
      if (node.parent.type === "TSAsExpression") return
      if (explained.has(node.loc.start.line) || explained.has(node.typeAnnotation.loc.start.line)) return
      context.report({
        node,
        message: "A cast needs a comment on its line, or on the line above, that says why it holds"
      })
    }
    return { TSAsExpression: check, TSTypeAssertion: check }
  }
}

/** The type argument of a statement is a cast that nothing checks. */
const declaredRows = {
  meta: {
    type: "problem",
    docs: { description: "Refuses a type argument of `sql`: `query` and `queryOne` parse rows by their declaration" }
  },
  create(context) {
    return {
      TaggedTemplateExpression(node) {
        const isTyped = (node.typeArguments ?? node.typeParameters ?? null) !== null
        if (!isTyped || node.tag.type !== "Identifier" || node.tag.name !== "sql") return
        context.report({
          node,
          message: "Declare what the query selects: query(Row({ n: integer }), sql`...`) of @signalbox/sql/Table"
        })
      }
    }
  }
}

const isNothing = (node) =>
  node.type === "ObjectExpression"
    ? node.properties.length === 0
    : node.name === "undefined" || (node.type === "Literal" && node.value === null)

/** What a condition adds, or not: `a ? {} : { b }`, `a ? { b } : {}`, `a && { b }`. */
const chosenMembers = ({ type, consequent, alternate, operator, right }) => {
  if (type === "LogicalExpression") return operator === "&&" ? right : undefined
  if (type !== "ConditionalExpression") return undefined
  return isNothing(consequent) ? alternate : isNothing(alternate) ? consequent : undefined
}

/**
 * An optional member is declared with `| undefined` and passed on, so a condition that leaves it out is not needed. What is no
 * literal, such as all that a function returns, may be spread on a condition.
 */
const optionalMembers = {
  meta: {
    type: "problem",
    docs: { description: "Refuses members that are spread on a condition, such as `...(a === undefined ? {} : { a })`" }
  },
  create(context) {
    const check = (node) => {
      if (chosenMembers(node.argument)?.type !== "ObjectExpression") return
      context.report({
        node,
        message:
          "Pass the member and declare it `?: T | undefined`; where the key must be absent, `...defined({ a })` of @signalbox/transport/Defined; of an Option, Option.getOrUndefined"
      })
    }
    return { SpreadElement: check, JSXSpreadAttribute: check }
  }
}

const layout = JSON.parse(readFileSync(new URL("layout.json", import.meta.url), "utf8")).packages
const packagesFolder = fileURLToPath(new URL("packages", import.meta.url))

/**
 * The position of a file of `src` among the folders of its package: 0 is what all may import; public modules are last. None of one
 * that lies in `internal` beside the folders.
 */
const floorOf = ({ folders, ground = [], placed = {} }, path) => {
  const names = Object.keys(folders)
  if (placed[path] === undefined && ground.some((one) => path === one || (one.endsWith("/") && path.startsWith(one))))
    return 0
  const name = placed[path] ?? names.find((folder) => path.startsWith(`internal/${folder}/`))
  if (name === undefined) return path.startsWith("internal/") ? undefined : names.length + 1
  return names.indexOf(name) + 1 || undefined
}

/** What a module of a package may import from other packages, as the beginnings of names. */
const importsOf = ({ imports, only = {} }, path) => [
  "platform",
  ...imports,
  ...Object.entries(only).flatMap(([name, places]) => (places.some((place) => path.startsWith(place)) ? [name] : []))
]

/** A package imports those, and a folder of a package the folders above it, that `layout.json` says; no file lies flat in `internal`. */
const layoutRule = {
  meta: {
    type: "problem",
    docs: { description: "Requires that files and imports follow layout.json" }
  },
  create(context) {
    const [name, src, ...parts] = relative(packagesFolder, context.filename).split(sep)
    const own = layout[name]
    if (own === undefined || src !== "src") return {}
    const path = parts.join("/")
    const check = ({ source }) => {
      if (typeof source?.value !== "string") return
      const report = (message) => context.report({ node: source, message })
      const [, scoped, rest = ""] = /^@signalbox\/([^/]+)(\/.*)?$/.exec(source.value) ?? []
      const other = scoped ?? (/^signalbox(\/|$)/.test(source.value) ? "signalbox" : undefined)
      if (other !== undefined) {
        const target = `${other}${rest}`
        const allowed = importsOf(own, path)
        if (other === name || allowed.some((one) => target === one || target.startsWith(`${one}/`))) return
        report(`${name} may import ${allowed.join(", ")} here: layout.json says so`)
      } else if (own.folders !== undefined && source.value.startsWith(".")) {
        const target = join(dirname(path), source.value).split(sep).join("/")
        const [floor, below] = [floorOf(own, path), floorOf(own, target)]
        if (target.startsWith("..")) return
        if (floor === undefined) report(`${path} is in no folder of layout.json`)
        else if (below === undefined || below > floor)
          report(`${path} comes before ${target} in layout.json: it cannot import it`)
      }
    }
    return {
      Program(node) {
        if (/^internal\/[^/]+$/.test(path)) context.report({ node, message: `${path} belongs in a folder of internal` })
      },
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check
    }
  }
}

/** Attributes that people see or hear; the first three are also properties of columns, options and tabs. */
const seen = ["hint", "label", "title", "alt", "aria-label", "done", "effect", "placeholder", "submit"]

/** The parts of a value that are written in place. */
const literals = (node) => {
  if (node?.type === "Literal") return typeof node.value === "string" ? [{ node, text: node.value }] : []
  if (node?.type === "TemplateLiteral") return [{ node, text: node.quasis.map(({ value }) => value.raw).join("") }]
  if (node?.type === "JSXExpressionContainer") return literals(node.expression)
  if (node?.type === "LogicalExpression") return [...literals(node.left), ...literals(node.right)]
  if (node?.type === "ConditionalExpression") return [...literals(node.consequent), ...literals(node.alternate)]
  return []
}

/** Text of the console goes into its catalogue, so that other languages can be added. Code is the same in every language. */
const catalogue = {
  meta: {
    type: "problem",
    docs: { description: "Refuses text for people outside of the catalogue of the console" }
  },
  create(context) {
    const check = (value) => {
      for (const { node, text } of literals(value)) {
        if (!/\p{L}/u.test(text)) continue
        context.report({ node, message: "Text for people goes into packages/console/src/page/text" })
      }
    }
    return {
      JSXText(node) {
        if (node.parent.openingElement?.name.name !== "code") check({ ...node, type: "Literal" })
      },
      JSXExpressionContainer(node) {
        if (node.parent.type !== "JSXAttribute") check(node)
      },
      JSXAttribute({ name, value }) {
        if (seen.includes(name.name)) check(value)
      },
      Property({ key, value }) {
        if (seen.slice(0, 3).includes(key.name)) check(value)
      }
    }
  }
}

export default {
  meta: { name: "signalbox" },
  rules: {
    catalogue,
    "cast-reason": castReason,
    "declared-rows": declaredRows,
    layout: layoutRule,
    "optional-members": optionalMembers
  }
}
