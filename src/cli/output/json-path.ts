// JSONPath templates as the original's command line reads them: text, fields, lists, filters, ranges.

import { compareText } from '../../base/text-order.js'
import { Failure } from '../failure.js'
import { goJson } from './documents.js'

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'names'; readonly names: readonly Name[] }
  | {
      readonly kind: 'index'
      readonly start: number | undefined
      readonly end: number | undefined
      readonly step: number
      readonly isOne: boolean
    }
  | { readonly kind: 'all' }
  | { readonly kind: 'deep' }
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator: string; readonly right: Operand | undefined }

/** In brackets and quotes: a member of that name, or a path. */
interface Name {
  readonly text: string
  readonly path: readonly Step[]
}

type Operand = { readonly kind: 'path'; readonly steps: readonly Step[] } | { readonly kind: 'value'; readonly value: unknown }

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly steps: readonly Step[]; readonly fromRoot: boolean }
  | { readonly kind: 'range'; readonly steps: readonly Step[]; readonly fromRoot: boolean; readonly parts: readonly Part[] }

export type Template = readonly Part[]

/** What is wrong with it is told together with the whole of it. */
function reading<T>(text: string, read: () => T): T {
  try {
    return read()
  } catch (thrown) {
    throw thrown instanceof Failure ? new Failure(`error parsing jsonpath ${text}, ${thrown.message}`) : thrown
  }
}

export const parseTemplate = (text: string): Template => reading(text, () => readTemplate(text))

function readTemplate(text: string): Template {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('{', at)
    if (open < 0) {
      pieces.push(text.slice(at))
      break
    }
    if (open > at) pieces.push(text.slice(at, open))
    const close = closingBrace(text, open)
    pieces.push(text.slice(open, close + 1))
    at = close + 1
  }
  return partsFrom(pieces, 0, false).parts
}

function closingBrace(text: string, open: number): number {
  let quote = ''
  for (let at = open + 1; at < text.length; at++) {
    const letter = text[at] as string
    if (quote !== '') {
      if (letter === '\\') at++
      else if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '}') return at
  }
  throw new Failure('unclosed action')
}

function partsFrom(pieces: readonly string[], from: number, isInside: boolean): { readonly parts: readonly Part[]; readonly next: number } {
  const parts: Part[] = []
  let at = from
  while (at < pieces.length) {
    const piece = pieces[at] as string
    const inner = piece.startsWith('{') ? piece.slice(1, -1).trim() : undefined
    at++
    if (inner === undefined) parts.push({ kind: 'text', text: piece })
    else if (inner === 'end') {
      if (!isInside) throw new Failure('an end without its range')
      return { parts, next: at }
    } else if (inner.startsWith('range ') || inner.startsWith('range\t')) {
      const body = partsFrom(pieces, at, true)
      parts.push({ kind: 'range', ...pathOf(inner.slice(6).trim()), parts: body.parts })
      at = body.next
    } else for (const one of actionsOf(inner)) parts.push(one)
  }
  return { parts, next: at }
}

/** One action may hold texts and paths, one after the other. */
function actionsOf(inner: string): readonly Part[] {
  const quoted = /^(["'])((?:\\.|(?!\1).)*)\1$/s.exec(inner)
  if (quoted !== null) return [{ kind: 'text', text: unescapeText(quoted[2] as string) }]
  if (literal.test(inner)) return [{ kind: 'text', text: inner }]
  return [{ kind: 'path', ...pathOf(inner) }]
}

/** Numbers and truth stand for themselves. */
const literal = /^(?:true|false|[+-]?\d+(?:\.\d+)?)$/

const unescapeText = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs, (_, code?: string, byte?: string, letter = '') =>
    code === undefined && byte === undefined
      ? (({ n: '\n', t: '\t', r: '\r' } as { readonly [letter: string]: string })[letter] ?? letter)
      : String.fromCharCode(Number.parseInt(code ?? byte ?? '', 16)),
  )

function pathOf(text: string): { readonly steps: readonly Step[]; readonly fromRoot: boolean } {
  const word = /^[A-Za-z_]\w*/.exec(text)?.[0]
  if (word !== undefined) throw new Failure(`unrecognized identifier ${word}: a path begins with a dot`)
  return { steps: parsePath(text.replace(/^[$@]/, '')), fromRoot: text.startsWith('$') }
}

/** What a name without quotes and backslashes cannot contain. */
const endsName = /[.[\],{}$@\s]/

/** The steps of `.a.b[0]['c']..d[?(@.x==1)]`. */
export function parsePath(text: string): readonly Step[] {
  const steps: Step[] = []
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('..', at)) {
      steps.push({ kind: 'deep' })
      at += text[at + 2] === '[' ? 2 : 1
    } else if (text[at] === '[') {
      const close = closingBracket(text, at)
      steps.push(bracketStep(text.slice(at + 1, close).trim()))
      at = close + 1
    } else {
      if (text[at] === '.') at++
      let name = ''
      while (at < text.length && !endsName.test(text[at] as string)) {
        if (text[at] === '\\') at++
        name += text[at++] ?? ''
      }
      if (text[at]?.trim() === '') {
        if (text.slice(at).trim() !== '') throw new Failure(`unrecognized text behind "${text.slice(0, at)}"`)
        at = text.length
      } else if (at < text.length && text[at] !== '.' && text[at] !== '[') throw new Failure(`unexpected "${text[at]}"`)
      if (name === '*') steps.push({ kind: 'all' })
      else if (name !== '') steps.push({ kind: 'field', name })
    }
  }
  return steps
}

