// Compares how our YAML parser and the `yaml` package read plain scalars: numbers, booleans, dates.

import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { resolvePlain } from '../../packages/api/src/codec/yaml/resolve-scalar.js'
import type { Random } from '../kit/seeded-random.js'
import type { Verdict } from './differential.js'

const fragments = [
  '0',
  '1',
  '7',
  '9',
  '12',
  '60',
  '123456789',
  '_',
  '.',
  '-',
  '+',
  'e',
  'E',
  'e+',
  'x',
  '0x',
  '0o',
  '0b',
  'F',
  'a',
  'y',
  'n',
]
const words = [
  'yes',
  'Yes',
  'YES',
  'no',
  'on',
  'off',
  'true',
  'False',
  'null',
  '~',
  '.inf',
  '-.INF',
  '.nan',
  'y',
  'N',
  'yEs',
  'nil',
  '2001-01-01',
]

/** A plain scalar. */
export function randomScalar(random: Random): string {
  if (random.below(8) === 0) return random.pick(words)
  const text = Array.from({ length: 1 + random.below(5) }, () => random.pick(fragments)).join('')
  return /^[-+]?[0-9.a-zA-Z_]/.test(text) && text !== '-' ? text : `1${text}`
}

const reasons: readonly { readonly reason: string; readonly fits: (text: string) => boolean }[] = [
  { reason: 'kube-apiserver reads 0o as octal, YAML 1.1 does not', fits: (text) => /^[-+]?0o/i.test(text.replaceAll('_', '')) },
  { reason: 'dates stay texts', fits: (text) => /^\d{4}-\d{1,2}-\d{1,2}/.test(text) },
  { reason: 'kube-apiserver accepts underscores anywhere in a number', fits: (text) => text.includes('_') },
  { reason: 'kube-apiserver requires a digit in a number, and accepts more exponents', fits: (text) => /^[-+]?\.|[eE]/.test(text) },
  { reason: 'integers beyond 64 bits are floats', fits: (text) => /^[-+]?(?:0x|0b)?[0-9A-F]{16,}$/i.test(text) },
  { reason: 'a zero before digits that are not octal makes a float', fits: (text) => /^[-+]?0[0-9]*[89]/.test(text) },
]

function readByPackage(text: string): unknown {
  const value: unknown = parse(text, { version: '1.1', intAsBigInt: true, logLevel: 'silent' })
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  return value
}

export function compareScalar(text: string): Verdict {
  const ours = resolvePlain(text).value
  const theirs = readByPackage(text)
  if (isDeepStrictEqual(ours, theirs)) return { kind: 'same' }
  const known = reasons.find(({ fits }) => fits(text))
  return known === undefined ? { kind: 'different', ours: String(ours), theirs: String(theirs) } : { kind: 'known', reason: known.reason }
}
