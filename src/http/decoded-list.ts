// Lists in any form but plain JSON: their objects are decoded one by one, and what is made of them leaves in pieces, never as a whole.

import { setImmediate } from 'node:timers/promises'
import { listMeta } from '../api/meta.schema.js'
import { jsonPieces, type ListText, prettyPieces, yamlPieces } from '../codec/list-text.js'
import { mediaTypeOf } from '../codec/negotiation.js'
import { notThatMany, partialMetadataEncoding, partialMetadataListText } from '../codec/partial-metadata.js'
import { encodeListEnds, encodeListItem, type ListEncoding, usualNumbers } from '../codec/protobuf.js'
import { tableText } from '../codec/table.js'
import { writeValue } from '../schema/write.js'
import type { ListedPage } from '../verbs/list.js'
import { bufferOf, headsOf, listMetadata, type ObjectForm, objectsOf, served, tableOf } from './represent.js'

export interface ListPieces {
  readonly contentType: string
  readonly pieces: Iterator<Buffer>
}

export function decodedList(form: ObjectForm, page: ListedPage): ListPieces | Promise<ListPieces> {
  const { representation, resource, identity } = form
  const { as, format } = representation
  if (as?.kind === 'PartialObjectMetadata') throw notThatMany(as.kind, `${resource.kind}List`)
  if (format === 'protobuf' && as?.kind !== 'Table') {
    const encoding = as === undefined ? objectEncoding(form) : partialMetadataEncoding({ identity, version: as.version })
    return protobufList(form, page, encoding)
  }
  const text = textOf(form, page)
  if (format === 'yaml') return { contentType: mediaTypeOf('yaml', identity), pieces: inBatches(yamlPieces(text)) }
  const pieces = representation.pretty ? prettyPieces(text) : jsonPieces({ ...text, end: `${text.end}\n` })
  return { contentType: 'application/json', pieces: inBatches(pieces) }
}

function textOf(form: ObjectForm, page: ListedPage): ListText {
  const { resource, identity } = form
  const { as } = form.representation
  const metadata = listMetadata(page)
  const content = { metadata, objects: objectsOf(resource, page) }
  if (as?.kind === 'Table') return tableText(tableOf(form, as), content)
  if (as !== undefined) return partialMetadataListText({ identity, version: as.version }, content)
  const head = `${headsOf(resource).list}${writeValue(listMeta, metadata)},"items":`
  return { head, items: itemTexts(form, page), none: '[]', end: '}', member: 'items' }
}

const itemOpen = Buffer.from('{')
const itemClose = Buffer.from('}')

function* itemTexts({ resource }: ObjectForm, page: ListedPage): Generator<string> {
  for (const stored of page.objects()) {
    if (resource.fromStored === undefined) yield stored.render(itemOpen, itemClose).toString('utf8')
    else yield writeValue(resource.schema, served(resource, stored.decode(resource)))
  }
}

const batchLength = 16 * 1024

/** Many small texts as fewer buffers. */
function* inBatches(texts: Iterable<string>): Generator<Buffer> {
  let batch = ''
  for (const text of texts) {
    batch += text
    if (batch.length < batchLength) continue
    yield Buffer.from(batch)
    batch = ''
  }
  if (batch !== '') yield Buffer.from(batch)
}

const objectEncoding = ({ resource }: ObjectForm): ListEncoding => ({
  type: { kind: `${resource.kind}List`, apiVersion: resource.apiVersion },
  numbers: usualNumbers,
  encode: (object) => encodeListItem(resource.schema, object),
})

/** How many encoded items are kept; those after them are encoded again when they are sent. */
const mostKeptBytes = 4 << 20

/** In front of a list stands its length. So all items are encoded first, and of a long list only the first ones are kept. */
async function protobufList(form: ObjectForm, page: ListedPage, { encode, ...list }: ListEncoding): Promise<ListPieces> {
  const kept: Uint8Array[] = []
  let itemBytes = 0
  const pause = breather()
  for (const object of objectsOf(form.resource, page)) {
    const item = encode(object)
    if (itemBytes < mostKeptBytes) kept.push(item)
    itemBytes += item.length
    await pause()
  }
  const { head, end } = encodeListEnds({ ...list, metadata: listMetadata(page), itemBytes })
  function* pieces(): Generator<Buffer> {
    yield bufferOf(head)
    for (const item of kept) yield bufferOf(item)
    let index = 0
    if (itemBytes > mostKeptBytes) {
      for (const stored of page.objects()) {
        index += 1
        if (index > kept.length) yield bufferOf(encode(served(form.resource, stored.decode(form.resource))))
      }
    }
    yield bufferOf(end)
  }
  return { contentType: form.identity.protobufMediaType, pieces: pieces() }
}

const mostAtOnceMs = 10

/** Lets others have their turn when somebody has worked for long. */
export function breather(): () => Promise<void> | undefined {
  let sinceMs = performance.now()
  return () => {
    if (performance.now() - sinceMs < mostAtOnceMs) return undefined
    return setImmediate().then(() => {
      sinceMs = performance.now()
    })
  }
}
