// The documents as they are sent: built when somebody first asks, kept compressed, and forgotten when the catalog changes.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { getOrInsert } from '../../base/get-or-insert.js'
import { compareText } from '../../base/text-order.js'
import type { JsonSchema } from '../../schema/openapi.js'
import { blueprintOf, type DocumentSource, routesByDocument } from './blueprint.js'
import { documentV2, partsOfV2 } from './document-v2.js'
import { documentV3, partsOfV3 } from './document-v3.js'
import { encodeV2 } from './protobuf-v2.js'
import { encodeV3 } from './protobuf-v3.js'
import { documentJson } from './rendering.js'

export interface KeptDocument {
  /** Changes when the content does; the same for all forms of a document of version 3. */
  readonly hash: string
  readonly compressed: Buffer
}

export type DocumentForm = 'json' | 'protobuf'

export interface OpenApiDocuments {
  readonly v2: (form: DocumentForm) => Promise<KeptDocument>
  /** Which documents of version 3 there are, and where: with their hashes, so that they can be kept for good. */
  readonly index: () => Promise<KeptDocument>
  /** A document of version 3, such as `apis/apps/v1`. */
  readonly v3: (name: string, form: DocumentForm) => Promise<KeptDocument | undefined>
  /** To be called when other resources are served than before. */
  readonly invalidate: () => void
}

export const addressV3 = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`

export function openApiDocuments(source: DocumentSource): OpenApiDocuments {
  // Promises, so that whoever asks while a document is being built waits for the same one.
  const single = new Map<string, Promise<KeptDocument>>()
  let documents: Promise<ReadonlyMap<string, KeptDocument>> | undefined
  const all = (): Promise<ReadonlyMap<string, KeptDocument>> => {
    documents ??= buildV3(source)
    return documents
  }
  return {
    v2: (form) => getOrInsert(single, `v2 ${form}`, () => buildV2(source, form)),
    index: () => getOrInsert(single, 'index', async () => buildIndex(await all())),
    v3: async (name, form) => {
      const document = (await all()).get(name)
      if (document === undefined || form === 'json') return document
      return getOrInsert(single, `v3 ${name}`, () => buildV3Protobuf(source, name, document.hash))
    },
    invalidate: () => {
      single.clear()
      documents = undefined
    },
  }
}

const compress = promisify(gzip)

const hashOf = (content: string | Uint8Array): string => createHash('sha512').update(content).digest('hex').toUpperCase()

const keep = async (content: string | Uint8Array, hash = hashOf(content)): Promise<KeptDocument> => ({
  hash,
  compressed: await compress(content),
})

async function buildV2(source: DocumentSource, form: DocumentForm): Promise<KeptDocument> {
  const blueprint = blueprintOf(source)
  return keep(form === 'json' ? documentJson(partsOfV2(blueprint)) : encodeV2(documentV2(blueprint)))
}

/** One after the other: compressing happens elsewhere, so that other requests get their turn between two documents. */
async function buildV3(source: DocumentSource): Promise<ReadonlyMap<string, KeptDocument>> {
  const blueprint = blueprintOf(source)
  const documents = new Map<string, KeptDocument>()
  for (const [name, routes] of routesByDocument(blueprint)) documents.set(name, await keep(documentJson(partsOfV3(blueprint, routes))))
  return documents
}

async function buildV3Protobuf(source: DocumentSource, name: string, hash: string): Promise<KeptDocument> {
  const blueprint = blueprintOf(source)
  return keep(encodeV3(documentV3(blueprint, routesByDocument(blueprint).get(name) ?? [])), hash)
}

function buildIndex(documents: ReadonlyMap<string, KeptDocument>): Promise<KeptDocument> {
  const paths = [...documents].map(([name, { hash }]): [string, JsonSchema] => [name, { serverRelativeURL: addressV3(name, hash) }])
  return keep(JSON.stringify({ paths: Object.fromEntries(paths.sort(([a], [b]) => compareText(a, b))) }))
}
