// The documents as they are sent: built when somebody first asks, kept compressed, and shared between catalogs as far as these agree.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Catalog } from '../../api/catalog.js'
import type { Identity } from '../../api/identity.js'
import { noRemoteOpenApi, type RemoteOpenApi } from '../../api/remote-openapi.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { onceFor } from '../../base/once-for.js'
import { inPieces } from '../../base/pieces.js'
import { sortTexts } from '../../base/text-order.js'
import type { StructNode } from '../../schema/node.js'
import type { JsonSchema, PublishedKind } from '../../schema/openapi.js'
import { type Blueprint, blueprintOf, type DocumentSource, type KindsOf } from './blueprint.js'
import { convertSpec } from './convert-spec.js'
import { partsOfV2 } from './document-v2.js'
import { partsOfV3 } from './document-v3.js'
import { mergeRemote } from './merge-remote.js'
import { encodeV2 } from './protobuf-v2.js'
import { encodeV3 } from './protobuf-v3.js'
import { openPublisher } from './publisher.js'
import { documentJson } from './rendering.js'
import type { RouteSource } from './routes.js'

export interface KeptDocument {
  /** Changes when the content does; the same for all forms of a document of version 3. */
  readonly hash: string
  readonly compressed: Buffer
}

export type DocumentForm = 'json' | 'protobuf'

/** The documents about a catalog. Of one that has changed only those are built again that say something else. */
export interface OpenApiDocuments {
  readonly v2: (about: Published, form: DocumentForm) => Promise<KeptDocument>
  /** Which documents of version 3 there are, and where: with their hashes, so that they can be kept for good. */
  readonly index: (about: Published) => Promise<KeptDocument>
  /** A document of version 3, such as `apis/apps/v1`. */
  readonly v3: (about: Published, name: string, form: DocumentForm) => Promise<KeptDocument | undefined>
}

/** What documents tell of, at one moment. */
export interface Published {
  readonly catalog: Catalog
  /** Left out: nothing was heard of other servers. */
  readonly remote?: RemoteOpenApi
}

