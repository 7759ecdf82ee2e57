// `cluster-apiserver codec --to json|yaml|protobuf`: reads one object in any of the three forms and writes it in the one asked for,
// without a server. For looking into stored or recorded bytes, and for checking the codec itself.

import type { Json } from '../api/object.js'
import { parseJson } from '../codec/json.js'
import { decodeProtobuf, encodeProtobuf, isEnvelope, readEnvelope } from '../codec/protobuf.js'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { writeYaml } from '../codec/yaml/write-yaml.js'
import { JsonSyntaxError } from '../schema/json-parse.js'
import type { StructNode } from '../schema/node.js'
import { printPath } from '../schema/path.js'
import { hasProtobuf } from '../schema/protobuf.js'
import { isRecord, readValue } from '../schema/read.js'
import { writeValue } from '../schema/write.js'

/** The schema of a kind, under either identity; both names are empty for the event of a watch, which has no type. */
export type SchemaLookup = (apiVersion: string, kind: string) => Promise<StructNode | undefined>

export const codecForms = ['json', 'yaml', 'protobuf'] as const
export type CodecForm = (typeof codecForms)[number]

/** What the command touches outside of itself. */
export interface CodecStreams {
  readonly input: AsyncIterable<Uint8Array>
  readonly print: (bytes: Uint8Array) => void
  readonly complain: (text: string) => void
}

const usage = 'usage: cluster-apiserver codec --to json|yaml|protobuf < object\n'

/** Answers the exit code: 0, 1 where the object cannot be converted, 2 where the command line is wrong. */
export async function runCodecCommand(args: readonly string[], streams: CodecStreams, lookup: SchemaLookup): Promise<number> {
  const to = parseArguments(args)
  if (to === undefined) {
    streams.complain(usage)
    return 2
  }
  try {
    const bytes = await readAll(streams.input)
    const object = await readObject(bytes, lookup)
    for (const path of object.unknown) streams.complain(`cluster-apiserver codec: unknown field "${path}" is left out\n`)
    streams.print(writeObject(object, to))
    return 0
  } catch (thrown) {
    streams.complain(`cluster-apiserver codec: ${thrown instanceof Error ? thrown.message : thrown}\n`)
    return 1
  }
}

function parseArguments(args: readonly string[]): CodecForm | undefined {
  const text = args.length === 1 && args[0]?.startsWith('--to=') ? args[0].slice(5) : args.length === 2 && args[0] === '--to' ? args[1] : ''
  return codecForms.find((form) => form === text)
}

async function readAll(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of input) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** An object that was read, with all that is needed to write it again. */
export interface ReadObject {
  readonly apiVersion: string
  readonly kind: string
  readonly schema: StructNode
  readonly value: unknown
  /** Members that its kind does not have. */
  readonly unknown: readonly string[]
}

/** Throws where the bytes are none of the three forms, or no object of a known kind. */
export async function readObject(bytes: Uint8Array, lookup: SchemaLookup): Promise<ReadObject> {
  if (isEnvelope(bytes)) {
    const { apiVersion, kind, raw } = readEnvelope(bytes)
    const schema = await schemaOf(apiVersion, kind, lookup)
    const type = schema.typeMeta ? { kind, apiVersion } : {}
    return { apiVersion, kind, schema, value: { ...type, ...decodeProtobuf(schema, raw) }, unknown: [] }
  }
  const parsed = parseText(bytes)
  if (!isRecord(parsed)) throw new Error('the input is no object')
  const { apiVersion = '', kind = '' } = parsed
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new Error('kind and apiVersion must be texts')
  const schema = await schemaOf(apiVersion, kind, lookup)
  const { value, report } = readValue(schema, parsed)
  return { apiVersion, kind, schema, value, unknown: report.unknown.map(printPath) }
}

async function schemaOf(apiVersion: string, kind: string, lookup: SchemaLookup): Promise<StructNode> {
  const schema = await lookup(apiVersion, kind)
  if (schema === undefined) throw new Error(`no kind ${JSON.stringify(kind)} is known in version ${JSON.stringify(apiVersion)}`)
  return schema
}

/** What begins with a brace is JSON, unless it is YAML of that style. */
function parseText(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes)
  if (!text.trimStart().startsWith('{')) return readYaml(text).value
  try {
    return parseJson(bytes).value
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw thrown
    try {
      return readYaml(text).value
    } catch {
      throw thrown
    }
  }
}

export function writeObject({ apiVersion, kind, schema, value }: ReadObject, to: CodecForm): Uint8Array {
  if (to === 'protobuf') {
    if (!hasProtobuf(schema)) throw new Error(`${kind} has no Protobuf form`)
    return encodeProtobuf({ type: { apiVersion, kind }, schema, object: value })
  }
  const json = Buffer.from(writeValue(schema, value))
  return to === 'yaml' ? Buffer.from(writeYaml(parseJson(json).value as Json)) : Buffer.concat([json, Buffer.from('\n')])
}
