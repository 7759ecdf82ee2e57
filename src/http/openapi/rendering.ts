// What the documents of both versions of OpenAPI say in the same words.

import { STATUS_CODES } from 'node:http'
import { compareText } from '../../base/text-order.js'
import type { JsonSchema } from '../../schema/openapi.js'
import type { Operation } from './route.js'

export const answerText = (code: string): string => STATUS_CODES[code] ?? code

export const unauthorized: JsonSchema = { 401: { description: answerText('401') } }

export const tokenScheme: JsonSchema = {
  BearerToken: { type: 'apiKey', name: 'authorization', in: 'header', description: "A token in the form 'Bearer <token>'." },
}
export const security: readonly JsonSchema[] = [{ BearerToken: [] }]

export const marksOf = ({ action, kind }: Operation): JsonSchema => ({
  ...(action !== undefined && { 'x-kubernetes-action': action }),
  ...(kind !== undefined && { 'x-kubernetes-group-version-kind': kind }),
})

/**
 * A document in the order in which it is written: paths are rendered one at a time, and what they need stands at its end. All of it takes a
 * second where many kinds are served, so that it is to be made in pieces (see base/pieces).
 */
export interface DocumentParts {
  readonly head: JsonSchema
  /** Undefined after a step that has rendered nothing yet. */
  readonly paths: () => Iterable<readonly [path: string, item: JsonSchema] | undefined>
  /** Complete when all paths have been rendered. */
  readonly tail: () => JsonSchema
}

/** The whole document as one value. */
export const wholeDocument = ({ head, paths, tail }: DocumentParts): JsonSchema => ({
  ...head,
  paths: Object.fromEntries([...paths()].filter((path) => path !== undefined)),
  ...tail(),
})

/** The JSON of the same document, without ever having it as one value, which takes many times as much room. */
export function* documentJson({ head, paths, tail }: DocumentParts): Generator<undefined, Buffer, void> {
  const pieces = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"paths":{`)]
  for (const rendered of paths()) {
    if (rendered !== undefined)
      pieces.push(Buffer.from(`${pieces.length > 1 ? ',' : ''}${JSON.stringify(rendered[0])}:${JSON.stringify(rendered[1])}`))
    yield
  }
  pieces.push(Buffer.from('},'))
  let isFirst = true
  for (const text of membersJson(tail(), 2)) {
    pieces.push(Buffer.from(isFirst ? text.slice(1) : text))
    isFirst = false
    yield
  }
  return Buffer.concat(pieces)
}

/** The JSON of an object in parts: one for each member, and of those that are objects themselves for each of theirs, down to some depth. */
function* membersJson(value: object, depth: number): Generator<string, void, void> {
  let before = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const head = `${before}${JSON.stringify(name)}:`
    before = ','
    if (depth > 0 && typeof member === 'object' && member !== null && !Array.isArray(member)) {
      yield head
      yield* membersJson(member as object, depth - 1)
    } else yield `${head}${JSON.stringify(member)}`
  }
  yield before === '{' ? '{}' : '}'
}

export const sorted = (definitions: ReadonlyMap<string, JsonSchema>): JsonSchema =>
  Object.fromEntries([...definitions].sort(([a], [b]) => compareText(a, b)))
