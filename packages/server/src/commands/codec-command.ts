// The command codec: converts one object between JSON, YAML and Protobuf, such as stored or recorded bytes.

import { parseArgs } from 'node:util'
import type { Json } from '@cluster-apiserver/api/api/object.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { decodeProtobuf, encodeProtobuf, isEnvelope, readEnvelope } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { isRecord, readValue } from '@cluster-apiserver/api/schema/json/read.js'
import { writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import { printPath } from '@cluster-apiserver/api/schema/path.js'
import { hasProtobuf } from '@cluster-apiserver/api/schema/protobuf/protobuf.js'
import { findSchema } from './codec-schemas.js'
import { runCommand } from './command-process.js'

const codecFormats = ['json', 'yaml', 'protobuf'] as const
type CodecFormat = (typeof codecFormats)[number]

interface CodecStreams {
  readonly input: AsyncIterable<Uint8Array>
  readonly print: (bytes: Uint8Array) => void
  readonly printError: (text: string) => void
}

const usage = `usage: cluster-apiserver codec --to=json|yaml|protobuf < object

Converts one object of a built-in kind from standard input, in any of these formats, to standard output.

Exit codes: 0 success, 1 the object cannot be converted, 2 invalid command line.
`

export function runCodecCommand(args: readonly string[], { input, print, printError }: CodecStreams): Promise<number> {
  const run = async (to: CodecFormat): Promise<undefined> => {
    const object = await readObject(await readAll(input))
    for (const path of object.unknown) printError(`cluster-apiserver codec: unknown field "${path}" is dropped\n`)
    print(writeObject(object, to))
  }
  const output = { print: (text: string) => print(Buffer.from(text)), printError }
  return runCommand({ name: 'codec', usage, read: readArguments, run }, args, output)
}

function readArguments(args: readonly string[]): CodecFormat {
  const { to } = parseArgs({ args: [...args], options: { to: { type: 'string' } } }).values
  const format = codecFormats.find((name) => name === to)
  if (format === undefined) throw new Error(`--to must be one of ${codecFormats.join(', ')}`)
  return format
}

async function readAll(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of input) chunks.push(chunk)
  return Buffer.concat(chunks)
}

interface ReadObject {
  readonly apiVersion: string
  readonly kind: string
  readonly schema: StructNode
  readonly value: unknown
  readonly unknown: readonly string[]
}

/** Throws unless the bytes are an object of a known kind in one of the three formats. */
export async function readObject(bytes: Uint8Array): Promise<ReadObject> {
  if (isEnvelope(bytes)) {
    const { apiVersion, kind, raw } = readEnvelope(bytes)
    const schema = await schemaOf(apiVersion, kind)
    const type = schema.typeMeta ? { kind, apiVersion } : {}
    return { apiVersion, kind, schema, value: { ...type, ...decodeProtobuf(schema, raw) }, unknown: [] }
  }
  const parsed = parseText(bytes)
  if (!isRecord(parsed)) throw new Error('the input is not an object')
  const { apiVersion = '', kind = '' } = parsed
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new Error('kind and apiVersion must be strings')
  const schema = await schemaOf(apiVersion, kind)
  const { value, report } = readValue(schema, parsed)
  return { apiVersion, kind, schema, value, unknown: report.unknown.map(printPath) }
}

async function schemaOf(apiVersion: string, kind: string): Promise<StructNode> {
  const schema = await findSchema(apiVersion, kind)
  if (schema === undefined) throw new Error(`unknown kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
  return schema
}

/** Text that starts with a brace is JSON or flow-style YAML. */
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

export function writeObject({ apiVersion, kind, schema, value }: ReadObject, to: CodecFormat): Uint8Array {
  if (to === 'protobuf') {
    if (!hasProtobuf(schema)) throw new Error(`${kind} has no Protobuf encoding`)
    return encodeProtobuf({ type: { apiVersion, kind }, schema, object: value })
  }
  const json = Buffer.from(writeValue(schema, value))
  return to === 'yaml' ? Buffer.from(writeYaml(parseJson(json).value as Json)) : Buffer.concat([json, Buffer.from('\n')])
}
