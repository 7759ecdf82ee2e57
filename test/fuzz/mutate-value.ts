// Mutates JSON values: removes, repeats, moves or renames a part, or replaces it with a hostile value.

import type { Random } from '../kit/seeded-random.js'

export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value }

const words = [
  ...[
    '',
    ' ',
    'a',
    'metadata',
    'name',
    'spec',
    '__proto__',
    'constructor',
    'toString',
    '$patch',
    '$setElementOrder/containers',
    '*',
    '.',
    '/',
  ],
  ...[
    '~0~1',
    'a/b',
    'kind',
    'true',
    'null',
    '0',
    '-1',
    '1e3',
    '10Mi',
    '1m',
    '0x10',
    '2020-01-01T00:00:00Z',
    'é',
    '\u0000',
    '\ud800',
    '\u2028',
  ],
  ...[
    'a'.repeat(64),
    'a'.repeat(300),
    '%s%n',
    '$x',
    '{{x}}',
    "'",
    '"',
    '\\',
    '\n',
    'kubernetes.io/x',
    'k8s:',
    'f:metadata',
    'k:{"name":"a"}',
  ],
]
const numbers = [0, -0, 1, -1, 0.5, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 65_536, 255]

export const hostileWord = (random: Random): string =>
  random.below(40) === 0 ? random.pick(words).repeat(1 + random.below(3000)) : random.pick(words)

export function hostileValue(random: Random, depth = 0): Value {
  switch (random.below(depth > 4 ? 4 : 8)) {
    case 0:
      return null
    case 1:
      return random.pick(numbers)
    case 2:
      return random.below(2) === 0
    case 3:
    case 4:
      return hostileWord(random)
    case 5:
      return Array.from({ length: random.below(4) }, () => hostileValue(random, depth + 1))
    case 6:
      return nested(random, 1 + random.below(random.below(10) === 0 ? 3000 : 20))
    default:
      return Object.fromEntries(Array.from({ length: random.below(4) }, () => [hostileWord(random), hostileValue(random, depth + 1)]))
  }
}

function nested(random: Random, depth: number): Value {
  let value: Value = hostileWord(random)
  for (let i = 0; i < depth; i++) value = random.below(2) === 0 ? [value] : { [random.pick(words)]: value }
  return value
}

/** Mutates one random part; parts of the same level are equally likely. */
export function mutateValue(value: Value, random: Random): Value {
  if (typeof value !== 'object' || value === null || random.below(6) === 0) return hostileValue(random)
  if (Array.isArray(value)) return mutateList(value, random)
  const entries = Object.entries(value as { readonly [key: string]: Value })
  const at = random.below(entries.length + 1)
  const [key, part] = entries[at] ?? [hostileWord(random), hostileValue(random)]
  const choices: readonly (() => readonly (readonly [string, Value])[])[] = [
    () => [[key, mutateValue(part, random)]],
    () => [[key, mutateValue(part, random)]],
    () => [[key, mutateValue(part, random)]],
    () => [],
    () => [[hostileWord(random), part]],
    () => [
      [key, part],
      [hostileWord(random), hostileValue(random)],
    ],
  ]
  const changed = random.pick(choices)()
  return Object.fromEntries([...entries.slice(0, at), ...changed, ...entries.slice(at + 1)])
}

function mutateList(list: readonly Value[], random: Random): Value {
  const at = random.below(list.length + 1)
  const part = list[at] ?? hostileValue(random)
  const choices: readonly (() => readonly Value[])[] = [
    () => [mutateValue(part, random)],
    () => [mutateValue(part, random)],
    () => [],
    () => [part, part],
    () => Array.from({ length: random.below(300) }, () => part),
  ]
  const changed = random.pick(choices)()
  return [...list.slice(0, at), ...changed, ...list.slice(at + 1)]
}

/** Serializes JSON with duplicate keys, huge numbers and invalid bytes. */
export function serializeUnusually(value: Value, random: Random): string {
  let text = JSON.stringify(value) ?? 'null'
  if (random.below(4) === 0) text = text.replace(/,/, () => `,"metadata":{},"${random.pick(['name', 'kind', 'a'])}":1,`)
  if (random.below(6) === 0) text = text.replace(/:\d+/, `:${random.pick(['1e999', '-', '01', `${'9'.repeat(400)}`, '1.', 'NaN', '0x1'])}`)
  if (random.below(6) === 0) text = text.slice(0, random.below(text.length + 1))
  if (random.below(10) === 0) text = ' '.repeat(random.below(5000)) + text
  return text
}

/** Changes, removes, repeats or moves bytes. */
export function mutateBytes(source: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(source)
  for (let i = 0; i <= random.below(4) && bytes.length > 0; i++) {
    const at = random.below(bytes.length)
    const length = 1 + random.below(random.below(8) === 0 ? 400 : 8)
    const part = bytes.subarray(at, at + length)
    const before = bytes.subarray(0, at)
    const after = bytes.subarray(at + length)
    const choice = random.below(5)
    if (choice === 0) bytes[at] = random.below(256)
    else if (choice === 1) bytes[at] = random.pick([0x00, 0x7f, 0x80, 0xff, 0x0a, 0x12])
    else bytes = Buffer.concat(choice === 2 ? [before, after] : choice === 3 ? [before, part, part, after] : [before, after, part])
  }
  return bytes
}
