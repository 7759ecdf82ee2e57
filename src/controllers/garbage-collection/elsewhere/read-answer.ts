// What the collector needs of an answer of another server, read in short steps: answers may be long, and of objects nothing is parsed but what
// concerns owners.

import { isListText, isRecordText, sliceItems, sliceRecord } from '../../../codec/json-slices.js'

type Steps<T> = Generator<undefined, T, void>

/** Members that are read like the document itself. */
const records: ReadonlySet<string> = new Set(['metadata', 'object'])
const recordLists: ReadonlySet<string> = new Set(['items'])
/** Those whose items are small, and are parsed one by one. */
const valueLists: ReadonlySet<string> = new Set(['finalizers', 'ownerReferences'])
const values: ReadonlySet<string> = new Set([
  'type',
  'kind',
  'reason',
  'message',
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'continue',
  'deletionTimestamp',
])

/** Of a document, its items or its object, and their metadata. */
const mostLevels = 3
const mostValueBytes = 16 << 10
const mostDepth = 10_000

/** The document with the members that are named here and no others; undefined: it is no object. Throws where it is no JSON. */
export function* readAnswer(bytes: Buffer, level = 1): Steps<{ readonly [name: string]: unknown } | undefined> {
  if (!isRecordText(bytes)) return undefined
  const read: { [name: string]: unknown } = {}
  for (const [name, value] of yield* sliceRecord(bytes, { depth: mostDepth })) {
    if (values.has(name)) read[name] = parse(value)
    else if (valueLists.has(name))
      read[name] = yield* readItems(value, function* (item) {
        yield
        return parse(item)
      })
    else if (level === mostLevels) continue
    else if (records.has(name)) read[name] = yield* readAnswer(value, level + 1)
    else if (recordLists.has(name)) read[name] = yield* readItems(value, (item) => readAnswer(item, level + 1))
  }
  return read
}

/** What is no list has no items. */
function* readItems<T>(bytes: Buffer, read: (item: Buffer) => Steps<T>): Steps<readonly T[] | undefined> {
  if (!isListText(bytes)) return undefined
  const found: T[] = []
  for (const item of yield* sliceItems(bytes)) found.push(yield* read(item))
  return found
}

function parse(bytes: Buffer): unknown {
  if (bytes.length > mostValueBytes) throw new Error(`a value is longer than ${mostValueBytes} bytes`)
  return JSON.parse(bytes.toString())
}