function closingBracket(text: string, open: number): number {
  let depth = 0
  let quote = ''
  for (let at = open; at < text.length; at++) {
    const letter = text[at] as string
    if (quote !== '') {
      if (letter === '\\') at++
      else if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '[') depth++
    else if (letter === ']' && --depth === 0) return at
  }
  throw new Failure('unterminated array')
}

function bracketStep(inner: string): Step {
  if (inner === '*') return { kind: 'all' }
  if (inner.startsWith('?(') && inner.endsWith(')')) return filterOf(inner.slice(2, -1).trim())
  if (inner.startsWith('"'))
    throw new Failure(`invalid array index ${inner}: a name stands in single quotes, [${inner.replaceAll('"', "'")}]`)
  if (inner.startsWith("'"))
    return {
      kind: 'names',
      names: [...inner.matchAll(/'((?:\\.|[^'\\])*)'/g)].map(([, name = '']) => ({
        text: unescapeText(name),
        path: parsePath(`.${name}`),
      })),
    }
  const numbers = /^(-?\d+)?(?:(:)(-?\d+)?(?::(\d+))?)?$/.exec(inner)
  if (numbers === null) {
    // A union of positions.
    if (/^-?\d+(,-?\d+)+$/.test(inner)) return { kind: 'names', names: inner.split(',').map((text) => ({ text, path: [] })) }
    throw new Failure(`invalid array index ${inner}`)
  }
  const [, start, colon, end, step] = numbers
  const whole = (one: string | undefined): number | undefined => (one === undefined ? undefined : Number(one))
  return { kind: 'index', start: whole(start), end: whole(end), step: whole(step) ?? 1, isOne: colon === undefined }
}

function filterOf(text: string): Step {
  const found = /^(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)$/s.exec(text)
  if (found === null) return { kind: 'filter', left: operandOf(text), operator: 'exists', right: undefined }
  return {
    kind: 'filter',
    left: operandOf(found[1] as string),
    operator: found[2] as string,
    right: operandOf((found[3] as string).trim()),
  }
}

