// Cache of compressed units of OpenAPI documents (such as the paths of an API version), rendered on first use and kept as long as
// their catalog entries, and of compressed types that several units share.

import type { RemoteSpec } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { getOrStart, setUntilRejected } from '@cluster-apiserver/api/base/async/promise-cache.js'
import { RecentMap, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { PublishedKind } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { mergeKey, renderSpec, type SpecMerge } from '../aggregation/merge-remote-specs.js'
import type { RouteSource } from '../paths/routes.js'
import type { Blueprint } from './blueprint.js'
import { encodings, type Format, renderShared, renderUnit, type SharedBytes, type Types, type UnitBytes } from './document-unit.js'
import { compressPart, type GzipPart } from './gzip-parts.js'

export interface CompressedUnit extends Pick<UnitBytes, 'names' | 'shared'> {
  readonly paths: GzipPart | undefined
  readonly definitions: GzipPart | undefined
}

export interface CompressedShared extends Pick<SharedBytes, 'types' | 'kindsByType'> {
  readonly definitions: GzipPart | undefined
}

/** Sets of shared types: one per document. */
const maxShared = 1024
/** Recent merges of a remote spec, in both encodings. */
const maxMerges = 4

/** Concurrent requests share one rendering; a failed one is retried by the next request. */
export class CompressedUnits {
  readonly #units = weakMemoize((_cacheKey: object) => new Map<string, Promise<CompressedUnit>>())
  readonly #shared = new RecentMap<string, Promise<CompressedShared>>(maxShared)
  readonly #specs = weakMemoize((_spec: RemoteSpec) => new RecentMap<string, Promise<CompressedUnit>>(maxMerges))
  readonly #budget: TurnBudget

  constructor(budget: TurnBudget) {
    this.#budget = budget
  }

  unit(blueprint: Blueprint, source: RouteSource, format: Format): Promise<CompressedUnit> {
    return getOrStart(this.#units(source.cacheKey), `${keyOf(format)} ${source.document}`, async () =>
      compressUnit(await renderUnit(blueprint, source, format, this.#budget)),
    )
  }

  spec(merge: SpecMerge, format: Format): Promise<CompressedUnit> {
    return getOrStart(this.#specs(merge.spec), `${format.name} ${mergeKey(merge)}`, async () =>
      compressUnit(await renderSpec(merge, encodings[format.version][format.name], this.#budget)),
    )
  }

  async shared(blueprint: Blueprint, types: Types, format: Format): Promise<CompressedShared> {
    const key = `${keyOf(format)} ${sortTexts([...types.keys()]).join(' ')}`
    const found = this.#shared.get(key)
    if (found !== undefined && isValidFor(blueprint, await found)) return found
    const created = renderShared(blueprint, types, format, this.#budget).then(compressShared)
    setUntilRejected(this.#shared, key, created)
    return created
  }
}

const keyOf = ({ version, name }: Format): string => `${version} ${name}`

async function compressUnit({ paths, definitions, ...rest }: UnitBytes): Promise<CompressedUnit> {
  const [packedPaths, packedDefinitions] = await Promise.all([paths && compressPart(paths), definitions && compressPart(definitions)])
  return { ...rest, paths: packedPaths, definitions: packedDefinitions }
}

async function compressShared({ definitions, ...rest }: SharedBytes): Promise<CompressedShared> {
  return { ...rest, definitions: definitions && (await compressPart(definitions)) }
}

/** True if the types have the same kinds in this blueprint, so that the bytes are the same. */
function isValidFor(blueprint: Blueprint, { kindsByType }: CompressedShared): boolean {
  for (const [node, kinds] of kindsByType) if (!isSameKinds(blueprint.kindsOf(node), kinds)) return false
  return true
}

const isSameKinds = (a: readonly PublishedKind[], b: readonly PublishedKind[]): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every(({ group, version, kind }, i) => {
      const other = b[i] as PublishedKind
      return group === other.group && version === other.version && kind === other.kind
    }))
