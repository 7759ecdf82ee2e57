// Labels in one line, as annotations and configuration spell them: `pool=general,disk=ssd`.

import { labelValue, qualifiedName } from '../api/validation/text-rules.js'

/** Throws where a part is no label with a value. */
export function parseLabelPairs(text: string): { readonly [label: string]: string } {
  const pairs: Record<string, string> = {}
  if (text.trim() === '') return pairs
  for (const part of text.split(',')) {
    const cut = part.indexOf('=')
    if (cut < 0) throw new Error(`invalid selector: ${part}`)
    const [key, value] = [part.slice(0, cut).trim(), part.slice(cut + 1).trim()]
    const problem = qualifiedName(key)[0] ?? labelValue(value)[0]
    if (problem !== undefined) throw new Error(`invalid selector: ${part.trim()}: ${problem}`)
    pairs[key] = value
  }
  return pairs
}