function operandOf(text: string): Operand {
  if (/^["']/.test(text)) return { kind: 'value', value: unescapeText(text.slice(1, -1)) }
  if (/^-?\d+(\.\d+)?$/.test(text)) return { kind: 'value', value: Number(text) }
  if (text === 'true' || text === 'false') return { kind: 'value', value: text === 'true' }
  return { kind: 'path', steps: parsePath(text.replace(/^[$@]/, '')) }
}

export interface FollowOptions {
  /** What is missing leads nowhere, and is no failure. */
  readonly allowsMissing: boolean
}

/** All values that the steps lead to; what is missing leads nowhere. */
export function follow(
  steps: readonly Step[],
  root: unknown,
  { allowsMissing }: FollowOptions = { allowsMissing: true },
): readonly unknown[] {
  let values: readonly unknown[] = [root]
  for (const step of steps) {
    const before = values
    values =
      step.kind === 'names'
        ? step.names.flatMap((name) => before.flatMap((value) => named(name, value)))
        : before.flatMap((value) => stepInto(step, value))
    if (!allowsMissing && values.length === 0 && step.kind === 'field') throw new Failure(`${step.name} is not found`)
  }
  return values
}

/** Of several names the first is looked up in all values, then the next. */
function named({ text, path }: Name, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const record = value as { readonly [name: string]: unknown }
  const key = Array.isArray(value) && text.startsWith('-') ? String(value.length + Number(text)) : text
  if (Object.hasOwn(record, key)) return [record[key]]
  return path.length > 1 ? follow(path, value) : []
}

function stepInto(step: Exclude<Step, { kind: 'names' }>, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const record = value as { readonly [name: string]: unknown }
  switch (step.kind) {
    case 'field':
      return Object.hasOwn(record, step.name) && record[step.name] !== undefined ? [record[step.name]] : []
    case 'all':
      return valuesOf(record)
    case 'deep':
      return [...everyValue(value)]
    case 'index':
      return Array.isArray(value) ? sliceOf(value, step) : []
    case 'filter':
      return (Array.isArray(value) ? value : []).filter((item: unknown) => passes(step, item))
  }
}

function* everyValue(value: unknown): Generator<unknown> {
  yield value
  if (typeof value === 'object' && value !== null) for (const inner of valuesOf(value)) yield* everyValue(inner)
}

/** Members in the order of their names. */
const valuesOf = (value: object): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : Object.entries(value)
        .sort(([a], [b]) => compareText(a, b))
        .map(([, member]) => member as unknown)

function sliceOf(list: readonly unknown[], { start = 0, end, step, isOne }: Extract<Step, { kind: 'index' }>): readonly unknown[] {
  const { length } = list
  const first = start < 0 ? length + start : start
  const behind = isOne ? first + 1 : end === undefined ? length : end < 0 ? length + end : end
  const outside = (index: number): Failure => new Failure(`array index out of bounds: index ${index}, length ${length}`)
  if (first === behind) return []
  if (first < 0 || first >= length) throw outside(first)
  if (behind < 0 || behind > length) throw outside(behind - 1)
  if (first > behind) throw new Failure(`starting index ${first} is greater than ending index ${behind}`)
  return list.slice(first, behind).filter((_, i) => i % step === 0)
}

function passes({ left, operator, right }: Extract<Step, { kind: 'filter' }>, item: unknown): boolean {
  const read = (operand: Operand): unknown => (operand.kind === 'value' ? operand.value : follow(operand.steps, item)[0])
  const a = read(left)
  // What is there and false is there; what is missing passes no comparison.
  if (operator === 'exists' || right === undefined) return a !== undefined
  const b = read(right)
  if (a === undefined || b === undefined) return false
  if (typeof a !== typeof b || typeof a === 'object') throw new Failure('incompatible types for comparison')
  const [x, y] = [a, b]
  switch (operator) {
    case '==':
      return x === y
    case '!=':
      return x !== y
    case '<':
      return (x as number) < (y as number)
    case '<=':
      return (x as number) <= (y as number)
    case '>':
      return (x as number) > (y as number)
    default:
      return (x as number) >= (y as number)
  }
}

/** A value as people read it: texts as they are, the rest as JSON. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : goJson(value)

export function fillTemplate(template: Template, root: unknown, options?: FollowOptions, current: unknown = root): string {
  let text = ''
  for (const part of template) {
    if (part.kind === 'text') text += part.text
    else {
      const values = follow(part.steps, part.fromRoot ? root : current, options)
      if (part.kind === 'path') text += values.map(textOf).join(' ')
      else for (const value of values) text += fillTemplate(part.parts, root, options, value)
    }
  }
  return text
}

/** The values themselves that a template of paths leads to. */
export function templateValues(template: Template, root: unknown, options?: FollowOptions, current: unknown = root): readonly unknown[] {
  return template.flatMap((part) => {
    if (part.kind === 'text') return part.text === '' ? [] : [part.text]
    const values = follow(part.steps, part.fromRoot ? root : current, options)
    return part.kind === 'path' ? values : values.flatMap((value) => templateValues(part.parts, root, options, value))
  })
}

/** `{.a}`, `.a` and `a` alike: for columns and for what is sorted by. */
export function parseRelaxed(text: string): readonly Step[] {
  const inner = /^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim()
  return reading(text, () => parsePath(inner.replace(/^[$@]/, '')))
}
