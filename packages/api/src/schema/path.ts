// Paths into a document: their text in messages, and sets of paths with the offsets where they occur.

import { shorten } from '../base/shorten.js'

export type PathElement = string | number

/** Longer paths are shortened. */
const maxPathChars = 512

export function printPath(path: readonly PathElement[]): string {
  let text = ''
  for (const element of path) {
    if (typeof element === 'number') text += `[${element}]`
    else text += text === '' ? element : `.${element}`
    if (text.length > maxPathChars) return shorten(text)
  }
  return text
}

export class PathSet {
  private readonly children = new Map<PathElement, PathSet>()
  offset: number | undefined
  private isEnd = false

  /** Returns the node of the path, whose `offset` the parser sets. */
  add(path: readonly PathElement[]): PathSet {
    let node: PathSet = this
    for (const element of path) {
      let next = node.children.get(element)
      if (next === undefined) {
        next = new PathSet()
        node.children.set(element, next)
      }
      node = next
    }
    node.isEnd = true
    return node
  }

  child(element: PathElement): PathSet | undefined {
    return this.children.get(element)
  }

  /** True if the set contains the path or a path above it. */
  hasAncestor(path: readonly PathElement[]): boolean {
    let node: PathSet | undefined = this
    for (const element of path) {
      node = node.child(element)
      if (node === undefined || node.isEnd) return node !== undefined
    }
    return false
  }

  recordOffset(offset: number): void {
    this.offset ??= offset
  }
}
