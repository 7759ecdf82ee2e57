// Documents as JSON.

import type { JsonSchema } from '../../schema/openapi.js'
import type { DocumentForm, EntrySteps, Frame } from './document-form.js'
import { security, tokenScheme } from './rendering.js'

interface Words {
  /** With which version the document begins. */
  readonly head: JsonSchema
  /** What stands between paths and definitions, and behind these. */
  readonly between: string
  readonly after: string
}

function jsonForm({ head, between, after }: Words): DocumentForm {
  const frame = (info: JsonSchema): Frame => ({
    before: Buffer.from(`${JSON.stringify({ ...head, info }).slice(0, -1)},"paths":{`),
    between: Buffer.from(`}${between}{`),
    after: Buffer.from(after),
  })
  return {
    separator: Buffer.from(','),
    // A path is short.
    // biome-ignore lint/correctness/useYield: it is at once
    path: function* (path, item) {
      return Buffer.from(`${JSON.stringify(path)}:${JSON.stringify(item)}`)
    },
    definition: jsonEntry,
    frame,
  }
}

const secured = `"security":${JSON.stringify(security)}`
const scheme = JSON.stringify(tokenScheme)

export const jsonV2 = jsonForm({
  head: { swagger: '2.0' },
  between: ',"definitions":',
  after: `},"securityDefinitions":${scheme},${secured}}`,
})
export const jsonV3 = jsonForm({
  head: { openapi: '3.0.0' },
  between: ',"components":{"schemas":',
  after: `},"securitySchemes":${scheme}},${secured}}`,
})

/** Below this depth a schema is one text; no author writes much more by hand. */
const splitDepth = 12
const partChars = 16 * 1024

function* jsonEntry(name: string, schema: JsonSchema): EntrySteps {
  const parts: Buffer[] = []
  let text = `${JSON.stringify(name)}:`
  for (const part of membersJson(schema, splitDepth)) {
    text += part
    if (text.length < partChars) continue
    parts.push(Buffer.from(text))
    text = ''
    yield
  }
  const rest = Buffer.from(text)
  return parts.length === 0 ? rest : Buffer.concat([...parts, rest])
}

/** The JSON of an object in parts: one for each member, and of those that are objects themselves for each of theirs, down to some depth. */
function* membersJson(value: object, depth: number): Generator<string, void, void> {
  let before = '{'
  for (const name in value) {
    const member = (value as JsonSchema)[name]
    if (member === undefined) continue
    const head = `${before}${JSON.stringify(name)}:`
    before = ','
    if (depth > 0 && typeof member === 'object' && member !== null && !Array.isArray(member)) {
      yield head
      yield* membersJson(member, depth - 1)
    } else yield `${head}${JSON.stringify(member)}`
  }
  yield before === '{' ? '{}' : '}'
}
