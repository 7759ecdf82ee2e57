// The encoding of an OpenAPI document from entries (paths and definitions) and the bytes around them; the JSON encoding.

import { jsonText } from '@cluster-apiserver/api/schema/json/write.js'
import type { JsonSchema } from '@cluster-apiserver/api/schema/openapi/openapi.js'

export interface DocumentEncoding {
  readonly separator: Uint8Array
  readonly path: (path: string, item: JsonSchema) => Uint8Array
  readonly definition: (name: string, schema: JsonSchema) => Uint8Array
  readonly frame: (info: JsonSchema, lengths: SectionLengths) => Frame
}

interface SectionLengths {
  readonly paths: number
  readonly definitions: number
}

interface Frame {
  readonly before: Uint8Array
  readonly between: Uint8Array
  readonly after: Uint8Array
}

export function joinEntries({ separator }: Pick<DocumentEncoding, 'separator'>, entries: readonly Uint8Array[]): Uint8Array | undefined {
  if (entries.length === 0) return undefined
  return Buffer.concat(entries.flatMap((entry, i) => (i === 0 ? [entry] : [separator, entry])))
}

export const tokenScheme: JsonSchema = {
  BearerToken: { type: 'apiKey', name: 'authorization', in: 'header', description: "A token in the form 'Bearer <token>'." },
}
export const security: readonly JsonSchema[] = [{ BearerToken: [] }]

interface JsonTemplate {
  readonly head: JsonSchema
  readonly between: string
  readonly after: string
}

const jsonEntry = (name: string, value: JsonSchema): Uint8Array => Buffer.from(`${JSON.stringify(name)}:${jsonText(value)}`)

const jsonEncodingOf = ({ head, between, after }: JsonTemplate): DocumentEncoding => ({
  separator: Buffer.from(','),
  path: jsonEntry,
  definition: jsonEntry,
  frame: (info) => ({
    before: Buffer.from(`${JSON.stringify({ ...head, info }).slice(0, -1)},"paths":{`),
    between: Buffer.from(`}${between}{`),
    after: Buffer.from(after),
  }),
})

const secured = `"security":${JSON.stringify(security)}`
const scheme = JSON.stringify(tokenScheme)

export const jsonV2 = jsonEncodingOf({
  head: { swagger: '2.0' },
  between: ',"definitions":',
  after: `},"securityDefinitions":${scheme},${secured}}`,
})
export const jsonV3 = jsonEncodingOf({
  head: { openapi: '3.0.0' },
  between: ',"components":{"schemas":',
  after: `},"securitySchemes":${scheme}},${secured}}`,
})
