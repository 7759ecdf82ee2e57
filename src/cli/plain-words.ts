// Which words of a command line are the command, before it is known which flags it has.

import type { FlagTable } from './flags.js'
import { usualFlags } from './usual-flags.js'

/** Where words stand that are neither flags nor, as far as one can know before the command is known, values of flags; three at most. */
export function plainWords(argv: readonly string[]): readonly number[] {
  const places: number[] = []
  for (let i = 0; i < argv.length && places.length < 3; i++) {
    const word = argv[i] as string
    if (word === '--') break
    if (!word.startsWith('-')) places.push(i)
    else if (takesNext(word, usualFlags)) i++
    else if (places.length > 0) break
  }
  return places
}

/** Whether the word is a flag whose value is the next word. */
export function takesNext(word: string, table: FlagTable): boolean {
  if (word.includes('=')) return false
  const spec = Object.entries(table).find(([name, one]) => word === `--${name}` || ('short' in one && word === `-${one.short}`))?.[1]
  return spec !== undefined && spec.kind !== 'switch' && !('bare' in spec && spec.bare !== undefined)
}
