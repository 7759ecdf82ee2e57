// Streams a JSON list as indented JSON or YAML. Input chunks: head up to the bracket of `items`, items with leading commas, end.

import type { Json } from '../api/object.js'
import { beginText, indentation } from './indentation.js'
import { parseWrittenJson } from './json/json.js'
import { compareKeys } from './yaml/key-order.js'
import { writeYaml } from './yaml/write-yaml.js'

export interface ListText {
  readonly format: 'pretty' | 'yaml'
  readonly json: string
  /** True if `json` is a sequence of items with leading commas, false if it is a document. */
  readonly areItems: boolean
}

export type EncodeListText = (text: ListText) => Promise<Uint8Array>

/** Longer chunks are encoded in a worker thread, if there is one. Chunks of small items have up to 128 KiB; longer ones have one object. */
const maxTextLength = 160 << 10

const itemDepth = 2

export function encodeListText({ format, json, areItems }: ListText): string {
  if (format === 'pretty') return areItems ? printAt(json, itemDepth) : prettyJson(json)
  return writeYaml(areItems ? parseItems(json) : parseWrittenJson(json))
}

const parseItems = (items: string): readonly Json[] =>
  parseWrittenJson(`[${items.startsWith(',') ? items.slice(1) : items}]`) as readonly Json[]

type Part = string | ListText

interface TextWriter {
  write(text: string): readonly Part[]
  end(): string
}

export async function* textChunks(
  chunks: AsyncIterable<Uint8Array>,
  format: 'pretty' | 'yaml',
  inWorker?: EncodeListText,
): AsyncGenerator<Uint8Array> {
  const writer = format === 'pretty' ? prettyWriter() : yamlWriter()
  for await (const chunk of chunks) for (const part of writer.write(decoder.decode(chunk))) yield* writePart(part, inWorker)
  yield* writePart(writer.end(), inWorker)
}

async function* writePart(part: Part, inWorker: EncodeListText | undefined): AsyncGenerator<Uint8Array> {
  if (part === '') return
  if (typeof part === 'string') yield encoder.encode(part)
  else if (inWorker !== undefined && part.json.length > maxTextLength) yield await inWorker(part)
  else if (part.format === 'pretty') yield encoder.encode(encodeListText(part))
  else yield* yamlItems(part.json)
}

/** Characters per YAML chunk: YAML takes 0.1 µs per character, so a chunk takes 1 to 2 ms. */
const maxYamlChunkLength = 12 << 10

/** Splits YAML lists between items, which are separate lines. */
function* yamlItems(text: string): Generator<Uint8Array> {
  const items = parseItems(text)
  const count = Math.max(1, Math.floor((items.length * maxYamlChunkLength) / text.length))
  for (let i = 0; i < items.length; i += count) yield encoder.encode(writeYaml(items.slice(i, i + count)))
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

function prettyWriter(): TextWriter {
  let head: string | undefined
  let hasItems = false
  return {
    write(text) {
      if (head === undefined) {
        head = text
        return []
      }
      // The next chunk shows whether the list is empty.
      if (text.startsWith(']')) {
        const end = hasItems ? printAt(text, itemDepth) : printAt(head + text, 0)
        head = ''
        return [end]
      }
      const front = hasItems ? '' : printAt(head, 0)
      hasItems = true
      head = ''
      return [front, { format: 'pretty', json: text, areItems: true }]
    },
    end: () => (head === undefined || head === '' ? '' : printAt(head, 0)),
  }
}

type ListObject = { readonly [key: string]: Json }

function yamlWriter(): TextWriter {
  let head: string | undefined
  /** The last chunk so far. It is written late, because only the end of input shows whether it is the end of the list. */
  let lastChunk: string | undefined
  let itemsKey = ''
  const begin = (): string => {
    itemsKey = /"(\w+)":\[$/.exec(head ?? '')?.[1] ?? ''
    // Members that sort after `items` are written at the end.
    return `${writeMembers(parseWrittenJson(`${head}]}`) as ListObject, (key) => compareKeys(key, itemsKey) < 0)}${itemsKey}:\n`
  }
  return {
    write(text) {
      if (head === undefined) {
        head = text
        return []
      }
      const items = lastChunk
      lastChunk = text
      return items === undefined ? [] : [itemsKey === '' ? begin() : '', { format: 'yaml', json: items, areItems: true }]
    },
    end() {
      const rest = `${head ?? ''}${lastChunk ?? ''}`
      if (itemsKey === '') return rest === '' ? '' : writeYaml(parseWrittenJson(rest))
      return writeMembers(parseWrittenJson(rest) as ListObject, (key) => compareKeys(key, itemsKey) > 0)
    },
  }
}

function writeMembers(object: ListObject, isWanted: (key: string) => boolean): string {
  const members = Object.entries(object).filter(([key]) => isWanted(key))
  return members.length === 0 ? '' : writeYaml(Object.fromEntries(members))
}

const indentUnit = 2

/** Indents with two spaces per level. */
export const prettyJson = (compact: string): string => printAt(compact, 0)

/** Indents a fragment that begins at depth `from`. Throws 406 if the text would have too much indentation. */
function printAt(compact: string, from: number): string {
  beginText()
  const parts: string[] = []
  let depth = from
  let at = 0
  while (at < compact.length) {
    const char = compact.charAt(at)
    if (char === '"') {
      const end = endOfString(compact, at)
      parts.push(compact.slice(at, end))
      at = end
      continue
    }
    at++
    if (char === '{' || char === '[') {
      const next = skipSpace(compact, at)
      const isEmpty = compact.charAt(next) === (char === '{' ? '}' : ']')
      if (isEmpty) at = next + 1
      parts.push(isEmpty ? (char === '{' ? '{}' : '[]') : char + newLine(++depth))
    } else if (char === '}' || char === ']') parts.push(newLine(--depth) + char)
    else if (char === ',') parts.push(char + newLine(depth))
    else if (char === ':') parts.push(': ')
    else if (!isSpace(char)) parts.push(char)
  }
  return parts.join('')
}

const isSpace = (char: string): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t'

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charAt(at))) at++
  return at
}

/** Finds the first quote after an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslash = quote
    while (text.charAt(backslash - 1) === '\\') backslash--
    if ((quote - backslash) % 2 === 0) return quote + 1
  }
  return text.length
}

const newLine = (depth: number): string => `\n${indentation(indentUnit * Math.max(0, depth))}`
