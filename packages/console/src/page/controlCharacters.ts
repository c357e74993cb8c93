/** Shows control characters and marks of direction in all texts of the page, so that no name or message disguises another. */
import { Fragment, options, type VNode } from "preact"
import { visible } from "../internal/logs/visible.ts"

const shown = (child: unknown): unknown =>
  typeof child === "string" ? visible(child) : Array.isArray(child) ? child.map(shown) : child

/** Attributes that people read or hear. The value of a field is what is sent, and stays. */
const read = ["children", "title", "aria-label", "placeholder"]

/** Replaces them in whatever is rendered from now on: one place, which no new screen can forget. */
export const showControlCharacters = (): void => {
  const before = options.vnode
  options.vnode = (vnode: VNode) => {
    const isText = typeof vnode.type === "string" || vnode.type === Fragment
    const props: Record<string, unknown> = vnode.props
    if (isText) for (const name of read) if (name in props) props[name] = shown(props[name])
    before?.(vnode)
  }
}