export const addressV3 = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`

export function openApiDocuments(source: DocumentSource): OpenApiDocuments {
  const publisherOf = onceFor((identity: Identity) => openPublisher(identity, source.describe))
  const knownV3 = onceFor((_of: object) => new Map<string, BuiltV3>())
  const about = onceFor((catalog: Catalog) => {
    const blueprint = onDemand(() => blueprintOf(catalog, source, publisherOf(catalog.identity)))
    return onceFor((remote: RemoteOpenApi) => new Documents(blueprint(), remote, knownV3))
  })
  const find = ({ catalog, remote = noRemoteOpenApi }: Published): Documents => about(catalog)(remote)
  return {
    v2: (published, form) => find(published).v2(form),
    index: (published) => find(published).index(),
    v3: (published, name, form) => find(published).v3(name, form),
  }
}

function onDemand<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A document of version 3, and what it took from the rest of the catalog: it is the same for every catalog that says the same. */
interface BuiltV3 {
  /** Complete when the document is. */
  readonly heard: ReadonlyMap<StructNode, readonly PublishedKind[]>
  readonly json: Promise<KeptDocument>
  protobuf: Promise<KeptDocument> | undefined
}

/** Those of one catalog. Promises are kept, so that whoever asks while a document is being built waits for the same one. */
class Documents {
  private readonly blueprint: Blueprint
  private readonly sources: ReadonlyMap<string, RouteSource>
  private readonly built = new Map<DocumentForm, Promise<KeptDocument>>()
  private readonly chosen = new Map<string, Promise<BuiltV3>>()
  private listed: Promise<KeptDocument> | undefined
  /** What was built for this catalog or for others, by what its paths follow from. */
  private readonly knownV3: (of: object) => Map<string, BuiltV3>
  private readonly remote: RemoteOpenApi
  private readonly converted = new Map<string, Promise<KeptDocument>>()

  constructor(blueprint: Blueprint, remote: RemoteOpenApi, knownV3: (of: object) => Map<string, BuiltV3>) {
    this.blueprint = blueprint
    this.remote = remote
    this.sources = new Map(blueprint.sources.flatMap((source) => (source.document === undefined ? [] : [[source.document, source]])))
    this.knownV3 = knownV3
  }

  v2(form: DocumentForm): Promise<KeptDocument> {
    return getOrInsert(this.built, form, async () => {
      const parts = mergeRemote(partsOfV2(this.blueprint), this.remote.specs)
      return keep(await inPieces<Uint8Array>(form === 'json' ? documentJson(parts) : encodeV2(parts)))
    })
  }

  index(): Promise<KeptDocument> {
    this.listed ??= this.buildIndex()
    return this.listed
  }

  async v3(name: string, form: DocumentForm): Promise<KeptDocument | undefined> {
    const source = this.sources.get(name)
    if (source === undefined) return form === 'json' ? this.convert(name) : undefined
    const built = await getOrInsert(this.chosen, name, () => this.chooseV3(source, name))
    if (form === 'json') return built.json
    built.protobuf ??= built.json.then(async ({ hash }) => keep(await inPieces(encodeV3(partsOfV3(this.blueprint, source.steps))), hash))
    return built.protobuf
  }

  /** Of a server that speaks version 2 alone. */
  private convert(name: string): Promise<KeptDocument> | undefined {
    const spec = this.remote.specs.find(({ group, version }) => `apis/${group}/${version}` === name)
    return spec && getOrInsert(this.converted, name, async () => keep(await inPieces(convertSpec(spec))))
  }

  /** What was built for another catalog, or else a new one. */
  private async chooseV3(source: RouteSource, name: string): Promise<BuiltV3> {
    const known = this.knownV3(source.of)
    const found = known.get(name)
    if (found !== undefined) await found.json
    if (found !== undefined && this.isSaidOf(found)) return found
    const built = this.buildV3(source)
    known.set(name, built)
    return built
  }

  /** Whether a document that was built before is what would be built now. */
  private isSaidOf({ heard }: BuiltV3): boolean {
    for (const [node, kinds] of heard) if (!areSame(this.blueprint.kindsOf(node), kinds)) return false
    return true
  }

  private buildV3({ steps }: RouteSource): BuiltV3 {
    const heard = new Map<StructNode, readonly PublishedKind[]>()
    const kindsOf: KindsOf = (node) => {
      const kinds = this.blueprint.kindsOf(node)
      heard.set(node, kinds)
      return kinds
    }
    const json = inPieces(documentJson(partsOfV3(this.blueprint, steps, kindsOf))).then((content) => keep(content))
    return { heard, json, protobuf: undefined }
  }

  /** One after the other: compressing happens elsewhere, so that other requests get their turn between two documents. */
  private async buildIndex(): Promise<KeptDocument> {
    const paths: { [name: string]: JsonSchema } = {}
    const { specs, addresses } = this.remote
    const names = new Set([...this.sources.keys(), ...addresses.keys(), ...specs.map(({ group, version }) => `apis/${group}/${version}`)])
    for (const name of sortTexts([...names])) {
      // Who answers for a version has its document, too.
      const address = addresses.get(name)
      const document = address === undefined ? await this.v3(name, 'json') : undefined
      const serverRelativeURL = address ?? (document && addressV3(name, document.hash))
      if (serverRelativeURL !== undefined) paths[name] = { serverRelativeURL }
    }
    return keep(JSON.stringify({ paths }))
  }
}

const areSame = (some: readonly PublishedKind[], others: readonly PublishedKind[]): boolean =>
  some === others ||
  (some.length === others.length &&
    some.every(({ group, version, kind }, i) => {
      const other = others[i] as PublishedKind
      return group === other.group && version === other.version && kind === other.kind
    }))

/** The module is loaded with the first document, and not with the server. */
const compress = (bytes: Uint8Array): Promise<Buffer> => promisify(gzip)(bytes)

/** In steps: a document may have many megabytes. */
function* hashOf(content: Uint8Array): Generator<undefined, string, void> {
  const hash = createHash('sha512')
  for (let at = 0; at < content.length; at += hashedAtOnce) {
    hash.update(content.subarray(at, at + hashedAtOnce))
    yield
  }
  return hash.digest('hex').toUpperCase()
}

const hashedAtOnce = 256 * 1024

async function keep(content: string | Uint8Array, known?: string): Promise<KeptDocument> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const hash = known ?? (await inPieces(hashOf(bytes)))
  return { hash, compressed: await compress(bytes) }
}
