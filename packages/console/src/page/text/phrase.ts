/** Sentences that have links, code or times inside. */
import type { ComponentChildren } from "preact"

export type Node = ComponentChildren

/** The parts of a template in order, to be rendered. */
export const phrase = (strings: TemplateStringsArray, ...nodes: ReadonlyArray<Node>): Node =>
  strings.flatMap((text, index) => [text, nodes[index]])
