// JSONPath templates of kubectl: text, paths and ranges.

import { followPath, isRange, PathBudget, type PathContext, PathFailure } from '@cluster-apiserver/api/api/json-path/json-path.js'
import {
  JsonPathError,
  LiteralNumber,
  type PathNode,
  parseTemplate as parseNodes,
} from '@cluster-apiserver/api/api/json-path/json-path-syntax.js'
import { CommandError } from '../command-line/errors.js'
import { goJson } from './documents.js'

type Path = readonly PathNode[]

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'range'; readonly path: Path; readonly parts: readonly Part[] }

type Template = readonly Part[]

function parse(text: string, template: string): readonly Part[] {
  try {
    return partsOf(parseNodes(template)[Symbol.iterator](), false)
  } catch (thrown) {
    throw thrown instanceof JsonPathError ? new CommandError(`error parsing jsonpath ${text}, ${thrown.message}`) : thrown
  }
}

export const parseTemplate = (text: string): Template => parse(text, text)

function partsOf(nodes: Iterator<PathNode>, isInRange: boolean): readonly Part[] {
  const parts: Part[] = []
  for (let next = nodes.next(); next.done !== true; next = nodes.next()) {
    const node = next.value
    const path = node.kind === 'list' ? node.nodes : [node]
    const [first] = path
    if (first?.kind === 'word' && first.name === 'end') {
      if (!isInRange) throw new JsonPathError('not in range, nothing to end')
      return parts
    }
    const text = path.length === 1 && first?.kind === 'literal' ? first.value : undefined
    if (typeof text === 'string') parts.push({ kind: 'text', text })
    else parts.push(isRange(path) ? { kind: 'range', path, parts: partsOf(nodes, true) } : { kind: 'path', path })
  }
  return parts
}

interface PathOptions {
  /** True: a missing field has no values. False: a missing field is an error. */
  readonly allowsMissing: boolean
}

export function evaluatePath(path: Path, root: unknown, { allowsMissing }: PathOptions = { allowsMissing: true }): readonly unknown[] {
  const unlimited = new PathBudget(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  const context: PathContext = { budget: unlimited, allowsMissing, hasLiteralKeys: true }
  try {
    return followPath([root], path, context).map((value) => (value instanceof LiteralNumber ? value.value : value))
  } catch (thrown) {
    throw thrown instanceof PathFailure ? new CommandError(thrown.message) : thrown
  }
}

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : goJson(value)

export function fillTemplate(template: Template, root: unknown, options?: PathOptions): string {
  return template
    .map((part) => {
      if (part.kind === 'text') return part.text
      const values = evaluatePath(part.path, root, options)
      return part.kind === 'path' ? values.map(textOf).join(' ') : values.map((value) => fillTemplate(part.parts, value, options)).join('')
    })
    .join('')
}

export function templateValues(template: Template, root: unknown, options?: PathOptions): readonly unknown[] {
  return template.flatMap((part) => {
    if (part.kind === 'text') return part.text === '' ? [] : [part.text]
    const values = evaluatePath(part.path, root, options)
    return part.kind === 'path' ? values : values.flatMap((value) => templateValues(part.parts, value, options))
  })
}

/** Parses one path: `{.a}`, `.a`, `a` or `$.a`. */
export function parseRelaxed(text: string): Path {
  const inner = (/^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text.trim()).replace(/^[$@]/, '')
  const [part] = parse(text, `{${/^[.[]|^$/.test(inner) ? '' : '.'}${inner}}`)
  return part?.kind === 'path' ? part.path : []
}
