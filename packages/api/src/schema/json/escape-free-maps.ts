// Marks string maps whose JSON needs no escapes: checking them on each write took a sixth of an update of 50 KB.

import { isLoose, type MapNode } from '../node.js'

export const isStringMap = ({ value }: MapNode): boolean => value.type === 'string' && !isLoose(value)

const needsEscape = /[^ !#-%'-;=?-[\]-~]/

export const isEscapeFreeText = (text: string): boolean => !needsEscape.test(text)

const escapeFreeMaps = new WeakSet<object>()

/** Freezes the map, so that the mark stays true. */
export const markEscapeFree = (map: object): void => void escapeFreeMaps.add(Object.freeze(map))

export const isMarkedEscapeFree = (map: object): boolean => escapeFreeMaps.has(map)

type Texts = Readonly<Record<string, string>>

const minMarkedChars = 4096

/** Marks only maps whose values have 4096 or more characters. If `before` is marked, members equal to its members are not checked. */
export function markIfEscapeFree(map: Texts, before: Texts): void {
  let length = 0
  for (const key in map) length += (map[key] as string).length
  if (length < minMarkedChars) return
  const wasMarked = isMarkedEscapeFree(before)
  for (const key in map) {
    const text = map[key] as string
    if (wasMarked && before[key] === text) continue
    if (!isEscapeFreeText(key) || !isEscapeFreeText(text)) return
  }
  markEscapeFree(map)
}
