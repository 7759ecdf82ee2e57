// Maps of texts that are written in JSON as they are. Whoever reads a long body finds out at once whether anything in it needs an escape;
// to ask that of each text again when it is stored takes a sixth of an update of 50 KB.

import { isLoose, type MapNode } from './node.js'

/** Whether all values of such maps are texts. */
export const isOfTexts = ({ value }: MapNode): boolean => value.type === 'string' && !isLoose(value)

/** Anything but plain ASCII that needs no escape. */
const notPlain = /[^ !#-%'-;=?-[\]-~]/

/** Whether it stands in JSON as it is. */
export const isPlainText = (text: string): boolean => !notPlain.test(text)

const plainMaps = new WeakSet<object>()

/** Neither keys nor texts of it need an escape. Nobody changes a map that was read; from now on nobody can, for that would be stored as it is. */
export const markPlain = (map: object): void => void plainMaps.add(Object.freeze(map))

export const isMarkedPlain = (map: object): boolean => plainMaps.has(map)

type Texts = Readonly<Record<string, string>>

/** Below this it is not worth remembering. */
const longMap = 4096

/** Marks a long map that needs no escape. What it shares with a marked one is not looked at again. */
export function markIfPlain(map: Texts, before: Texts): void {
  let length = 0
  for (const key in map) length += (map[key] as string).length
  if (length < longMap) return
  const isKnown = isMarkedPlain(before)
  for (const key in map) {
    const text = map[key] as string
    if (isKnown && before[key] === text) continue
    if (!isPlainText(key) || !isPlainText(text)) return
  }
  markPlain(map)
}
