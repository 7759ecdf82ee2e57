// A `test` of a JSON patch compares what is written: 1.0 is not the 1 that the server writes, though it is the same number.

import { isRecord } from '../schema/read.js'

/** The operations, in which tests for numbers that the server spells otherwise are tests for what no object has. */
export function withSpelledTests(operations: readonly unknown[], bytes: Uint8Array): readonly unknown[] {
  if (!operations.some((operation) => isTest(operation) && mayHaveNumbers(operation['value']))) return operations
  const marked = markOddNumbers(new TextDecoder().decode(bytes))
  if (marked === undefined) return operations
  const again = JSON.parse(marked) as readonly unknown[]
  return operations.map((operation, i) => (isTest(operation) ? again[i] : operation))
}

const isTest = (operation: unknown): operation is Record<string, unknown> => isRecord(operation) && operation['op'] === 'test'

const mayHaveNumbers = (value: unknown): boolean => typeof value === 'number' || (typeof value === 'object' && value !== null)

const oddNumber = JSON.stringify('\u0000a number of another spelling')

const code = (character: string): number => character.charCodeAt(0)
const [quote, backslash, zero, nine, minus] = ['"', '\\', '0', '9', '-'].map(code) as [number, number, number, number, number]

/** Valid JSON, with texts in the place of such numbers; undefined where there are none. */
function markOddNumbers(text: string): string | undefined {
  let out = ''
  let kept = 0
  for (let i = 0; i < text.length; ) {
    const character = text.charCodeAt(i)
    if (character === quote) i = endOfString(text, i + 1)
    else if (character === minus || (character >= zero && character <= nine)) {
      const end = endOfNumber(text, i + 1)
      if (!isOurs(text.slice(i, end))) {
        out += text.slice(kept, i) + oddNumber
        kept = end
      }
      i = end
    } else i++
  }
  return kept === 0 ? undefined : out + text.slice(kept)
}

function endOfString(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === quote) return i + 1
    if (character === backslash) i++
  }
  return text.length
}

function endOfNumber(text: string, from: number): number {
  let end = from
  while (end < text.length && '0123456789+-.eE'.includes(text[end] as string)) end++
  return end
}

/** Integers of any length are written as they are, other numbers in their shortest form. */
const isOurs = (literal: string): boolean => (/^-?\d+$/.test(literal) ? literal !== '-0' : String(Number(literal)) === literal)
