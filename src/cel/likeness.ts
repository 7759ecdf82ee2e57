// By what values are found among many that may be equal to them.

import { sortTexts } from '../base/text-order.js'
import { CelList, CelMap, Duration, keyText, Timestamp, type Value } from './values.js'

/** The same text for values that are equal; others may share it. The order of items counts for nothing, because it does not in sets. */
export function likeness(value: Value): string {
  const text = keyText(value)
  if (text !== undefined) return text
  if (value instanceof CelList) return `[${sortTexts(Array.from({ length: value.size }, (_, i) => likeness(value.at(i)))).join()}]`
  if (value instanceof CelMap) {
    const members = Array.from(value.keys(), (key) => {
      const member = value.find(key)
      return `${likeness(key)}:${member === undefined ? '' : likeness(member)}`
    })
    return `{${sortTexts(members).join()}}`
  }
  return value instanceof Timestamp || value instanceof Duration ? String(value.nanos) : ''
}
