// Where in a document something stands: the names and positions on the way to it, how messages print them, and a set of such ways.

import { shorten } from '../base/shorten.js'

export type PathElement = string | number

/** Whatever follows so many characters is not shown. */
const enough = 512

/** Such as `spec.containers[1].nope`. */
export function printPath(path: readonly PathElement[]): string {
  let text = ''
  for (const element of path) {
    if (typeof element === 'number') text += `[${element}]`
    else text += text === '' ? element : `.${element}`
    if (text.length > enough) return shorten(text)
  }
  return text
}

/** A few paths, to be met while a document is walked: one node for each step that they share. */
export class PathSet {
  private readonly children = new Map<PathElement, PathSet>()
  /** Where the member was met first, if this is the end of a path that was. */
  place: number | undefined
  private isEnd = false

  add(path: readonly PathElement[]): PathSet {
    let node: PathSet = this
    for (const element of path) {
      let child = node.children.get(element)
      if (child === undefined) {
        child = new PathSet()
        node.children.set(element, child)
      }
      node = child
    }
    node.isEnd = true
    return node
  }

  below(element: PathElement): PathSet | undefined {
    return this.children.get(element)
  }

  has(path: readonly PathElement[]): boolean {
    let node: PathSet | undefined = this
    for (const element of path) node = node?.below(element)
    return node?.isEnd === true
  }

  /** A member with this path stands at a place of the text; the first one counts. */
  meet(place: number): void {
    this.place ??= place
  }
}
