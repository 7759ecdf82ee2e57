// Random YAML: documents that are put together by its rules, and such documents with something broken in them.

import type { Random } from '../kit/seeded-random.js'

const plainWords = [
  'a',
  'b',
  'key',
  'x y',
  'a:b',
  'a#b',
  'http://x:80',
  '-x',
  '?x',
  ':x',
  'é',
  '😀',
  'yes',
  'no',
  'on',
  'null',
  '~',
  'true',
  'y',
]
const numbers = [
  '0',
  '1',
  '-3',
  '+4',
  '12',
  '017',
  '0x1F',
  '1_000',
  '1.5',
  '-2.',
  '.5',
  '1e3',
  '9007199254740993',
  '2001-01-01',
  '08',
  '1.2.3',
]
const texts = [
  '',
  'a',
  'it is',
  'two  spaces',
  ' lead',
  'trail ',
  'a\nb',
  'a\n\nb\n',
  '#',
  ': ',
  '- ',
  '"',
  "'",
  '\\',
  '\t',
  'é😀',
  '{}',
  '[a]',
  '&a',
  '*a',
  '!',
  '%',
]

/** Deeper than anything that a document here has: lines that go on must be indented. */
const far = ' '.repeat(24)
const overLines = (text: string): string => text.replaceAll('\n', `\n${far}`)

/** A document, mostly well formed. */
export function randomDocument(random: Random): string {
  const maker = new Maker(random)
  const body = maker.block(0, 3)
  const head = random.pick(['', '', '', '---\n', '# c\n', '%YAML 1.1\n---\n', '\n\n', '--- '])
  const tail = random.pick(['', '', '\n', '\n...\n', '\n# c', '\n---\nb: 1\n', '  \n'])
  return head.endsWith(' ') ? `${head}${maker.flow(2)}${tail}` : head + body + tail
}

class Maker {
  readonly #random: Random
  readonly #anchors: string[] = []
  constructor(random: Random) {
    this.#random = random
  }

  /** A block node that begins at a column, at the beginning of a line. */
  block(indent: number, depth: number): string {
    const choice = this.#random.below(depth > 0 ? 8 : 3)
    if (choice < 3) return `${' '.repeat(indent)}${this.inline(indent, depth)}`
    return choice < 6 ? this.#mapping(indent, depth) : this.#sequence(indent, depth)
  }

  #mapping(indent: number, depth: number): string {
    const pad = ' '.repeat(indent)
    return this.#several(4, () => {
      if (this.#random.below(12) === 0) return `${pad}? ${this.scalar()}\n${pad}: ${this.scalar()}`
      return `${pad}${this.#key()}:${this.#space()}${this.#value(indent, depth)}`
    })
  }

  #sequence(indent: number, depth: number): string {
    const pad = ' '.repeat(indent)
    return this.#several(4, () => {
      const isNested = depth > 1 && this.#random.below(4) === 0
      if (!isNested) return `${pad}-${this.#space()}${this.#value(indent, depth)}`
      return `${pad}- ${this.block(indent + 2, depth - 1).trimStart()}`
    })
  }

  /** What stands behind a colon or a dash: on the same line, or below and deeper. */
  #value(indent: number, depth: number): string {
    const choice = this.#random.below(10)
    if (choice === 0) return ''
    if (choice < 6 || depth <= 0) return this.inline(indent + 1, depth)
    return `${this.#random.pick(['', '', this.#anchor()])}\n${this.block(indent + 1 + this.#random.below(3), depth - 1)}`
  }

  inline(indent: number, depth: number): string {
    switch (this.#random.below(10)) {
      case 0:
        return this.#literal(indent)
      case 1:
      case 2:
        return this.flow(depth)
      case 3:
        return `${this.#anchor()}${this.scalar()}`
      case 4:
        return this.#anchors.length === 0 ? this.scalar() : `*${this.#random.pick(this.#anchors)}`
      case 5:
        return `${this.#random.pick(['!!str ', '!!int ', '! ', '!x ', '!!map '])}${this.scalar()}`
      default:
        return this.scalar() + this.#random.pick(['', '', '', ' # c', '  '])
    }
  }

  flow(depth: number): string {
    const choice = this.#random.below(depth > 0 ? 5 : 2)
    if (choice < 2) return this.scalar(true)
    const separator = this.#random.pick([', ', ',', ' , ', `,\n${far}`])
    const items = Array.from({ length: this.#random.below(4) }, () => (choice === 2 ? this.flow(depth - 1) : this.#flowPair(depth)))
    return choice === 2 ? `[${items.join(separator)}]` : `{${items.join(separator)}${this.#random.pick(['', '', ','])}}`
  }

  #flowPair(depth: number): string {
    return `${this.scalar(true)}${this.#random.pick([': ', ': ', ' : ', ':'])}${this.flow(depth - 1)}`
  }

  scalar(inFlow = false): string {
    const text = this.#random.pick(texts)
    switch (this.#random.below(6)) {
      case 0:
        return `"${this.#random.below(3) === 0 ? overLines(text) : JSON.stringify(text).slice(1, -1)}"`
      case 1:
        return `'${overLines(text.replaceAll("'", "''"))}'`
      case 2:
        return this.#random.pick(numbers)
      default:
        return inFlow ? this.#random.pick(['a', 'b', 'k', 'yes', 'x y', 'a-b', 'é']) : this.#random.pick(plainWords)
    }
  }

  #key(): string {
    return this.#random.below(6) === 0
      ? this.scalar().replaceAll('\n', ' ')
      : this.#random.pick(['a', 'b', 'c', 'k1', 'x y', 'é', '"q"', "'s'", '1', 'yes'])
  }

  #literal(indent: number): string {
    const pad = ' '.repeat(indent + this.#random.below(3))
    const lines = this.#several(4, () => this.#random.pick(['', ' ', `${pad}x`, `${pad}x y`, `${pad}  deeper`, `${pad}# no comment`]))
    return `${this.#random.pick(['|', '>', '|-', '>-', '|+', '>+', '|2', '>1'])}\n${lines}\n`
  }

  #anchor(): string {
    const name = this.#random.pick(['x', 'y1', 'z'])
    this.#anchors.push(name)
    return `&${name} `
  }

  #space = (): string => this.#random.pick([' ', ' ', ' ', '  '])

  #several = (most: number, make: () => string): string => Array.from({ length: 1 + this.#random.below(most) }, make).join('\n')
}

const splinters = [
  ' ',
  '\n',
  '\t',
  ':',
  ': ',
  '-',
  '- ',
  ',',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '#',
  ' #',
  '&x',
  '*x',
  '!',
  '|',
  '>',
  '%',
  '?',
  '? ',
  '---\n',
  '\\',
  '\r\n',
  '0',
  '_',
  '.',
  '~',
  '@',
  '`',
]

/** A document with some characters taken out, put in or repeated. */
export function mutate(random: Random, text: string): string {
  let out = text
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(out.length + 1)
    const end = Math.min(out.length, at + 1 + random.below(4))
    const kind = random.below(4)
    if (kind === 0) out = out.slice(0, at) + out.slice(end)
    else if (kind === 1) out = out.slice(0, end) + out.slice(at, end) + out.slice(end)
    else out = out.slice(0, at) + random.pick(splinters) + out.slice(at)
  }
  return out
}
